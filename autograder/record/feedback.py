"""Les retours aux étudiants : ce que chaque test a vu, sans rien laisser sortir des tests cachés.

Une règle tient tout : un texte montré à l'étudiant ne vient jamais d'un processus qui a vu un test caché. La note dit quels tests
sont réussis ; les messages et les sorties, eux, viennent d'une seconde exécution de la copie, où il n'y a que les tests publiés.
Une copie qui retient les arguments des tests cachés pour les afficher ensuite n'a donc rien à afficher.

`cours retours` écrit des pages en français ; `HideHiddenTests` rend sans fuite celles de `nbgrader generate_feedback`.
"""

import copy as copying
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import nbformat
from joblib import Parallel, delayed
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from sqlalchemy.exc import SAWarning
from traitlets import Unicode

from autograder.execution.sandbox import available, choose
from autograder.intake.assignment import grade_id, kind
from autograder.intake.cells import repair
from autograder.intake.copyfiles import CELL_ID
from autograder.intake.nbgrader_course import course_config
from autograder.intake.repair import load_copy, student_version
from autograder.judgement.preprocessor import LimitedPreprocessor, read_source, rerun, result_path, safe_outputs
from autograder.judgement.verdicts import Checked, checked, clean
from autograder.record.grading import Class, wait_for_gradebook
from autograder.record.marks import Mark, read_marks
from autograder.settings import UsageError, replacing

# --- L'exécution sans tests cachés ------------------------------------------------------------------------------------


def verdict_of(result: dict | None, name: str) -> dict | None:
    """Verdict d'un test ; None s'il n'a pas été exécuté ou si la copie n'a pas pu être relancée."""
    return None if result is None else result["tests"].get(name)


def student_outputs(result: dict | None, place: int) -> list[NotebookNode]:
    """Sorties d'une cellule de l'étudiant, réduites au texte et aux images ; rien si la copie n'a pas pu être relancée."""
    return [] if result is None else safe_outputs(result["outputs"].get(str(place)), result["errors"].get(str(place)))


# --- Les pages du cours -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """Une sortie montrée : du texte ou une image PNG (en base 64)."""

    text: str = ""
    image: str = ""
    error: bool = False


@dataclass(frozen=True)
class Answer:
    """Une cellule de la copie dans un retour : son texte, ses sorties, le commentaire et les points qu'une personne lui donne."""

    title: str
    text: str
    is_code: bool
    outputs: list[Shown] = field(default_factory=list)
    comment: str = ""
    earned: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class Graded:
    """Ce que la base de notes sait d'une copie.

    Attributes:
        note: points du devoir, pénalité de retard déduite ; None si la copie n'a pas de note.
        maximum: points du devoir.
        penalty: pénalité de retard, en points.
        waiting: une réponse attend encore une note donnée par une personne.
        grades: points de chaque cellule, par notebook.
        comments: commentaires de chaque cellule, par notebook.
    """

    note: float | None
    maximum: float
    penalty: float = 0
    waiting: bool = False
    grades: dict = field(default_factory=dict)
    comments: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """Le retour d'un notebook à un étudiant.

    Attributes:
        graded: note de la copie entière.
        remarks: ce qui a été réparé ou a mal tourné.
        rerun: la copie a-t-elle pu être relancée pour obtenir les messages ?
    """

    student: str
    assignment: str
    notebook: str
    title: str
    graded: Graded
    remarks: list[str] = field(default_factory=list)
    tests: list[Checked] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    rerun: bool = False

    def path(self, course: Path) -> Path:
        """Fichier de la page, rangé comme le feedback/ de nbgrader."""
        return course / "feedback" / self.student / self.assignment / f"{self.notebook}.html"

    @property
    def passed(self) -> int:
        """Nombre de tests réussis."""
        return sum(test.status == "réussi" for test in self.tests)


@dataclass(frozen=True)
class Assignment:
    """Un devoir : ses notebooks, avec et sans corrigé ni tests cachés."""

    sources: dict[str, NotebookNode]
    published: dict[str, NotebookNode]


