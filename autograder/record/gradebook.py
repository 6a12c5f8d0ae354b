"""Écrit une copie notée comme `nbgrader autograde` l'écrirait : son dossier dans autograded/ et ses lignes dans la base.

nbgrader relit et réécrit chaque notebook deux fois, ouvre la base onze fois et valide chaque cellule contre un schéma recompilé :
c'était le plus long d'une notation. Ici la copie, déjà réparée, a exactement les cellules du devoir : il ne reste qu'à y remettre
les tests, y écrire les verdicts, et remplir la base en une transaction. Un test compare dossiers et base, champ à champ, à ceux
de nbgrader.
"""

import json
import os
import shutil
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Comment, Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter
from nbgrader.preprocessors import AssignLatePenalties, LimitOutput
from nbgrader.utils import compute_checksum, determine_grade, find_all_files, is_grade, is_solution, is_task, temp_attrs
from sqlalchemy.orm import load_only
from traitlets.config import Config

from autograder.intake.assignment import grade_id
from autograder.judgement.preprocessor import apply


@dataclass(frozen=True)
class GradedNotebook:
    """Un notebook noté, prêt à être écrit.

    Attributes:
        text: contenu du fichier d'autograded/.
        scores: note de chaque cellule notée, par identifiant ; None si une personne doit la donner.
        comments: commentaire automatique de chaque cellule réponse, par identifiant.
    """

    text: str
    scores: dict[str, float | None] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)


def known_cells(gradebook: Gradebook, assignment: str) -> dict[str, dict]:
    """Ce que la base sait d'un devoir : pour chaque notebook, son noyau et ses cellules telles que nbgrader les remet.

    Returns:
        nom du notebook → « kernelspec » et « cells » (identifiant → « source », « checksum », « locked »).
    """
    return {
        notebook.name: {
            "kernelspec": json.loads(notebook.kernelspec or "null"),
            "cells": {
                cell.name: {"source": cell.source, "checksum": cell.checksum, "locked": cell.locked}
                for cell in notebook.source_cells
            },
        }
        for notebook in gradebook.find_assignment(assignment).notebooks
    }


def graded(copy: NotebookNode, known: dict, published: NotebookNode, result: dict, config: Config) -> GradedNotebook:
    """Copie réparée et exécutée, telle que nbgrader la laisserait dans autograded/, et ce qui va dans la base.

    Args:
        copy: notebook réparé (`repair_folder`) ; il est modifié.
        known: noyau et cellules de ce notebook dans la base (`known_cells`).
        published: version étudiante du devoir.
        result: ce que le correcteur a vu et qui peut se montrer (`preprocessor.showable`).
        config: réglages de nbgrader pour ce cours.
    """
    if known["kernelspec"]:
        copy.metadata["kernelspec"] = known["kernelspec"]
    for cell in copy.cells:
        original = known["cells"].get(grade_id(cell))
        if original is not None:
            cell.metadata.nbgrader["checksum"] = original["checksum"]
            if original["locked"]:
                cell.source = original["source"]
    apply(result, copy, published)
    LimitOutput(config=config).preprocess(copy, {})
    scores, comments = {}, {}
    for cell in copy.cells:
        if is_grade(cell):
            scores[grade_id(cell)] = determine_grade(cell)[0]
        if is_solution(cell) or is_task(cell):
            untouched = not is_task(cell) and cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
            comments[grade_id(cell)] = "No response." if untouched else None
    text = nbformat.writes(copy, version=4)
    return GradedNotebook(text if text.endswith("\n") else f"{text}\n", scores, comments)


