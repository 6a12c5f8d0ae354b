"""La commande `cours` : celle du correcteur, et ce que ce cours a en propre : leçons, juge, exercices, démonstration.

Les codes de sortie sont ceux du correcteur (`autograder.cli`).
"""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from autograder import cli as grader
from autograder.cli import Processes, console, cores, finish, journal, progress
from autograder.settings import locked

app = grader.new_app("Évaluer les textes générés : les leçons, le juge, les exercices et leur notation.")
app.registered_commands += grader.app.registered_commands  # une commande de même nom, plus bas, la remplace
judge_app = typer.Typer(help="Le juge local : un vrai serveur vLLM.", no_args_is_help=True)
app.add_typer(judge_app, name="juge")
LessonNames = Annotated[list[str] | None, typer.Argument(help="Leçons : « 01 » ou « 01_bleu » ; toutes par défaut.")]


def main() -> None:
    """Point d'entrée de « cours »."""
    grader.run(app)


@app.command("construire")
def build(
    lessons: LessonNames = None,
    processes: Processes = None,
) -> None:
    """Dérive et exécute les notebooks des leçons, sur les verdicts enregistrés."""
    from course import coverage
    from course.lessons import find, notebook_path, write

    texts = find(lessons)
    with progress() as bar:
        failures = _execute_lessons(bar, texts, processes or cores(), lambda text, notebook: write(notebook, notebook_path(text)))
    coverage.write()
    finish(f"{len(texts) - len(failures)} leçon(s) exécutée(s) sur {len(texts)}.", failures)


def _execute_lessons(bar: Progress, texts: list[Path], processes: int, keep: Callable) -> list:
    """Exécute des leçons ; passe chaque notebook à `keep`, et rend les erreurs des autres."""
    from course.lessons import LessonError, execute_all

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
    from course.recording import record_lesson, recorded_lessons

    failures = []
    for text in recorded_lessons(lessons):
        failure = record_lesson(text, restart, console)
        if failure is not None:
            failures.append(failure)
    finish("Enregistrement terminé ; « cours construire » met à jour les notebooks.", failures)


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
    from autograder.execution import sandbox
    from autograder.execution.limits import Limits
    from autograder.record.grading import Class, found_copies
    from autograder.record.marks import differences, read_marks
    from course import publish, report
    from course.demonstration import MARKS_FILE, build
    from course.lessons import find
    from course.settings import COPIES, RELEASE, SOURCE

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
    marks = grader.grade_class(group, found_copies(group.copies), processes, controls=True)
    expected = read_marks(COPIES / MARKS_FILE)
    if reason is not None:
        left_out = [mark for mark in expected if not (group.copies / mark.etudiant / mark.devoir).exists()]
        expected = [mark for mark in expected if mark not in left_out]
        told = f"{len(left_out)} copies piégées laissées de côté, faute d'isolement : {reason}."
        console.print(told, markup=False, soft_wrap=True)
    failures += differences(marks, expected)
    report.write_demonstration(output, group, marks, lines, [str(failure) for failure in failures])
    console.print(f"{len(lines)} leçons exécutées, {len(built)} copies de démonstration notées.")
    finish(grader.summary(marks, output), failures)


@app.command("valider")
def validate_command(
    copy: grader.CopyName = None,
    course: Annotated[Path | None, typer.Option("--cours", help="Dossier du cours (par défaut, ici, sinon ce cours).")] = None,
) -> None:
    """Exécute les tests visibles d'une copie, sur cette machine ; les tests réservés à la notation n'y sont pas."""
    from course.settings import ROOT

    here = Path.cwd()
    grader.validate_command(copy, course or (here if (here / "release").is_dir() else ROOT))


@app.command("publier")
def publish_command() -> None:
    """Récrit release/ (la version étudiante) d'après source/, avec nbgrader."""
    from course.publish import publish

    changed = publish()
    console.print("\n".join(f"release/{path}" for path in changed) or "release/ était à jour.", markup=False)


@app.command("couverture")
def coverage_command() -> None:
    """Récrit docs/COUVERTURE.md : chaque ligne du programme et la cellule qui la traite."""
    from course import coverage

    changed = coverage.write()
    finish(f"docs/COUVERTURE.md : {'récrit' if changed else 'à jour'}.", list(coverage.missing()))


@app.command("verifier")
def check() -> None:
    """Vérifie sans rien exécuter que leçons, exercices, journaux et environnements sont cohérents."""
    from course.checks import CHECKS

    failures = []
    for function in CHECKS:
        found = list(function())
        failures += found
        console.print(f"{'✗' if found else '✓'} {function.__doc__.splitlines()[0]}", markup=False, soft_wrap=True)
    finish(f"{len(failures)} faute(s)." if failures else "Tout est cohérent.", failures)


@app.command("verifier-env")
def check_environment() -> None:
    """Une ligne par exigence (Python, paquets, bubblewrap, protection des copies, port 8185, juge), avec sa réparation."""
    from course.environment import requirements

    grader.show_requirements(requirements())


@app.command("lab")
def lab() -> None:
    """Ouvre JupyterLab, en français, sur les leçons."""
    import json

    from course.settings import ROOT

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
    from course import judge_server

    judge_server.start(console)


@judge_app.command("etat")
def judge_status() -> None:
    """Dit si le juge tourne, quel modèle il sert et où est son journal."""
    from course import judge_server

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
    from course import judge_server

    judge_server.stop(console)


if __name__ == "__main__":
    main()