def write_feedback(
    group: Class, output: Path, assignment: str | None = None, student: str | None = None, processes: int = 2
) -> Iterator[tuple[int, list[Page]]]:
    """Écrit les retours d'une classe ; rend, après chaque copie, le nombre total de copies et ses pages.

    Args:
        group: la classe, telle qu'elle a été notée.
        output: dossier du rapport : notes.csv y est lu, et l'index de l'enseignant (retours.html) écrit.
        assignment: ce devoir seulement.
        student: cet étudiant seulement.
        processes: copies relancées à la fois.
    Raises:
        UsageError: aucune copie notée ne correspond, ou la base de notes est tenue par un autre programme.
    """
    table = output / "notes.csv"
    marks = {(mark.etudiant, mark.devoir): mark for mark in (read_marks(table) if table.exists() else [])}
    graded = read_gradebook(group.course)
    # Une copie sans note n'est pas dans la base : c'est notes.csv qui la connaît.
    graded |= {key: Graded(None, mark.note_max) for key, mark in marks.items() if mark.statut == "erreur"}
    graded = {
        (who, what): value
        for (who, what), value in sorted(graded.items())
        # La base peut garder des devoirs retirés du cours : on ne les exige que si on les demande.
        if student in (None, who) and (what == assignment if assignment else (group.course / "source" / what).is_dir())
    }
    if not graded:
        raise UsageError(
            "Aucune copie notée ne correspond : notez-la d'abord (cours noter), ou vérifiez --devoir, --etudiant, --cours et "
            "--sortie."
        )
    assignments = {name: _assignment(group, name) for name in sorted({name for _, name in graded})}
    tasks = (delayed(pages)(group, who, what, assignments[what], grades) for (who, what), grades in graded.items())
    written = []
    for made in Parallel(n_jobs=processes, prefer="threads", return_as="generator")(tasks):
        for page in made:
            _write(page.path(group.course), _render("feedback.html", page=page))
        written += made
        yield len(graded), made
    rows = [_index_row(page, marks.get((page.student, page.assignment)), group.course, output) for page in written]
    _write(output / "retours.html", _render("feedback_index.html", rows=rows))


def read_gradebook(course: Path) -> dict[tuple[str, str], Graded]:
    """Copies de la base de notes, par étudiant et devoir, points et commentaires des personnes compris.

    Raises:
        UsageError: il n'y a pas de base, ou un autre programme la tient.
    """
    path = course / "gradebook.db"
    if not path.exists():
        return {}
    wait_for_gradebook(path)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # bruit interne de nbgrader
        with Gradebook(f"sqlite:///{path}") as gradebook:
            for assignment in gradebook.assignments:
                for submission in assignment.submissions:
                    found[submission.student.id, assignment.name] = _graded(submission)
    return found


def _graded(submission) -> Graded:
    grades, comments, penalty = {}, {}, 0.0
    for notebook in submission.notebooks:
        penalty += notebook.late_submission_penalty or 0
        grades[notebook.name] = {
            grade.name: (_earned(grade), grade.max_score, grade.manual_score is not None) for grade in notebook.grades
        }
        comments[notebook.name] = {comment.name: comment.comment or "" for comment in notebook.comments}
    waiting = any(notebook.needs_manual_grade for notebook in submission.notebooks)
    return Graded(submission.score - penalty, submission.max_score, penalty, waiting, grades, comments)


def _earned(grade) -> float | None:
    # Une copie notée de nouveau attend d'être relue, mais garde les points qu'une personne lui avait donnés.
    return None if grade.needs_manual_grade and grade.manual_score is None else grade.score


def _assignment(group: Class, name: str) -> Assignment:
    sources, config = group.sources(name), course_config(group.course)
    return Assignment(sources, {notebook: student_version(source, config) for notebook, source in sources.items()})


def pages(group: Class, student: str, assignment: str, course: Assignment, graded: Graded) -> list[Page]:
    """Pages d'une copie, une par notebook du devoir."""
    folder = group.course / "autograded" / student / assignment
    made = []
    for name, source in course.sources.items():
        title = source.metadata.get("cours", {}).get("titre") or name
        remarks = _repairs(group.copies / student / assignment, course.published, name)
        path = folder / f"{name}.ipynb"
        if graded.note is None or not path.is_file():
            made.append(Page(student, assignment, name, title, graded, remarks))
            continue
        copy = nbformat.read(path, as_version=4)
        kept = result_path(group.visible, student, assignment, name)
        result = rerun(source, course.published[name], copy, folder, group.isolation, group.limits, kept)
        if result is not None:
            remarks = [*remarks, *(clean(incident) for incident in result["incidents"])]
        grades, comments = graded.grades.get(name, {}), graded.comments.get(name, {})
        tests = _tests(source, course.published[name], grades, result)
        answers = _answers(copy, course.published[name], grades, comments, result)
        made.append(Page(student, assignment, name, title, graded, remarks, tests, answers, result is not None))
    return made


