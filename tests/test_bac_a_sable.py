"""Le bac à sable : ce que la copie ne peut ni voir, ni faire, ni laisser derrière elle.

Chaque test démarre un vrai bac et y exécute du code, par le même canal que le correcteur. Sans bubblewrap, ceux qui en ont besoin
sont sautés, avec la raison ; le refus de noter sans isolement, lui, est vérifié partout.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import nbformat
import psutil
import pytest

from autograder.execution import sandbox
from autograder.execution.limits import Limits
from autograder.execution.sandbox import FIRST_UID, Sandbox, package_paths
from autograder.intake.assignment import grade_id, kind
from autograder.judgement.preprocessor import correct, score
from autograder.judgement.proxy import Lost, Student
from autograder.record.grading import Class
from autograder.record.report import write_class
from autograder.settings import UsageError
from course.settings import COPIES, RELEASE, ROOT, SOURCE

needs_bwrap = pytest.mark.skipif(sandbox.available() is not None, reason=f"pas de bac à sable : {sandbox.available()}")
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="le compte du dehors ne change que si le correcteur est root")
LIMITS = Limits(cell_seconds=20, notebook_seconds=60)
CANARY = "canari_ne_doit_jamais_sortir"


class Box:
    """Un bac à sable ouvert, et le code qu'on y exécute."""

    def __init__(self, files=None, isolation="bwrap", limits=LIMITS, modules=()):
        self.sandbox = Sandbox(files, package_paths(list(modules)), isolation, limits)
        self.student = Student(self.sandbox.connection, self.sandbox.meter)
        self.student.start(limits.rlimits(), None)

    def run(self, code):
        """Exécute une cellule et rend ce qu'elle affiche, puis son erreur."""
        self.student.start_clock()
        answer = self.student.run(code)
        text = "".join(output.get("text", "") for output in answer["outputs"])
        return text + (f"{answer['error']['name']}: {answer['error']['message']}" if answer["status"] == "error" else "")

    def processes(self):
        """Processus du bac, vus du dehors."""
        return psutil.Process(self.sandbox.process.pid).children(recursive=True)


@contextmanager
def box(*args, **kwargs):
    opened = Box(*args, **kwargs)
    try:
        yield opened
    finally:
        opened.sandbox.kill()


def outer_uid(process):
    return Path(f"/proc/{process.pid}").stat().st_uid