class Recorder(Autograde):
    """Le convertisseur de nbgrader, réduit à ce qu'il écrit ; la base reste ouverte le temps d'un lot.

    Args:
        api: API de nbgrader réglée pour ce cours (`publish.nbgrader_api`).
    """

    def __init__(self, api):
        super().__init__(coursedir=api.coursedir, parent=api)
        self.force = True
        self._assignments: dict[str, Declared] = {}
        self.penalties = AssignLatePenalties(parent=api)
        self.penalties.init_plugin()

    @cached_property
    def gradebook(self) -> Gradebook:
        """La base, ouverte à la première copie : d'ici là, un autre programme peut la tenir."""
        return Gradebook(self.coursedir.db_url, self.coursedir.course_id)

    def close(self) -> None:
        """Ferme la base, si elle a été ouverte."""
        if "gradebook" in self.__dict__:
            self.gradebook.close()

    def record(self, student: str, assignment: str, notebooks: dict[str, GradedNotebook]) -> tuple[float, bool]:
        """Écrit une copie ; rend sa note et si une réponse attend une note à la main.

        Le dossier est écrit d'abord : si la base refuse, il est retiré, et rien ne reste à moitié fait.

        Args:
            student: identifiant de l'étudiant, créé s'il n'existe pas.
            assignment: devoir, déclaré dans la base.
            notebooks: notebooks notés, par nom.
        Raises:
            OSError: le dossier ne peut pas être écrit.
            sqlalchemy.exc.SQLAlchemyError: la base est prise, ou refuse.
        """
        folder = Path(self._format_dest(assignment, student))
        with temp_attrs(self.coursedir, assignment_id=assignment, student_id=student):
            try:
                self._write_folder(student, assignment, notebooks, folder)
                return self._write_rows(student, assignment, notebooks)
            except BaseException:
                self.gradebook.db.rollback()
                shutil.rmtree(folder, ignore_errors=True)
                raise
            finally:
                self.gradebook.db.remove()  # une session par copie : la mémoire ne croît pas avec la classe

    def _write_folder(self, student: str, assignment: str, notebooks: dict, folder: Path) -> None:
        self.notebooks = [str(Path(self._format_source(assignment, student), f"{name}.ipynb")) for name in notebooks]
        self.init_destination(assignment, student)
        self.run_pre_convert_hook()
        BaseConverter.init_assignment(self, assignment, student)
        source = self.coursedir.format_path(self.coursedir.source_directory, ".", assignment)
        kept = {os.path.join(source, name) for name in self.exclude_overwriting.get(assignment, [])}
        for path in set(find_all_files(source, [*self.coursedir.ignore, "*.ipynb"])) - kept:
            target = folder / os.path.relpath(path, source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy(path, target)
        folder.mkdir(parents=True, exist_ok=True)
        for name, notebook in notebooks.items():
            (folder / f"{name}.ipynb").write_text(notebook.text, encoding="utf-8")
        self.set_permissions(assignment, student)
        self.run_post_convert_hook()

    def _write_rows(self, student: str, assignment: str, notebooks: dict) -> tuple[float, bool]:
        database, declared = self.gradebook.db, self._declared(assignment)
        if database.query(Student.id).filter_by(id=student).one_or_none() is None:
            database.add(Student(id=student))
        key = {"assignment_id": declared.id, "student_id": student}
        few = load_only(SubmittedAssignment.timestamp, SubmittedAssignment.extension)
        submission = database.query(SubmittedAssignment).options(few).filter_by(**key).one_or_none()
        is_new = submission is None
        if is_new:
            submission = SubmittedAssignment(**key)
            database.add(submission)
        timestamp = self.coursedir.get_existing_timestamp(self._format_source(assignment, student))
        if timestamp:
            submission.timestamp = timestamp
        late = declared.seconds_late(submission)
        total, waiting = 0.0, False
        for cells in declared.notebooks:
            row, grades, comments = self._new_rows(submission, cells) if is_new else self._known_rows(submission, cells)
            notebook = notebooks.get(cells.name)
            for grade in grades:
                name = cells.names[grade.cell_id]
                if notebook is None:
                    grade.auto_score, grade.needs_manual_grade = 0, False
                elif name in notebook.scores:
                    grade.auto_score = notebook.scores[name]
                    grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
            if notebook is not None:
                for comment in comments:
                    comment.auto_comment = notebook.comments.get(cells.names[comment.cell_id])
                row.late_submission_penalty = self._penalty(student, sum(map(points, grades)), late)
            total += sum(map(points, grades)) - (row.late_submission_penalty or 0)
            waiting = waiting or any(grade.needs_manual_grade for grade in grades)
        database.commit()
        return max(0.0, total), waiting

    def _declared(self, assignment: str) -> "Declared":
        """Ce que la base dit d'un devoir, lu une fois par lot."""
        if assignment not in self._assignments:
            row = self.gradebook.find_assignment(assignment)
            notebooks = [
                Cells(
                    name=notebook.name,
                    id=notebook.id,
                    names={cell.id: cell.name for cell in notebook._base_cells},
                    grades=[cell.id for cell in [*notebook.grade_cells, *notebook.task_cells]],
                    comments=[cell.id for cell in [*notebook.solution_cells, *notebook.task_cells]],
                )
                for notebook in row.notebooks
            ]
            self._assignments[assignment] = Declared(row.id, row.duedate, notebooks)
        return self._assignments[assignment]

    def _new_rows(self, submission: SubmittedAssignment, cells: "Cells") -> tuple:
        """Lignes d'un notebook jamais noté, comme `Gradebook.add_submission` les fait."""
        row = SubmittedNotebook(notebook_id=cells.id, assignment=submission)
        row.grades = [Grade(cell_id=cell, needs_manual_grade=True) for cell in cells.grades]
        row.comments = [Comment(cell_id=cell) for cell in cells.comments]
        self.gradebook.db.add(row)
        return row, row.grades, row.comments

    def _known_rows(self, submission: SubmittedAssignment, cells: "Cells") -> tuple:
        """Lignes d'un notebook déjà noté, cherchées par leur clé : la base n'a pas d'autre index, et peut être grande."""
        database = self.gradebook.db
        found = database.query(SubmittedNotebook).options(load_only(SubmittedNotebook.late_submission_penalty))
        row = found.filter_by(notebook_id=cells.id, assignment_id=submission.id).one()
        few = load_only(Grade.cell_id, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
        grades = database.query(Grade).options(few).filter(Grade.cell_id.in_(cells.grades), Grade.notebook_id == row.id)
        few = load_only(Comment.cell_id, Comment.auto_comment)
        comments = database.query(Comment).options(few).filter(Comment.cell_id.in_(cells.comments), Comment.notebook_id == row.id)
        return row, grades.all(), comments.all()

    def _penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """Pénalité de retard d'un notebook, entre 0 et sa note, d'après le greffon du cours ; None s'il n'en demande pas."""
        if not seconds_late:
            return None
        asked = self.penalties.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return None if asked is None else min(max(asked, 0), score)


@dataclass(frozen=True)
class Cells:
    """Un notebook d'un devoir dans la base : son nom, sa clé, le nom de ses cellules par clé, celles à noter, à commenter."""

    name: str
    id: str
    names: dict[str, str]
    grades: list[str]
    comments: list[str]


@dataclass(frozen=True)
class Declared:
    """Un devoir dans la base : sa clé, son échéance (UTC) s'il en a une, ses notebooks."""

    id: str
    duedate: datetime | None
    notebooks: list[Cells]

    def seconds_late(self, submission: SubmittedAssignment) -> float:
        """Retard d'une remise, en secondes ; 0 sans échéance ou sans date de remise."""
        if submission.timestamp is None or self.duedate is None:
            return 0
        due = self.duedate + (submission.extension or timedelta())
        return max(0, (submission.timestamp - due).total_seconds())


def points(grade: Grade) -> float:
    """Points d'une cellule, comme nbgrader les compte : la note d'une personne l'emporte, et un bonus s'y ajoute."""
    score = grade.auto_score if grade.manual_score is None else grade.manual_score
    return 0.0 if score is None else score + (grade.extra_credit or 0.0)