def _repairs(submitted: Path, published: dict[str, NotebookNode], name: str) -> list[str]:
    """Ce qui a été réparé dans la copie remise, relu sur elle : rien n'y vient de son exécution."""
    if not submitted.is_dir():
        return []
    try:
        loaded = load_copy(submitted, published)
        told = repair(loaded.notebooks[name], published[name])[1] if name in loaded.notebooks else []
    except Exception:  # noqa: BLE001
        # Une copie imprévue a déjà son motif dans notes.csv ; elle n'arrête pas les retours des autres.
        return ["la copie n'a pas pu être lue"]
    return [clean(reason) for reason in ([loaded.fatal] if loaded.fatal else [*loaded.reasons, *loaded.refused, *told])]


def _tests(source: NotebookNode, published: NotebookNode, grades: dict, result: dict | None) -> list[Checked]:
    visible = {grade_id(cell): cell for cell in published.cells if kind(cell) == "test"}
    lines = []
    for cell in source.cells:
        if kind(cell) == "test":
            name = grade_id(cell)
            grade = grades.get(name, (None, cell.metadata.nbgrader.points, False))
            lines.append(checked(name, visible.get(name), cell, grade, verdict_of(result, name)))
    return lines


def _answers(
    copy: NotebookNode, published: NotebookNode, grades: dict, comments: dict, result: dict | None
) -> list[Answer]:
    """Cellules que l'étudiant a écrites, dans l'ordre de sa copie, et tâches notées par une personne."""
    given = {cell.source.strip() for cell in published.cells}
    tasks = {grade_id(cell) for cell in published.cells if cell.metadata.get("nbgrader", {}).get("task")}
    known = {grade_id(cell): cell for cell in published.cells}
    answers = []
    for place, cell in enumerate(copy.cells):
        marks, name = cell.metadata.get("nbgrader", {}), grade_id(cell)
        if name in tasks:
            text = known[name].source
        elif marks.get("solution") or (kind(cell) != "test" and cell.source.strip() not in given):
            text = cell.source
        else:
            continue
        earned, maximum, _ = grades.get(name, (None, None, False))
        comment = comments.get(name, "")
        comment = "Pas de réponse." if comment == "No response." else clean(comment)
        is_code = cell.cell_type == "code"
        outputs = [shown(output) for output in student_outputs(result, place)] if is_code else []
        answers.append(Answer(_answer_title(name), clean(text), is_code, outputs, comment, earned, maximum))
    return answers


def _answer_title(name: str | None) -> str:
    if name is None:
        return "cellule ajoutée"
    drawn = re.fullmatch(r"cell-[0-9a-f]+", name)  # identifiant tiré au sort par nbgrader
    return "réponse" if drawn else name.replace("_", " ")


def shown(output: NotebookNode) -> Shown:
    """Sortie à montrer ; le gabarit en échappe le texte."""
    if output.output_type == "stream":
        return Shown(clean(output.text), error=output.name == "stderr")
    if output.output_type == "error":
        return Shown(clean("\n".join(line.rstrip("\n") for line in output.traceback)), error=True)
    if "image/png" in output.data:
        return Shown(image=output.data["image/png"])
    return Shown(clean(output.data.get("text/plain", "")))


def _index_row(page: Page, mark: Mark | None, course: Path, output: Path) -> dict:
    status = mark.statut if mark else ("a_relire" if page.graded.waiting or page.remarks else "note")
    link = quote(os.path.relpath(page.path(course), output))
    return {"page": page, "link": link, "status": status, "reason": mark.motif if mark else " ; ".join(page.remarks)}


def _render(template: str, **values) -> str:
    from autograder.record.report import templates

    return templates().get_template(template).render(**values)


def _write(path: Path, content: str) -> None:
    with replacing(path) as partial:
        partial.write_text(content, encoding="utf-8", errors="replace")


