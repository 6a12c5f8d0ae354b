"""La commande du correcteur : collecter, noter, exporter, écrire les retours, valider.

Codes de sortie : 0 tout va bien ; 1 au moins une copie est en faute, et chacune est nommée ; 2 mauvais usage ou environnement,
avec la commande qui répare.
"""

import errno
import logging
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from autograder.french_cli import TyperException, usage_error
from autograder.settings import UsageError, locked


def new_app(purpose: str) -> typer.Typer:
    """Application Typer, réglée comme celles de ce projet."""
    return typer.Typer(
        help=purpose,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = new_app("Noter les copies d'un cours nbgrader dans des bacs à sable.")
console = Console(highlight=False)
Processes = Annotated[
    int | None,
    typer.Option("--processus", min=1, help="Copies ou leçons exécutées à la fois ; par défaut, autant que de cœurs utilisables."),
]
Isolation = Annotated[str, typer.Option("--isolement", help="auto, bwrap, ou processus (copies de confiance seulement).")]


def progress() -> Progress:
    """Barre de progression : ce qui est en cours, ce qui est fait, le temps écoulé et restant."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        console=console,
    )  # fmt: skip


def cores() -> int:
    """Copies ou leçons à exécuter à la fois quand on ne l'a pas dit."""
    from autograder.execution.groups import usable_cores

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
    """Point d'entrée de « correcteur »."""
    run(app)


def run(app: typer.Typer) -> None:
    """Exécute une commande ; traduit les erreurs prévues en une phrase et un code de sortie."""
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
    from autograder.execution import forks, sandbox

    forks.preload("autograder.record.grading")  # se charge là-bas pendant que la suite se charge ici
    from autograder.execution.limits import Limits
    from autograder.record.grading import Class, found_copies

    course, output, processes = course.resolve(), output.resolve(), processes or cores()
    limits = Limits(cell_seconds=cell_seconds, notebook_seconds=notebook_seconds)
    isolation = sandbox.choose(isolation, here=scheduler is None)
    group = Class(course, (copies or course / "submitted").resolve(), output / "travail", isolation, limits)
    chosen = found_copies(group.copies, assignment, student)
    with locked(course, output), journal(output):
        if scheduler is None:
            marks = grade_class(group, chosen, processes, controls=not no_controls)
        else:
            from autograder.record.cluster import cluster

            with cluster(scheduler, group.work, isolation) as refused:
                for line in refused:
                    console.print(f"· {line}", style="yellow", soft_wrap=True, markup=False)
                marks = grade_class(group, chosen, processes, controls=not no_controls)
        _write_report(output, group, marks, chosen if assignment or student else None)
    failures = [f"{mark.etudiant}, {mark.devoir} : {mark.motif}" for mark in marks if mark.statut == "erreur"]
    finish(summary(marks, output), failures)


def _write_report(output: Path, group, marks: list, chosen: list | None) -> None:
    """Écrit le rapport ; noter `chosen`, une partie de la classe, ne doit pas effacer les notes des autres."""
    from autograder.record import report
    from autograder.record.marks import read_marks

    if chosen is not None and (output / "notes.csv").exists():
        marks = [mark for mark in read_marks(output / "notes.csv") if (mark.etudiant, mark.devoir) not in chosen] + marks
    report.write_class(output, group, marks)


def grade_class(group, copies: list, processes: int, controls: bool) -> list:
    """Note les copies avec une barre de progression : témoins d'abord, puis chaque copie, gardée dès qu'elle est exécutée."""
    from autograder.record.grading import control, declare, grade

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


def summary(marks: list, output: Path) -> str:
    """Ce qu'une notation a donné, en une ligne."""
    statuses = ", ".join(f"{sum(mark.statut == name for mark in marks)} {name}" for name in ("note", "a_relire", "erreur"))
    return f"{len(marks)} copies : {statuses}. À voir : {output / 'index.html'}"


@app.command("collecter")
def collect_command(
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE.zip", help="Archive du devoir, telle que Moodle la donne.")],
    assignment: Annotated[str, typer.Option("--devoir", help="Devoir, par exemple ex01_bleu2.")],
    target: Annotated[Path, typer.Option("--vers", help="Dossier des copies.")] = Path("submitted"),
) -> None:
    """Range l'archive d'un devoir Moodle dans submitted/ ; ce qui est dangereux est refusé et nommé."""
    from autograder.intake.moodle import collect

    report = collect(archive, assignment, target)
    replaced = [f"{student} : copie remplacée par une nouvelle." for student in report.replaced]
    for line in report.ignored + report.remarks + replaced:
        console.print(f"· {line}", style="yellow", soft_wrap=True, markup=False)
    finish(f"{report} Dossier : {target}", report.refused)


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
    from autograder.intake.participants import TABLE, read_participants
    from autograder.record.export import export_marks
    from autograder.record.marks import read_marks

    output = output or marks.with_name("moodle.csv" if form == "moodle" else "export.csv")
    if output.resolve() == marks.resolve():
        raise UsageError("L'export effacerait le fichier de notes : donnez un autre nom avec --sortie.")
    report = export_marks(read_marks(marks), read_participants(copies / TABLE), output, form)
    for line in report.remarks:
        console.print(f"· {line}", style="yellow", soft_wrap=True, markup=False)
    finish(f"Écrit : {', '.join(str(path) for path in report.files)}", report.failures)


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
    from autograder.execution import sandbox
    from autograder.execution.limits import Limits
    from autograder.record.feedback import write_feedback
    from autograder.record.grading import Class

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
    finish(f"{written} page(s) dans {course / 'feedback'}. À voir : {output / 'retours.html'}", failures)


CopyName = Annotated[str | None, typer.Argument(metavar="COPIE.ipynb|DOSSIER|EX", help="Notebook, dossier ou exercice.")]


@app.command("valider")
def validate_command(
    copy: CopyName = None,
    course: Annotated[Path, typer.Option("--cours", help="Dossier du cours.")] = Path("."),
) -> None:
    """Exécute les tests visibles d'une copie, sur cette machine ; les tests réservés à la notation n'y sont pas."""
    from autograder.judgement.validation import report, targets, validate

    results = []
    for target in targets(copy, course.resolve()):
        results.append(validate(target))
        console.print("\n".join(report(results[-1])), soft_wrap=True, markup=False)
    raise typer.Exit(0 if all(result.passed for result in results) else 1)


@app.command("verifier-env")
def check_environment() -> None:
    """Une ligne par exigence (Python, bubblewrap, protection des copies), avec sa réparation."""
    from autograder.environment import requirements

    show_requirements(requirements())


def show_requirements(lines: list) -> None:
    """Montre des exigences ; arrête la commande avec le code 2 s'il en manque une d'indispensable."""
    for line in lines:
        console.print(str(line), markup=False, soft_wrap=True, style=None if line.satisfied else "yellow")
    if any(line.essential and not line.satisfied for line in lines):
        raise typer.Exit(2)


def finish(message: str, failures: list) -> None:
    """Nomme les fautes et conclut ; arrête la commande avec le code 1 s'il y en a."""
    for failure in failures:
        console.print(f"✗ {failure}", style="red", soft_wrap=True, markup=False)
    console.print(message, markup=False)
    if failures:
        raise typer.Exit(1)


if __name__ == "__main__":
    main()
