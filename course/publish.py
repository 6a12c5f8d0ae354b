"""Publie les exercices : release/ est tiré de source/ par nbgrader, et par lui seul."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from nbformat import NotebookNode

from autograder.intake.nbgrader_course import nbgrader_api, succeeded
from course.settings import RELEASE, SOURCE

MARKERS = ("DÉBUT SOLUTION", "FIN SOLUTION", "TESTS CACHÉS", "BEGIN SOLUTION", "HIDDEN TESTS")


def assignments() -> list[str]:
    """Noms des devoirs de source/, dans l'ordre."""
    return sorted(path.parent.name for path in SOURCE.glob("*/*.ipynb"))


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