# --- Les pages de nbgrader --------------------------------------------------------------------------------------------


class HideHiddenTests(LimitedPreprocessor):
    """Entre `GetGrades` et la mise en page de `nbgrader generate_feedback` : tests tels que publiés, texte inerte.

    Les messages et les sorties viennent d'une exécution sans tests cachés ; là où la copie ne peut pas être isolée, ils
    manquent, et chaque test n'a que son état.
    """

    isolation = Unicode("auto", help="auto (bubblewrap, sinon aucun message), bwrap ou processus").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Rend un notebook fait du devoir publié et des cellules de l'étudiant, sans sortie active."""
        source = read_source(self.config, resources["nbgrader"])
        published = student_version(source, self.config)
        result = self._rerun(source, published, nb, Path(resources["metadata"]["path"]))
        known = {grade_id(cell): cell for cell in published.cells if grade_id(cell)}
        sources = {grade_id(cell): cell for cell in source.cells if grade_id(cell)}
        given = {(cell.cell_type, cell.source.strip()): cell for cell in published.cells}
        cells = []
        for place, cell in enumerate(nb.cells):
            name = grade_id(cell)
            if kind(cell) == "test":
                cells.append(_as_checked(cell, known.get(name), sources.get(name), result))
            elif name in known and not known[name].metadata.nbgrader.get("solution"):
                cells.append(_as_published(cell, known[name]))
            elif cell.cell_type != "code" and (cell.cell_type, cell.source.strip()) in given:
                cells.append(_as_published(cell, given[cell.cell_type, cell.source.strip()]))
            else:
                cells.append(_inert(cell, student_outputs(result, place)))
        nb.cells = cells
        kept = [key for key in ("kernelspec", "language_info") if key in source.metadata]
        nb.metadata = NotebookNode({key: source.metadata[key] for key in kept})
        return nb, resources

    def _rerun(self, source: NotebookNode, published: NotebookNode, nb: NotebookNode, files: Path) -> dict | None:
        if self.isolation == "auto" and available() is not None:
            self.log.warning("Copies non isolables (%s) : retours sans messages ni sorties.", available())
            return None
        return rerun(source, published, nb, files, choose(self.isolation), self.limits)


def _as_checked(
    cell: NotebookNode, published: NotebookNode | None, source: NotebookNode | None, result: dict | None
) -> NotebookNode:
    """Le test tel que publié, avec son état et son message pour seule sortie."""
    name, marks = grade_id(cell), cell.metadata.nbgrader
    line = checked(name, published, source, (marks.get("score"), marks.get("points", 0), False), verdict_of(result, name))
    text = line.status.capitalize() + (f" : {line.message}" if line.message else ".")
    if line.reserved:
        text += " Test réservé à la notation."
    output = nbformat.v4.new_output("stream", name="stdout", text=text)
    code = "# Test réservé à la notation." if published is None else published.source
    return _marked(nbformat.v4.new_code_cell(code, outputs=[output]), cell)


def _as_published(cell: NotebookNode, published: NotebookNode) -> NotebookNode:
    result = copying.deepcopy(published)
    if result.cell_type == "code":
        result.update(outputs=[], execution_count=None)
    return _marked(result, cell)


def _inert(cell: NotebookNode, outputs: list[NotebookNode]) -> NotebookNode:
    """Cellule de l'étudiant sans rien d'actif : son Markdown, qui peut contenir du HTML, est montré tel qu'il est écrit."""
    if cell.cell_type == "code":
        return _marked(nbformat.v4.new_code_cell(clean(cell.source), outputs=outputs), cell)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", cell.source)), default=0))
    return _marked(nbformat.v4.new_markdown_cell(f"{fence}\n{clean(cell.source)}\n{fence}"), cell)


def _marked(result: NotebookNode, cell: NotebookNode) -> NotebookNode:
    """La cellule, avec l'identifiant de celle de la copie et sa marque nbgrader (points, commentaire), sans autre métadonnée."""
    result.metadata = NotebookNode()
    if "nbgrader" in cell.metadata:
        result.metadata.nbgrader = copying.deepcopy(cell.metadata.nbgrader)
    result.pop("id", None)
    if CELL_ID.fullmatch(cell.get("id", "")):
        result.id = cell.id
    return result
