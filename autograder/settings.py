"""Réglages communs : erreurs de la ligne de commande, écriture et verrous des dossiers, configuration de nbgrader."""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

MIB = 2**20
LOCK = ".verrou"
FRENCH_MARK = "### DÉBUT"  # ce qui ouvre un corrigé ou un test caché dans un devoir en français


class UsageError(Exception):
    """Mauvais usage ou environnement incomplet : la commande s'arrête avec le code 2 et la réparation."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Fichier à remplir, qui prend ensuite la place de `path` d'un coup : un arrêt laisse l'ancien intact."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partiel")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def locked(*folders: Path) -> Iterator[None]:
    """Tient ces dossiers le temps d'un travail : deux notations du même cours à la fois se déferaient l'une l'autre.

    Le verrou est à ce processus : il tombe avec lui, même tué net. Il vaut aussi d'une machine à l'autre sur un disque partagé.

    Raises:
        UsageError: un autre programme tient déjà l'un d'eux.
    """
    with ExitStack() as files:
        for folder in sorted({folder.resolve() for folder in folders}):
            folder.mkdir(parents=True, exist_ok=True)
            file = files.enter_context((folder / LOCK).open("a+", encoding="utf-8"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise
                file.seek(0)
                who = f" (processus {holder})" if (holder := file.read(200).strip()) else ""
                raise UsageError(
                    f"Une autre notation{who} travaille déjà dans {folder} : attendez qu'elle finisse, puis relancez la même commande."
                ) from None
            file.truncate(0)
            file.write(f"{os.getpid()}, machine {socket.gethostname()}\n")
            file.flush()
        yield


def configure(config, course: Path) -> None:
    """Règle nbgrader pour un cours en français : son dossier, ses délimiteurs et amorces, et la notation en bac à sable.

    Args:
        config: objet `Config` de traitlets, celui de nbgrader_config.py.
        course: dossier qui contient source/, release/, submitted/ et gradebook.db.
    """
    config.CourseDirectory.root = str(course)
    config.ClearSolutions.begin_solution_delimeter = f"{FRENCH_MARK} SOLUTION"
    config.ClearSolutions.end_solution_delimeter = "### FIN SOLUTION"
    config.ClearSolutions.code_stub = {
        "python": '# Écrivez votre réponse ici.\nraise NotImplementedError("non implémenté")'
    }
    config.ClearSolutions.text_stub = "Écrivez votre réponse ici."
    config.ClearHiddenTests.begin_test_delimeter = f"{FRENCH_MARK} TESTS CACHÉS"
    config.ClearHiddenTests.end_test_delimeter = "### FIN TESTS CACHÉS"
    secure(config)


def secure(config) -> None:
    """Fait passer la notation d'un cours nbgrader, quel qu'il soit, par le bac à sable.

    Les classes sont nommées, et importées par nbgrader seulement quand il note.
    """
    config.Autograde.sanitize_preprocessors = [
        "autograder.intake.repair.RepairCopy",
        "nbgrader.preprocessors.ClearOutput",
        "nbgrader.preprocessors.DeduplicateIds",
        "nbgrader.preprocessors.OverwriteKernelspec",
        "nbgrader.preprocessors.OverwriteCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    config.Autograde.autograde_preprocessors = [
        "autograder.judgement.preprocessor.IsolatedExecute",
        "nbconvert.preprocessors.ClearMetadataPreprocessor",
        "nbgrader.preprocessors.LimitOutput",
        "nbgrader.preprocessors.SaveAutoGrades",
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    # Les retours de nbgrader : tests tels que publiés, texte de l'étudiant inerte.
    config.GenerateFeedback.preprocessors = [
        "nbgrader.preprocessors.GetGrades",
        "autograder.record.feedback.HideHiddenTests",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    # Une cellule de test supprimée par l'étudiant est remise : elle vaut 0 ou ses points, jamais « à noter à la main ».
    config.OverwriteCells.add_missing_cells = True
