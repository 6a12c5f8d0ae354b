"""Un cours nbgrader : ses réglages, et l'API de nbgrader réglée pour lui."""

import logging
import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from sqlalchemy.exc import SAWarning
from traitlets.config import Config, PyFileConfigLoader

from autograder.settings import FRENCH_MARK, UsageError, configure, secure


def course_config(course: Path) -> Config:
    """Réglages d'un cours : son nbgrader_config.py s'il en a un ; sinon ceux de nbgrader, ou, si ses devoirs portent des délimiteurs
    français, ceux de `configure`."""
    if (course / "nbgrader_config.py").exists():
        return PyFileConfigLoader("nbgrader_config.py", str(course)).load_config()
    config = Config()
    if any(FRENCH_MARK in path.read_text(encoding="utf-8") for path in sorted((course / "source").glob("*/*.ipynb"))):
        configure(config, course)
    return config


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


def succeeded(result: dict, action: str) -> None:
    """Lève UsageError avec la fin du journal de nbgrader si l'appel a échoué."""
    if not result["success"]:
        reason = "\n".join(log_of(result).splitlines()[-12:])
        raise UsageError(f"nbgrader n'a pas pu {action} :\n{reason}")


def log_of(result: dict) -> str:
    """Ce que nbgrader a dit pendant un appel ; son erreur s'il n'a rien dit d'autre."""
    return (result.get("log") or result.get("error") or "").strip()
