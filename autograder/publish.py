"""Publie les exercices : release/ est tiré de source/ par nbgrader, et par lui seul."""

import logging
import os
import shutil
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from nbformat import NotebookNode
from nbgrader.apps import NbGraderAPI
from sqlalchemy.exc import SAWarning
from traitlets.config import Config, PyFileConfigLoader

from autograder.settings import RELEASE, SOURCE, UsageError, configure, secure

MARKERS = ("DÉBUT SOLUTION", "FIN SOLUTION", "TESTS CACHÉS", "BEGIN SOLUTION", "HIDDEN TESTS")


def assignments() -> list[str]:
    """Noms des devoirs de source/, dans l'ordre."""
    return sorted(path.parent.name for path in SOURCE.glob("*/*.ipynb"))


@contextmanager
def nbgrader_api(course: Path, submitted: Path | None = None):
    """API de nbgrader réglée pour un dossier de cours ; ses messages reviennent dans le résultat de chaque appel (« log »).

    Args:
        course: dossier du cours.
        submitted: dossier où lire les copies, à la place de submitted/.
    """
    config = course_config(course)
    secure(config)
    config.CourseDirectory.root = str(course)
    if submitted is not None:
        config.CourseDirectory.submitted_directory = str(submitted)
    config.Application.log_level = logging.ERROR
    config.NbGrader.logfile = ""
    path = os.environ.get("PATH", "")
    # nbgrader appelle « alembic » par son nom : il doit trouver celui de cet environnement (NB-33).
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{path}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # bruit interne de nbgrader
            yield NbGraderAPI(config=config)
    finally:
        os.environ["PATH"] = path


def course_config(course: Path) -> Config:
    """Réglages d'un cours : son nbgrader_config.py s'il en a un, ceux de ce projet sinon."""
    if (course / "nbgrader_config.py").exists():
        return PyFileConfigLoader("nbgrader_config.py", str(course)).load_config()
    config = Config()
    configure(config, course)
    return config


def log_of(result: dict) -> str:
    """Ce que nbgrader a dit pendant un appel ; son erreur s'il n'a rien dit d'autre."""
    return (result.get("log") or result.get("error") or "").strip()


def succeeded(result: dict, action: str) -> None:
    """Lève UsageError avec la fin du journal de nbgrader si l'appel a échoué."""
    if not result["success"]:
        reason = "\n".join(log_of(result).splitlines()[-12:])
        raise UsageError(f"nbgrader n'a pas pu {action} :\n{reason}")


def generate_release() -> dict[Path, bytes]:
    """Fichiers que nbgrader tire de source/, calculés à part : chemin relatif à release/ → contenu."""
    with TemporaryDirectory() as folder:
        course = Path(folder)
        shutil.copytree(SOURCE, course / "source")
        with nbgrader_api(course) as api:
            for name in assignments():
                succeeded(api.generate_assignment(name, force=True, create=True), f"publier {name}")
        release = course / "release"
        return {path.relative_to(release): path.read_bytes() for path in sorted(release.rglob("*")) if path.is_file()}


def publish() -> list[str]:
    """Récrit release/ d'après source/ ; rend les chemins qui ont changé."""
    wanted, changed = generate_release(), []
    for old in [path for path in RELEASE.rglob("*") if path.is_file() and path.relative_to(RELEASE) not in wanted]:
        old.unlink()
        changed.append(f"{old.relative_to(RELEASE)} (supprimé)")
    for path, content in wanted.items():
        target = RELEASE / path
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            changed.append(str(path))
    return changed


def hidden_lines(source: NotebookNode) -> set[str]:
    """Lignes d'un devoir qui ne doivent pas sortir : celles que seuls un corrigé ou un test caché contiennent."""
    lines = {True: set(), False: set()}
    for cell in source.cells:
        hidden = False
        for line in (line.strip() for line in cell.source.splitlines()):
            if line.startswith(("### DÉBUT SOLUTION", "### DÉBUT TESTS CACHÉS")):
                hidden = True
            elif line.startswith(("### FIN SOLUTION", "### FIN TESTS CACHÉS")):
                hidden = False
            else:
                lines[hidden].add(line)
    # Une ligne banale (« else: ») peut se trouver des deux côtés, ou dans le code d'un étudiant.
    return {line for line in lines[True] - lines[False] if len(line) > 15}