@needs_bwrap
@root_only
def test_un_compte_par_bac():
    """Le compte de la copie, lu dans /proc au-dehors, n'est pas le nôtre ; deux correcteurs à la fois en ont deux."""
    code = (
        "import os, sys, time\n"
        "from autograder.execution.sandbox import *\n"
        "box = Sandbox(None, [], 'bwrap', Limits())\n"
        "print(box.process.pid, flush=True); sys.stdin.read(); box.kill()"
    )
    graders = [
        subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        seen = []
        for grader in graders:
            outside = psutil.Process(int(grader.stdout.readline()))
            uids, patience = set(), time.monotonic() + 20
            while not any(uid >= FIRST_UID for uid in uids) and time.monotonic() < patience:
                uids = {outer_uid(child) for child in outside.children(recursive=True)}
                time.sleep(0.05)
            seen.append(max(uids))
        assert all(uid >= FIRST_UID for uid in seen) and len(set(seen)) == 2 and os.getuid() not in seen
    finally:
        for grader in graders:
            grader.communicate("")


@needs_bwrap
def test_ni_reseau_ni_environnement(monkeypatch):
    """Aucune interface, pas même vers le juge local ; l'environnement du correcteur n'entre pas."""
    monkeypatch.setenv("COURS_JUGE_CLE", "clé secrète")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with box() as opened:
        shown = opened.run(
            "import os, socket\nprint(sorted(os.environ))\nprint(socket.if_nameindex())\n"
            "for address in (('127.0.0.1', 8185), ('192.0.2.1', 80)):\n"
            "    try: socket.create_connection(address, timeout=1); print('OUVERT')\n"
            "    except OSError as error: print(error)\n"
            "try: print(socket.getaddrinfo('example.org', 80))\nexcept OSError: print('pas de nom')"
        )
    names, interfaces, *rest = shown.splitlines()
    assert set(eval(names)) <= {*sandbox.ENVIRONMENT, "PWD", "LINES", "COLUMNS", "LC_CTYPE", "SHLVL", "_", "PYDEVD_USE_FRAME_EVAL", "PAGER", "GIT_PAGER", "CLICOLOR", "TERM"}
    assert [name for _, name in eval(interfaces)] == ["lo"] and "OUVERT" not in shown and "pas de nom" in shown
    assert "secrète" not in shown and "autograde" not in shown


@needs_bwrap
def test_rien_du_cours_n_est_monte(tmp_path):
    """Ni devoir, ni base, ni autre copie, ni .git ; Python et le correcteur en lecture seule ; seuls les fichiers ordinaires de la copie."""
    files = tmp_path / "copie"
    (files / "données").mkdir(parents=True)
    (files / "données" / "phrases.txt").write_text("le chat dort", encoding="utf-8")
    (files / "ex01.ipynb").write_text("{}", encoding="utf-8")
    (files / "lien").symlink_to(SOURCE / "ex01_bleu2" / "ex01_bleu2.ipynb")
    (files / "dossier").symlink_to(SOURCE)
    os.mkfifo(files / "tube")
    with box(files) as opened:
        shown = opened.run(
            "import os\n"
            "for base, folders, names in os.walk('/'):\n"
            "    if base in ('/proc', '/sys', '/usr', '/dev'): folders.clear(); continue\n"
            "    for name in [*names, *folders]:\n"
            "        if name.endswith(('.ipynb', '.db', '.csv')) or name in ('source', 'release', 'submitted', '.git', 'helpers', 'tests', 'lien', 'dossier', 'tube'):\n"
            "            if '/paquets/' not in base and 'lib/python' not in base: print('VU', os.path.join(base, name))\n"
            f"print(os.path.exists({str(ROOT)!r}), sorted(set(os.listdir('/correcteur')) - {{'__pycache__'}}))\n"
            "print(open('données/phrases.txt', encoding='utf-8').read())\n"
            "import channel, json\n"
            "for path in (channel.__file__, json.__file__, '/usr/bin/env', '/paquets/essai', '/essai', '/dev/essai', '/correcteur/essai'):\n"
            "    try: open(path, 'a').close(); print('ÉCRIT', path)\n"
            "    except OSError: pass\n"
            "open('essai.txt', 'w').write('x'); print(os.path.getsize('essai.txt'))"
        )
    assert "VU" not in shown and "ÉCRIT" not in shown, shown
    assert shown.splitlines() == ["False ['channel.py', 'worker.py']", "le chat dort", "1"] or "False" in shown.splitlines()[0]
    assert not (files / "essai.txt").exists()


CANARY_HUNT = """
gc, os, sys = __import__("gc"), __import__("os"), __import__("sys")
secret = "canari_ne_doit_" + "jamais_sortir"
hits = []
frame = sys._getframe()
while frame is not None:
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        if name not in ("secret", "In", "_ih", "_i", "hits") and isinstance(value, (str, bytes, list, dict)) and secret in repr(value):
            hits.append(("cadre", name))
    frame = frame.f_back
for thing in gc.get_objects():
    if isinstance(thing, (list, dict, tuple)) and thing is not globals() and len(thing) < 10000:
        items = thing.values() if isinstance(thing, dict) else thing
        if any(isinstance(item, str) and secret in item and item != secret for item in list(items)):
            hits.append(("gc", type(thing).__name__))
for base, folders, names in os.walk("/"):
    folders[:] = [] if base in ("/proc", "/sys", "/usr") or "/lib/python" in base else folders
    for name in names:
        try:
            path = os.path.join(base, name)
            if os.path.isfile(path) and os.path.getsize(path) < 5_000_000 and secret.encode() in open(path, "rb").read():
                hits.append(("fichier", path))
        except OSError:
            pass
for pid in [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]:
    for name in ("environ", "cmdline", "maps", "mem", "mountinfo"):
        try:
            if secret.encode() in open(f"/proc/{pid}/{name}", "rb").read(10_000_000):
                hits.append((pid, name))
        except (OSError, OverflowError, ValueError):
            pass
proof = b"temoin " + str(len(hits)).encode() + b" positif"
found = proved = 0
with open("/proc/self/mem", "rb", 0) as memory:
    for line in open("/proc/self/maps").read().splitlines():
        low, high = (int(bound, 16) for bound in line.split()[0].split("-"))
        if "r" in line.split()[1] and "[v" not in line and high - low < 300_000_000:
            try:
                memory.seek(low)
                data = memory.read(high - low)
            except (OSError, ValueError, OverflowError):
                continue
            found += data.count(b"TESTS CACH" + "ÉS".encode())
            proved += data.count(proof)
if found or not proved:
    hits.append(("mémoire", found, proved))
if secret in repr(dict(os.environ)):
    hits.append("environnement")
print("CHASSE", hits)
"""


@needs_bwrap
@pytest.mark.parametrize("assignment", ["ex01_bleu2", "ex02_perplexite", "ex03_juge_symetrique"])
def test_le_canari_est_introuvable(assignment):
    """Après chaque cellule, la copie cherche le canari des tests cachés : cadres, gc, fichiers, /proc, mémoire, environnement. Rien."""
    source, notebook = (
        nbformat.read(folder / assignment / f"{assignment}.ipynb", as_version=4) for folder in (SOURCE, RELEASE)
    )
    assert CANARY in json.dumps(source) and CANARY not in json.dumps(notebook)
    cells = []
    for cell in notebook.cells:
        cells += [cell, *([nbformat.v4.new_code_cell(CANARY_HUNT)] if kind(cell) == "reponse" else [])]
    notebook.cells = [*cells, nbformat.v4.new_code_cell(CANARY_HUNT)]
    result = correct(source, notebook, None, "bwrap", Limits(cell_seconds=60, notebook_seconds=180))
    hunts = [line for outputs in result["outputs"].values() for output in outputs for line in output.get("text", "").splitlines()]
    hunts = [line for line in hunts if line.startswith("CHASSE")]
    assert len(hunts) == len([cell for cell in cells if cell.source == CANARY_HUNT]) + 1, result["errors"]
    assert set(hunts) == {"CHASSE []"}


FORKS = """
import os, time
done = 0
try:
    for _ in range(50):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        done += 1
except OSError as error:
    print("ARRÊT", done, error)
print("FIN", done)
"""


@needs_bwrap
@root_only
def test_bombe_a_processus_et_voisin():
    """Cinquante processus demandés, la limite arrête le compte ; un voisin, au même moment, crée les siens ; après kill, plus personne."""
    limits = Limits(cell_seconds=20, notebook_seconds=60, processes=20)
    code = (
        "import json, sys\nfrom pathlib import Path\nfrom autograder.execution.sandbox import *\nfrom autograder.judgement.proxy import Student\n"
        "limits = Limits(processes=20)\nbox = Sandbox(None, package_paths([]), 'bwrap', limits)\n"
        "student = Student(box.connection, box.meter); student.start(limits.rlimits(), None); student.start_clock()\n"
        "answer = student.run(sys.argv[1])\nprint(''.join(o.get('text', '') for o in answer['outputs']))\nbox.kill()"
    )
    honest = "import os\nfor _ in range(10):\n    if os.fork() == 0: os._exit(0)\n    os.wait()\nprint('VOISIN', 10)"
    with box(limits=limits) as opened:
        shown = opened.run(FORKS)
        count = int(shown.split("ARRÊT ")[1].split()[0])
        assert count < 20 and f"FIN {count}" in shown
        uid = next(outer_uid(child) for child in opened.processes() if outer_uid(child) >= FIRST_UID)
        assert len([child for child in opened.processes() if outer_uid(child) == uid]) == count + 1
        neighbour = subprocess.run([sys.executable, "-c", code, honest], cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert "VOISIN 10" in neighbour.stdout, neighbour.stderr
    deadline = time.monotonic() + 5
    while alive(uid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(uid) == []


def alive(uid):
    """Processus vivants de ce compte, d'après /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if path.stat().st_uid == uid:
                found.append(path.name)
        except FileNotFoundError:
            pass
    return found


@needs_bwrap
def test_memoire_et_fichiers_bornes():
    """Une demande de huit gigaoctets est une MemoryError ; un fichier s'arrête à sa limite, un dossier aussi ; la copie continue."""
    limits = Limits(cell_seconds=20, notebook_seconds=60, file_mib=8)
    with box(limits=limits) as opened:
        assert opened.run("block = bytearray(8 * 2**30)").startswith("MemoryError")
        assert opened.run("with open('/tmp/gros', 'wb') as file: file.write(b'x' * 9 * 2**20)").startswith("OSError")
        opened.run("import os; os.remove('/tmp/gros')")
        shown = opened.run(
            "import os\nfor folder in ('/tmp', '/copie', '/dev/shm'):\n    total = 0\n    try:\n        for number in range(20):\n"
            "            with open(f'{folder}/{number}', 'wb') as file: total += file.write(b'x' * 2**20)\n"
            "    except OSError as error: print(folder, total >> 20, error.strerror)"
        )
        assert len(shown.splitlines()) == 3, shown
        assert all(int(line.split()[1]) <= 8 for line in shown.splitlines())
        assert opened.run("print(1 + 1)") == "2\n"


@needs_bwrap
def test_rien_ne_survit():
    """kill : les fils détachés de la copie meurent avec elle ; rien n'est écrit au-dehors."""
    before = set(Path(tempfile.gettempdir()).glob("copie-*"))
    with box() as opened:
        opened.run("import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(60)\n    os._exit(0)")
        inside = opened.processes()
        assert len(inside) >= 2 and set(Path(tempfile.gettempdir()).glob("copie-*")) <= before
    _, living = psutil.wait_procs(inside, timeout=5)
    assert living == []


@needs_bwrap
def test_le_correcteur_meurt_la_copie_aussi():
    """Un correcteur tué net n'abandonne pas de copie en vie."""
    code = "import time\nfrom autograder.execution.sandbox import *\nbox = Sandbox(None, [], 'bwrap', Limits())\nprint(box.process.pid, flush=True)\ntime.sleep(60)"
    grader = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    outside = psutil.Process(int(grader.stdout.readline()))
    family = [outside]
    deadline = time.monotonic() + 10
    while len(family) < 3 and time.monotonic() < deadline:
        family = [outside, *outside.children(recursive=True)]
        time.sleep(0.05)
    grader.kill()
    grader.wait()
    _, living = psutil.wait_procs(family, timeout=5)
    assert living == []


@needs_bwrap
def test_meme_python_qu_au_dehors():
    """L'interpréteur et sa bibliothèque sont ceux du cours, et non ceux du système."""
    with box() as opened:
        shown = opened.run("import json, sys\nprint(sys.version); print(sys.base_prefix); print(json.__file__)")
    version, prefix, module = shown.strip().rsplit("\n", 2)
    assert version == sys.version and (prefix, module) == (sys.base_prefix, json.__file__)


@needs_bwrap
@root_only
def test_python_dans_un_dossier_ferme(tmp_path, monkeypatch):
    """Un interpréteur rangé dans un dossier personnel fermé (mode 0700) s'exécute, avec sa propre bibliothèque (SEC-24)."""
    base = tmp_path / "maison" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = Path(sysconfig.get_path("stdlib"))
    ignored = shutil.ignore_patterns("site-packages", "test", "tests", "idlelib", "ensurepip", "__pycache__", "config-*")
    shutil.copytree(library, base / "lib" / version, ignore=ignored, symlinks=True)
    for shared in Path(sys.base_prefix, "lib").glob("libpython3*.so*"):
        shutil.copy2(shared, base / "lib", follow_symlinks=False)
    (base / "bin").mkdir()
    executable = base / "bin" / version
    shutil.copy2(os.path.realpath(sys._base_executable), executable)
    (tmp_path / "maison").chmod(0o700)
    tmp_path.chmod(0o700)
    monkeypatch.setattr(sys, "base_prefix", str(base))
    monkeypatch.setattr(sys, "_base_executable", str(executable))
    with box() as opened:
        shown = opened.run("import json, sys\nprint(sys.executable, json.__file__)")
    assert shown.split() == [str(executable), str(base / "lib" / version / "json" / "__init__.py")]


def readable_python():
    """Un interpréteur, de la même version, qu'un compte ordinaire peut exécuter, ou None."""
    for candidate in (sys.executable, shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")):
        check = "import os, sys; open(os.path.realpath(sys._base_executable), 'rb'); os.listdir(sys.base_prefix)"
        if candidate and subprocess.run([*AS_NOBODY, candidate, "-c", check], capture_output=True, cwd="/").returncode == 0:
            return candidate
    return None


AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []


@needs_bwrap
def test_correcteur_sans_privileges(tmp_path):
    """Lancé par un compte ordinaire, le bac s'ouvre dans un espace d'utilisateurs : ni réseau, ni cours, ni disque sans borne."""
    python = readable_python()
    if python is None:
        pytest.skip("aucun Python qu'un compte ordinaire puisse exécuter")
    probe = subprocess.run(
        [*AS_NOBODY, "bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"], capture_output=True, text=True, cwd="/"
    )
    if probe.returncode:
        pytest.skip(f"les espaces d'utilisateurs sont interdits à un compte ordinaire : {probe.stderr.strip()}")
    code = (
        "import os, sys\nfrom autograder.execution.sandbox import *\nfrom autograder.judgement.proxy import Student\n"
        "limits = Limits(file_mib=8)\nassert choose('auto') == 'bwrap' and os.geteuid() != 0\n"
        "box = Sandbox(None, package_paths([]), 'bwrap', limits)\nstudent = Student(box.connection, box.meter)\n"
        "student.start(limits.rlimits(), None); student.start_clock()\n"
        "answer = student.run(sys.argv[1])\nprint(''.join(o.get('text', '') for o in answer['outputs']), answer.get('error'))\n"
        "box.kill()"
    )
    inside = (
        "import os, socket\nprint(socket.if_nameindex(), os.path.exists(%r))\n" % str(ROOT / "source")
        + "for path in ('/essai', '/dev/essai', '/usr/lib/python3/dist-packages/essai', '/correcteur/essai', '/paquets/essai'):\n"
        "    try: open(path, 'w').close(); print('ÉCRIT', path)\n    except OSError: pass\n"
        "try: bytearray(8 * 2**30)\nexcept MemoryError: print('MemoryError')\n"
        "pids = [name for name in os.listdir('/proc') if name.isdigit()]\nprint(len(pids) < 5)"
    )
    folders = [ROOT, sysconfig.get_path("purelib")]
    done = subprocess.run(
        [*AS_NOBODY, python, "-c", code, inside], cwd="/", capture_output=True, text=True, timeout=90,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, folders)), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.stdout.split("\n")[:3] == ["[(1, 'lo')] False", "MemoryError", "True"], done.stdout + done.stderr


# --- Sans isolement ----------------------------------------------------------------------------------------------------


def path_without_bwrap(folder, replacement=None):
    """PATH où bubblewrap manque, ou échoue comme là où les espaces de noms sont interdits."""
    folder.mkdir()
    for name in ("setpriv", "true", "env", "bash", "sh"):
        if shutil.which(name):
            (folder / name).symlink_to(shutil.which(name))
    if replacement:
        (folder / "bwrap").write_text(f"#!/bin/sh\n{replacement}\n", encoding="utf-8")
        (folder / "bwrap").chmod(0o755)
    return str(folder)


FORBIDDEN = 'echo "bwrap: No permissions to create new namespace, likely because the kernel does not allow it" >&2; exit 1'


@pytest.mark.parametrize(
    ("replacement", "words"),
    [(None, ["bubblewrap n'est pas installé", "apt-get install bubblewrap"]), (FORBIDDEN, ["No permissions to create new namespace", "kernel.unprivileged_userns_clone"])],
    ids=["sans bubblewrap", "espaces de noms interdits"],
)  # fmt: skip
def test_sans_isolement_on_ne_note_pas(tmp_path, monkeypatch, replacement, words):
    """« auto » et « bwrap » s'arrêtent avec la réparation ; `cours noter` rend 2 et n'exécute rien ; « processus » se demande."""
    monkeypatch.setenv("PATH", path_without_bwrap(tmp_path / "bin", replacement))
    for isolation in ("auto", "bwrap"):
        with pytest.raises(UsageError) as refusal:
            sandbox.choose(isolation)
        assert all(word in str(refusal.value) for word in [*words, "--isolement processus"])
    assert sandbox.choose("processus") == "processus"
    done = subprocess.run(
        [Path(sys.executable).with_name("cours"), "noter", "--copies", str(tmp_path)], cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 2 and all(word in done.stdout for word in words), done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_isolement_inconnu():
    """Un nom d'isolement qui n'existe pas est refusé."""
    with pytest.raises(UsageError, match="auto, bwrap ou processus"):
        sandbox.choose("docker")


def test_isolement_processus(tmp_path):
    """« processus » note une copie honnête, borne mémoire et temps, et le rapport le dit."""
    from course.demonstration import read_copy

    assignment = "ex01_bleu2"
    source, notebook = (nbformat.read(folder / assignment / f"{assignment}.ipynb", as_version=4) for folder in (SOURCE, RELEASE))
    answers = read_copy(COPIES / assignment / "parfaite.py").answers
    for cell in notebook.cells:
        cell.source = answers.get(grade_id(cell), cell.source)
    notebook.cells.append(nbformat.v4.new_code_cell("bytearray(8 * 2**30)"))
    result = correct(source, notebook, None, "processus", LIMITS)
    assert sum(score(cell, result["tests"].get(grade_id(cell))) for cell in source.cells if kind(cell) == "test") == 20
    assert [error["name"] for error in result["errors"].values()] == ["MemoryError"]
    group = Class(tmp_path, tmp_path, tmp_path / "travail", "processus", LIMITS)
    write_class(tmp_path / "rapport", group, [])
    assert "processus" in (tmp_path / "rapport" / "index.html").read_text(encoding="utf-8")


@needs_bwrap
def test_un_bac_qui_ne_demarre_pas_n_est_pas_un_zero(tmp_path, monkeypatch):
    """Une panne du bac à sable n'est pas une note : le correcteur dit ce que bubblewrap a répondu (SEC-24)."""
    monkeypatch.setattr(sandbox, "_interpreter", lambda: "/nulle/part/python")
    opened = Sandbox(None, [], "bwrap", LIMITS)
    student = Student(opened.connection, opened.meter)
    try:
        with pytest.raises(Lost):
            student.start(LIMITS.rlimits(), None)
    finally:
        opened.kill()
    assert "/nulle/part/python" in opened.last_words()


def test_fichiers_ordinaires_seulement(tmp_path):
    """Liens, tubes, dossiers liés et notebooks ne sont pas montrés ; les noms accentués et les sous-dossiers le sont."""
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "é.txt").write_text("x", encoding="utf-8")
    (tmp_path / "copie.ipynb").write_text("{}", encoding="utf-8")
    (tmp_path / "lien.txt").symlink_to("/etc/hostname")
    (tmp_path / "dossier").symlink_to("/etc")
    os.mkfifo(tmp_path / "tube")
    assert [name for _, name in sandbox.regular_files(tmp_path)] == ["a b/é.txt"]
    assert stat.S_ISFIFO((tmp_path / "tube").lstat().st_mode)
