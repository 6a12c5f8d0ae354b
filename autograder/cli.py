"""La commande `cours` : tout ce que le cours sait faire, en français.

Codes de sortie : 0 tout va bien ; 1 au moins une copie, une leçon ou une vérification est en faute,
et chacune est nommée ; 2 mauvais usage ou environnement, avec la commande qui répare.
"""

import errno
import logging
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from autograder.french_cli import TyperException, usage_error
from autograder.settings import UsageError, locked

app = typer.Typer(
    help="Évaluer les textes générés : les leçons, le juge, les exercices et leur notation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
judge_app = typer.Typer(help="Le juge local : un vrai serveur vLLM.", no_args_is_help=True)
app.add_typer(judge_app, name="juge")

console = Console(highlight=False)
Processes = Annotated[
    int | None,
    typer.Option("--processus", min=1, help="Copies ou leçons exécutées à la fois ; par défaut, autant que de cœurs utilisables."),
]
Isolation = Annotated[str, typer.Option("--isolement", help="auto, bwrap, ou processus (copies de confiance seulement).")]
LessonNames = Annotated[list[str] | None, typer.Argument(help="Leçons : « 01 » ou « 01_bleu » ; toutes par défaut.")]


def progress() -> Progress:
    """Barre de progression : ce qui est en cours, ce qui est fait, le temps écoulé et restant."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        console=console,
    )  # fmt: skip


def cores() -> int:
    """Copies ou leçons à exécuter à la fois quand on ne l'a pas dit."""
    from autograder.groups import usable_cores

    return usable_cores()


@contextmanager
def journal(output: Path):
    """Montre, et garde dans journal.txt, ce qui arrive pendant une notation sans être une note : copies relancées seules."""
    from rich.logging import RichHandler

    logger = logging.getLogger("autograder")
    output.mkdir(parents=True, exist_ok=True)
    handlers = [logging.FileHandler(output / "journal.txt", encoding="utf-8", delay=True), RichHandler(console=console, show_path=False)]
    handlers[0].setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logger.propagate = False
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def main() -> None:
    """Point d'entrée : traduit les erreurs prévues en une phrase et un code de sortie."""
    try:
        sys.exit(app(standalone_mode=False))
    except UsageError as error:
        message = str(error)
    except TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # l'aide est déjà affichée
            sys.exit(2)
        message = usage_error(error)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = f" (en écrivant {error.filename})" if error.filename else ""
        message = f"Le disque est plein{where} : libérez de la place, puis relancez la même commande ; rien n'est perdu."
    except (KeyboardInterrupt, typer.Abort):
        message = "Interrompu ; ce qui est déjà fait est gardé, relancez la même commande."
    console.print(f"Erreur : {message}", style="red", soft_wrap=True, markup=False)
    sys.exit(2)


@app.command("construire")
def build(
    lessons: LessonNames = None,
    processes: Processes = None,
) -> None:
    """Dérive et exécute les notebooks des leçons, sur les verdicts enregistrés."""
    from autograder import coverage
    from autograder.lessons import find, notebook_path, write

    texts = find(lessons)
    with progress() as bar:
        failures = _execute_lessons(bar, texts, processes or cores(), lambda text, notebook: write(notebook, notebook_path(text)))
    coverage.write()
    _finish(f"{len(texts) - len(failures)} leçon(s) exécutée(s) sur {len(texts)}.", failures)


def _execute_lessons(bar: Progress, texts: list[Path], processes: int, keep: Callable) -> list:
    """Exécute des leçons ; passe chaque notebook à `keep`, et rend les erreurs des autres."""
    from autograder.lessons import LessonError, execute_all

    failures = []
    task = bar.add_task("Leçons", total=len(texts))
    for text, result in execute_all(texts, processes):
        if isinstance(result, LessonError):
            failures.append(result)
        else:
            keep(text, result)
        bar.update(task, advance=1, description=text.stem)
    return failures


@app.command("enregistrer")
def record(
    lessons: LessonNames = None,
    restart: Annotated[
        bool, typer.Option("--recommencer", help="Oublie l'enregistrement interrompu, au lieu de le reprendre.")
    ] = False,
) -> None:
    """Enregistre de nouveau les réponses du juge pour des leçons (serveur démarré) ; reprend après un arrêt."""
    from autograder.recording import record_lesson, recorded_lessons

    failures = []
    for text in recorded_lessons(lessons):
        failure = record_lesson(text, restart, console)
        if failure is not None:
            failures.append(failure)
    _finish("Enregistrement terminé ; « cours construire » met à jour les notebooks.", failures)


@app.command("demonstration")
def demonstration(
    output: Annotated[Path, typer.Option("--sortie", help="Dossier du rapport.")] = Path("rapport"),
    processes: Processes = None,
) -> None:
    """Exécute les leçons, publie les exercices, note la classe de démonstration et écrit le rapport."""
    output, processes = output.resolve(), processes or cores()
    with locked(output), journal(output):
        _demonstrate(output, processes)


def _demonstrate(output: Path, processes: int) -> None:
    from autograder import publish, report, sandbox
    from autograder.demonstration import MARKS_FILE, build
    from autograder.grading import Class, differences, found_copies, read_marks
    from autograder.lessons import find
    from autograder.limits import Limits
    from autograder.settings import COPIES, RELEASE, SOURCE

    lines, reason = [], sandbox.available()

    def write_page(text: Path, notebook) -> None:
        lines.append(report.write_lesson(output, text.stem, notebook))

    with progress() as bar:
        failures = _execute_lessons(bar, find(), processes, write_page)
        task = bar.add_task("Publication", total=1)
        publish.publish()
        bar.update(task, advance=1)
    course, interrupted = output / "classe", not (output / "notes.csv").exists()
    (output / "notes.csv").unlink(missing_ok=True)  # il n'est là que si tout a été noté
    for path in course.glob("*"):
        if path.name != "travail" or not interrupted:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(SOURCE, course / "source")
    built = build(RELEASE, COPIES, course / "submitted", harmless=reason is not None)
    isolation = "bwrap" if reason is None else "processus"
    limits = Limits(cell_seconds=5, notebook_seconds=30)
    group = Class(course, course / "submitted", course / "travail", isolation, limits)
    marks = _grade_class(group, found_copies(group.copies), processes, controls=True)
    expected = read_marks(COPIES / MARKS_FILE)
    if reason is not None:
        left_out = [mark for mark in expected if not (group.copies / mark.etudiant / mark.devoir).exists()]
        expected = [mark for mark in expected if mark not in left_out]
        told = f"{len(left_out)} copies piégées laissées de côté, faute d'isolement : {reason}."
        console.print(told, markup=False, soft_wrap=True)
    failures += differences(marks, expected)
    report.write_class(output, group, marks, lines, [str(failure) for failure in failures], demonstration=True)
    console.print(f"{len(lines)} leçons exécutées, {len(built)} copies de démonstration notées.")
    _finish(_summary(marks, output), failures)


@app.command("noter")
def grade_command(
    copies: Annotated[Path | None, typer.Option("--copies", help="Dossier des copies (par défaut, submitted/ du cours).")] = None,
    assignment: Annotated[str | None, typer.Option("--devoir", help="Ne noter que ce devoir.")] = None,
    student: Annotated[str | None, typer.Option("--etudiant", help="Ne noter que cet étudiant.")] = None,
    processes: Processes = None,
    isolation: Isolation = "auto",
    output: Annotated[Path, typer.Option("--sortie", help="Dossier du rapport.")] = Path("rapport"),
    course: Annotated[Path, typer.Option("--cours", help="Dossier du cours nbgrader.")] = Path("."),
    no_controls: Annotated[
        bool, typer.Option("--sans-temoins", help="Ne pas noter d'abord le corrigé et la copie vide.")
    ] = False,
    cell_seconds: Annotated[float, typer.Option("--temps-cellule", min=0.1, help="Temps de calcul d'une cellule, en secondes.")] = 30,
    notebook_seconds: Annotated[float, typer.Option("--temps-copie", min=1, help="Temps de calcul d'une copie, en secondes.")] = 180,
    scheduler: Annotated[
        str | None, typer.Option("--grappe", help="Ordonnanceur Dask (« tcp://machine:8786 ») à qui confier les copies.")
    ] = None,
) -> None:
    """Note une classe dans des bacs à sable ; reprend là où une notation interrompue s'est arrêtée."""
    from autograder import forks, sandbox

    forks.preload("autograder.grading")  # se charge là-bas pendant que la suite se charge ici
    from autograder.grading import Class, found_copies
    from autograder.limits import Limits

    course, output, processes = course.resolve(), output.resolve(), processes or cores()
    limits = Limits(cell_seconds=cell_seconds, notebook_seconds=notebook_seconds)
    isolation = sandbox.choose(isolation, here=scheduler is None)
    group = Class(course, (copies or course / "submitted").resolve(), output / "travail", isolation, limits)
    chosen = found_copies(group.copies, assignment, student)
    with locked(course, output), journal(output):
        if scheduler is None:
            marks = _grade_class(group, chosen, processes, controls=not no_controls)
        else:
            from autograder.cluster import cluster

            with cluster(scheduler, group.work, isolation) as refused:
                for line in refused:
                    console.print(f"· {line}", style="yellow", soft_wrap=True, markup=False)
                marks = _grade_class(group, chosen, processes, controls=not no_controls)
        _write_report(output, group, marks, chosen if assignment or student else None)
    failures = [f"{mark.etudiant}, {mark.devoir} : {mark.motif}" for mark in marks if mark.statut == "erreur"]
    _finish(_summary(marks, output), failures)


def _write_report(output: Path, group, marks: list, chosen: list | None) -> None:
    """Écrit le rapport ; noter `chosen`, une partie de la classe, ne doit pas effacer les notes des autres."""
    from autograder import report
    from autograder.grading import read_marks

    if chosen is not None and (output / "notes.csv").exists():
        marks = [mark for mark in read_marks(output / "notes.csv") if (mark.etudiant, mark.devoir) not in chosen] + marks
    report.write_class(output, group, marks, [], [], demonstration=False)


def _grade_class(group, copies: list, processes: int, controls: bool) -> list:
    """Note les copies avec une barre de progression : témoins d'abord, puis chaque copie, gardée dès qu'elle est exécutée."""
    from autograder.grading import control, declare, grade

    marks, assignments = [], sorted({assignment for _, assignment in copies})
    with progress() as bar:
        task = bar.add_task("Témoins", total=None)
        declare(group, assignments)
        if controls:
            control(group, assignments, processes)
        bar.update(task, total=1, completed=1)
        task = bar.add_task("Copies", total=len(copies))
        for mark in grade(group, copies, processes):
            marks.append(mark)
            bar.update(task, advance=1, description=f"{mark.devoir} {mark.etudiant}")
    return sorted(marks, key=lambda mark: (mark.devoir, mark.etudiant))


def _summary(marks: list, output: Path) -> str:
    statuses = ", ".join(f"{sum(mark.statut == name for mark in marks)} {name}" for name in ("note", "a_relire", "erreur"))
    return f"{len(marks)} copies : {statuses}. À voir : {output / 'index.html'}"


@app.command("collecter")
def collect_command(
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE.zip", help="Archive du devoir, telle que Moodle la donne.")],
    assignment: Annotated[str, typer.Option("--devoir", help="Devoir, par exemple ex01_bleu2.")],
    target: Annotated[Path, typer.Option("--vers", help="Dossier des copies.")] = Path("submitted"),
) -> None:
    """Range l'archive d'un devoir Moodle dans submitted/ ; ce qui est dangereux est refusé et nommé."""
    from autograder.moodle import collect

    report = collect(archive, assignment, target)
    replaced = [f"{student} : copie remplacée par une nouvelle." for student in report.replaced]
    for line in report.ignored + report.remarks + replaced:
        console.print(f"· {line}", style="yellow", soft_wrap=True, markup=False)
    _finish(f"{report} Dossier : {target}", report.refused)


@app.command("exporter")
def export_command(
    form: Annotated[
        str, typer.Option("--format", help="« csv » (tableur français) ou « moodle » (formulaire d'évaluation).")
    ] = "csv",
    marks: Annotated[Path, typer.Option("--notes", help="Notes écrites par « cours noter ».")] = Path("rapport/notes.csv"),
    output: Annotated[
        Path | None, typer.Option("--sortie", help="Fichier à écrire ; rapport/export.csv ou rapport/moodle.csv.")
    ] = None,
    copies: Annotated[Path, typer.Option("--copies", help="Dossier des copies, avec participants.csv.")] = Path("submitted"),
) -> None:
    """Exporte les notes pour un tableur ou pour Moodle ; une copie en erreur garde une case vide."""
    from autograder.export import TABLE, export_marks, read_participants
    from autograder.grading import read_marks

    output = output or marks.with_name("moodle.csv" if form == "moodle" else "export.csv")
    if output.resolve() == marks.resolve():
        raise UsageError("L'export effacerait le fichier de notes : donnez un autre nom avec --sortie.")
    report = export_marks(read_marks(marks), read_participants(copies / TABLE), output, form)
    for line in report.remarks:
        console.print(f"· {line}", style="yellow", soft_wrap=True, markup=False)
    _finish(f"Écrit : {', '.join(str(path) for path in report.files)}", report.failures)


@app.command("retours")
def feedback_command(
    assignment: Annotated[str | None, typer.Option("--devoir", help="Ce devoir seulement.")] = None,
    student: Annotated[str | None, typer.Option("--etudiant", help="Cet étudiant seulement.")] = None,
    copies: Annotated[Path | None, typer.Option("--copies", help="Dossier des copies (par défaut, submitted/ du cours).")] = None,
    processes: Processes = None,
    isolation: Isolation = "auto",
    output: Annotated[Path, typer.Option("--sortie", help="Dossier du rapport de « cours noter ».")] = Path("rapport"),
    course: Annotated[Path, typer.Option("--cours", help="Dossier du cours nbgrader.")] = Path("."),
) -> None:
    """Écrit les retours aux étudiants (feedback/) et leur index (retours.html) ; rien n'y sort des tests cachés."""
    from autograder import sandbox
    from autograder.feedback import write_feedback
    from autograder.grading import Class
    from autograder.limits import Limits

    course, output = course.resolve(), output.resolve()
    copies = (copies or course / "submitted").resolve()
    group = Class(course, copies, output / "travail", sandbox.choose(isolation), Limits())
    failures, written = [], 0
    with locked(course, output), progress() as bar:
        task = bar.add_task("Retours", total=None)
        for total, pages in write_feedback(group, output, assignment, student, processes or cores()):
            failures += [f"{page.student}, {page.assignment} : copie sans note." for page in pages if page.graded.note is None]
            written += len(pages)
            bar.update(task, total=total, advance=1, description=f"{pages[0].assignment} {pages[0].student}")
    _finish(f"{written} page(s) dans {course / 'feedback'}. À voir : {output / 'retours.html'}", failures)


@app.command("valider")
def validate_command(
    copy: Annotated[str | None, typer.Argument(metavar="COPIE.ipynb|DOSSIER|EX", help="Notebook, dossier ou exercice.")] = None,
    course: Annotated[Path, typer.Option("--cours", help="Dossier du cours.")] = Path("."),
) -> None:
    """Exécute les tests visibles d'une copie, sur cette machine ; les tests réservés à la notation n'y sont pas."""
    from autograder.validation import report, targets, validate

    results = []
    for target in targets(copy, course.resolve()):
        results.append(validate(target))
        console.print("\n".join(report(results[-1])), soft_wrap=True, markup=False)
    raise typer.Exit(0 if all(result.passed for result in results) else 1)


@app.command("publier")
def publish_command() -> None:
    """Récrit release/ (la version étudiante) d'après source/, avec nbgrader."""
    from autograder.publish import publish

    changed = publish()
    console.print("\n".join(f"release/{path}" for path in changed) or "release/ était à jour.", markup=False)


@app.command("couverture")
def coverage_command() -> None:
    """Récrit docs/COUVERTURE.md : chaque ligne du programme et la cellule qui la traite."""
    from autograder import coverage

    changed = coverage.write()
    _finish(f"docs/COUVERTURE.md : {'récrit' if changed else 'à jour'}.", list(coverage.missing()))


@app.command("verifier")
def check() -> None:
    """Vérifie sans rien exécuter que leçons, exercices, journaux et environnements sont cohérents."""
    from autograder.checks import CHECKS

    failures = []
    for function in CHECKS:
        found = list(function())
        failures += found
        console.print(f"{'✗' if found else '✓'} {function.__doc__.splitlines()[0]}", markup=False, soft_wrap=True)
    _finish(f"{len(failures)} faute(s)." if failures else "Tout est cohérent.", failures)


@app.command("verifier-env")
def check_environment() -> None:
    """Une ligne par exigence (Python, paquets, bubblewrap, protection des copies, port 8185, juge), avec sa réparation."""
    from autograder.environment import requirements

    lines = requirements()
    for line in lines:
        console.print(str(line), markup=False, soft_wrap=True, style=None if line.satisfied else "yellow")
    if any(line.essential and not line.satisfied for line in lines):
        raise typer.Exit(2)


@app.command("lab")
def lab() -> None:
    """Ouvre JupyterLab, en français, sur les leçons."""
    import json

    from autograder.settings import ROOT

    overrides = Path(sys.prefix) / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    settings = json.loads(overrides.read_text(encoding="utf-8")) if overrides.exists() else {}
    settings["@jupyterlab/translation-extension:plugin"] = {"locale": "fr_FR"}
    settings["@jupyterlab/notebook-extension:tracker"] = {"codeCellConfig": {"lineWrap": True}}
    # Le cours se fait hors ligne : JupyterLab n'a ni nouvelles ni mises à jour à chercher.
    settings["@jupyterlab/apputils-extension:notification"] = {"fetchNews": "false", "checkForUpdates": False}
    overrides.parent.mkdir(parents=True, exist_ok=True)
    overrides.write_text(json.dumps(settings, indent=2), encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}", "--ip=127.0.0.1"]
    command += ["--LabApp.default_url=/lab/tree/notebooks", *(["--allow-root"] if os.geteuid() == 0 else [])]
    os.execv(sys.executable, command)


@judge_app.command("demarrer")
def judge_start() -> None:
    """Installe le juge s'il le faut (.venv-juge), puis démarre vLLM sur 127.0.0.1:8185."""
    from autograder import judge_server

    judge_server.start(console)


@judge_app.command("etat")
def judge_status() -> None:
    """Dit si le juge tourne, quel modèle il sert et où est son journal."""
    from autograder import judge_server

    state = judge_server.status()
    if state.models:
        console.print(f"Le juge répond à {judge_server.URL} : {', '.join(state.models)}.")
    elif state.port_taken:
        console.print(f"Le port {judge_server.PORT} est pris par un programme qui n'est pas un juge.")
    else:
        console.print("Le juge ne répond pas : démarrez-le avec « cours juge demarrer ».")
    if state.pid:
        console.print(f"Processus {state.pid} ; journal du serveur : {judge_server.LOG}", soft_wrap=True)
    raise typer.Exit(0 if state.models else 1)


@judge_app.command("arreter")
def judge_stop() -> None:
    """Arrête le vLLM démarré par « cours juge demarrer », et lui seul."""
    from autograder import judge_server

    judge_server.stop(console)


def _finish(message: str, failures: list) -> None:
    for failure in failures:
        console.print(f"✗ {failure}", style="red", soft_wrap=True, markup=False)
    console.print(message, markup=False)
    if failures:
        raise typer.Exit(1)


if __name__ == "__main__":
    main()
