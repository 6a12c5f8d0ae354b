"""Rend Typer francophone : titres de l'aide et erreurs d'usage (Typer n'offre pas de traduction)."""

import typer
import typer.core
import typer.rich_utils
from typer.exceptions import TyperException

typer.rich_utils.ARGUMENTS_PANEL_TITLE = "Arguments"
typer.rich_utils.OPTIONS_PANEL_TITLE = "Options"
typer.rich_utils.COMMANDS_PANEL_TITLE = "Commandes"
typer.rich_utils.DEFAULT_STRING = "[par défaut : {}]"
typer.rich_utils.REQUIRED_LONG_STRING = "[obligatoire]"


def _help_in_french(original):
    def get_help_option(self, context):
        option = original(self, context)
        if option is not None:
            option.help = "Affiche cette aide."
        return option

    return get_help_option


for command_class in (typer.core.TyperCommand, typer.core.TyperGroup):
    command_class.get_help_option = _help_in_french(command_class.get_help_option)


def usage_error(error: TyperException) -> str:
    """Phrase française pour une erreur d'usage de Typer : la chose, la cause et la réparation."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "cours"
    repair = f"voyez « {path} --help »."
    kind, parameter = type(error).__name__, getattr(error, "param", None)
    name = (parameter.opts[-1] if parameter.opts[-1].startswith("-") else parameter.name) if parameter is not None else ""
    if kind == "NoSuchOption":
        close = f" (vouliez-vous dire {' ou '.join(error.possibilities)} ?)" if error.possibilities else ""
        return f"L'option {error.option_name} n'existe pas{close} ; {repair}"
    if kind == "MissingParameter":
        return f"Il manque {name or 'un argument'} ; {repair}"
    if kind == "BadParameter":
        return f"La valeur donnée à {name or 'une option'} n'est pas de la forme attendue ; {repair}"
    if kind == "BadOptionUsage":
        return f"L'option {error.option_name} attend une valeur ; {repair}"
    if error.message.startswith("Got unexpected extra argument"):
        return f"Il y a un argument de trop : {error.message.partition('(s) ')[2].strip('()')} ; {repair}"
    if error.message.startswith("No such command"):
        return f"La commande {error.message.split(chr(39))[1]} n'existe pas ; {repair}"
    return f"{error.message} ; {repair}"
