"""Ce qu'une copie consomme : son calcul seul lui est compté, et mémoire, processus et disque sont bornés au total.

Chaque test ouvre un vrai bac et y exécute du code. Les bombes sont bornées : cinquante processus au plus, et la mémoire de la limite.
Ceux que paramètre `watched` passent deux fois : avec la meilleure protection de cette machine, puis avec la plus simple (psutil).
"""

import os
import subprocess
import sys
import time
from contextlib import contextmanager

import nbformat
import pytest

from autograder.execution import groups, limits, sandbox
from autograder.execution.groups import Protection, usable_cores
from autograder.execution.limits import Limits
from autograder.execution.sandbox import Sandbox, package_paths
from autograder.judgement.preprocessor import correct
from autograder.judgement.proxy import Lost, Student
from course.settings import ROOT
from tests.devoirs import cell

pytestmark = pytest.mark.skipif(sandbox.available() is not None, reason=f"pas de bac à sable : {sandbox.available()}")
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="le nombre de processus d'un bac n'est borné que si le correcteur est root")
SECOND = Limits(cell_seconds=1, notebook_seconds=30)


@pytest.fixture(params=["meilleure", "psutil"])
def watched(request, monkeypatch):
    """La protection de cette machine, puis celle qu'ont toutes les machines."""
    if request.param == "psutil":
        monkeypatch.setattr(groups, "protection", lambda: Protection("psutil"))


@contextmanager
def copy_of(bounds, isolation="bwrap"):
    """Le processus d'une copie, prêt à exécuter une cellule."""
    opened = Sandbox(None, package_paths([]), isolation, bounds)
    student = Student(opened.connection, opened.meter)
    rlimits = bounds.rlimits()
    if isolation == "processus":
        del rlimits["RLIMIT_NPROC"]  # même compte que celui des tests
    try:
        student.start(rlimits, None)
        student.start_clock()
        yield student
    finally:
        opened.kill()


def shown(answer):
    return "".join(output.get("text", "") for output in answer["outputs"])


# --- Le temps ---------------------------------------------------------------------------------------------------------

SPIN = "while True: pass"
SPENDS = {
    "elle-même": SPIN,
    "un fils": f"import os\nif os.fork() == 0:\n    {SPIN}\nos.wait()",
    "des fils qui finissent": "import os, time\nfor _ in range(40):\n    if os.fork() == 0:\n        end = time.process_time() + 0.2\n"
    "        while time.process_time() < end: pass\n        os._exit(0)\n    os.wait()",
    "un fil d'exécution": f"import threading\ndef spin():\n    {SPIN}\nthreading.Thread(target=spin, daemon=True).start()\nimport time; time.sleep(600)",
}


@pytest.mark.parametrize("code", SPENDS.values(), ids=SPENDS)
def test_le_calcul_est_compte(code, watched):
    """Tout ce que la copie lance calcule à son compte ; la limite est nommée, et ce n'est pas l'horloge."""
    with copy_of(SECOND) as student, pytest.raises(Lost, match=r"temps de calcul dépassé \(1 s\)"):
        student.run(code)
    assert student.starved is None


def test_attendre_n_est_pas_calculer(watched):
    """Dormir deux fois la limite de calcul n'est pas la dépasser."""
    with copy_of(SECOND) as student:
        assert shown(student.run("import time\ntime.sleep(2)\nprint('réveil')")) == "réveil\n"


def test_attendre_sans_fin(watched):
    """Ce qui attend sans calculer est arrêté ; la limite est nommée, et la copie n'est pas encore jugée."""
    with copy_of(Limits(cell_seconds=0.2)) as student, pytest.raises(Lost, match=r"temps d'attente dépassé \(2 s sans calculer"):
        student.run("import time\ntime.sleep(600)")
    assert "temps d'attente dépassé" in student.starved


FLOOD = """
import channel, gc
peer = next(found for found in gc.get_objects() if isinstance(found, channel.Channel))
while True:
    peer._connection.send(channel.pack({"kind": "ask", "op": "callback", "number": 0, "args": {"t": []}, "kwargs": {"d": []}}))
"""
SILENCE = """
import signal, time
signal.signal(signal.SIGALRM, signal.SIG_IGN)
time.sleep(600)
"""


@pytest.mark.parametrize("code", [FLOOD, SILENCE], ids=["bavard", "muet"])
def test_ni_bavard_ni_muet_n_arrete_le_correcteur(code, monkeypatch, watched):
    """Une copie qui demande sans lire les réponses, ou qui ne répond plus, est tuée à sa limite."""
    monkeypatch.setattr(limits, "WAIT_GRACE", 1.0)
    with copy_of(Limits(cell_seconds=0.3)) as student:
        student.callbacks.append(lambda: "x" * 1000)
        with pytest.raises(Lost, match="temps (d'attente|de calcul) dépassé"):
            student.run(code)
        assert student.dead


def test_manquer_de_coeur_n_est_pas_attendre(watched):
    """Seize boucles sur un seul cœur : la copie y passe bien plus que son temps d'attente, et finit."""
    limit = Limits(cell_seconds=0.5)
    core = {min(os.sched_getaffinity(0))}
    # Chacune sa session : le noyau partage un cœur entre sessions avant de le partager entre processus.
    spin = [sys.executable, "-S", "-c", "while True: pass"]
    loops = [subprocess.Popen(spin, start_new_session=True) for _ in range(16)]
    try:
        with copy_of(limit) as student:
            for pid in [loop.pid for loop in loops] + [process.pid for process in student.meter._group.processes()]:
                os.sched_setaffinity(pid, core)
            before = time.monotonic()
            code = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass\nprint('fin')"
            assert shown(student.run(code)) == "fin\n" and student.starved is None
            assert time.monotonic() - before > limit.cell_wait
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


HEAVY = "import matplotlib.pyplot"  # plus d'un quart de seconde de calcul
TEST = cell("test", "test", "assert answer() == 4", 1)


def graded(cells):
    """Ce que le correcteur dit d'une copie, qui est aussi le devoir, à 0,15 s de calcul par cellule."""
    notebook = nbformat.v4.new_notebook(cells=cells)
    return correct(notebook, notebook, None, "bwrap", Limits(cell_seconds=0.15, notebook_seconds=1))


@pytest.mark.parametrize("given", [HEAVY, f"%precision 3\n{HEAVY}", "import helpers, matplotlib.pyplot as plt"])
def test_ce_que_le_devoir_charge_n_est_pas_compte(given):
    """Ni l'ouverture d'IPython, ni l'import des bibliothèques des cellules données."""
    result = graded([cell("donnee", "donnee", given), cell("reponse", "reponse", "%precision 2\ndef answer():\n    return 4"), TEST])
    assert result["errors"] == {} and result["tests"]["test"]["passed"] and result["incidents"] == []


def test_ce_que_la_copie_charge_est_compte():
    """Le même import, mais choisi par l'étudiant, est à lui."""
    result = graded([cell("reponse", "reponse", f"def answer():\n    return 4\n{HEAVY}"), TEST])
    assert "temps de calcul dépassé (0.15 s)" in result["incidents"][0]


# --- La mémoire, les processus, le disque -----------------------------------------------------------------------------

SMALL = Limits(cell_seconds=20, notebook_seconds=60, memory_mib=512, processes=40, file_mib=8, files=500)
CHILDREN = """
import os, time
for _ in range(30):
    if os.fork() == 0:
        block = bytearray(40 * 2**20)
        block[::4096] = b"x" * len(block[::4096])
        time.sleep(60)
        os._exit(0)
time.sleep(60)
"""
SHARED = """
import os, time
block = bytearray(200 * 2**20)
block[::4096] = b"x" * len(block[::4096])
for _ in range(10):
    if os.fork() == 0:
        time.sleep(1)
        os._exit(0)
for _ in range(10):
    os.wait()
print("FIN")
"""
EMPTY_FILES = "import itertools\nfor number in itertools.count():\n    open(f'/tmp/{number % 50}-{number}', 'w').close()"


def test_memoire_de_trente_fils(watched):
    """Trente fils de 40 Mio : chacun est sous la limite, tous ensemble la dépassent, et la copie s'arrête."""
    with copy_of(SMALL) as student, pytest.raises(Lost, match=r"mémoire totale dépassée \(512 Mio pour tous les processus"):
        student.run(CHILDREN)
    assert student.dead and student.starved is None


def test_memoire_partagee_comptee_une_fois(watched):
    """Dix fils qui partagent 200 Mio n'en occupent pas 2 000 : la copie n'est pas arrêtée."""
    with copy_of(SMALL) as student:
        assert shown(student.run(SHARED)) == "FIN\n"


def test_memoire_d_un_voisin(watched):
    """La copie d'à côté, au même moment, n'a rien vu."""
    with copy_of(SMALL) as greedy, copy_of(SMALL) as quiet:
        with pytest.raises(Lost):
            greedy.run(CHILDREN)
        assert shown(quiet.run("print(len(bytearray(100 * 2**20)))")) == "104857600\n"


def test_fichiers_vides(watched):
    """Les fichiers vides ne prennent pas de place ; leur nombre est borné quand même."""
    with copy_of(SMALL) as student, pytest.raises(Lost, match=r"trop de fichiers \(plus de 500\)"):
        student.run(EMPTY_FILES)


def test_disque_sans_bac():
    """Sans bubblewrap, le dossier de la copie est un vrai disque : le guetteur le borne."""
    fill = "import itertools, time\nfor number in itertools.count():\n    open(str(number), 'wb').write(bytes(2**20)); time.sleep(0.01)"
    with copy_of(SMALL, "processus") as student, pytest.raises(Lost, match=r"trop de place prise sur le disque \(plus de 24 Mio\)"):
        student.run(fill)


@root_only
def test_processus_en_nombre(watched):
    """Le quarantième processus est refusé ; au-dessous, la copie continue."""
    code = (
        "import os, time\ndone = 0\ntry:\n    for _ in range(50):\n        if os.fork() == 0:\n            time.sleep(30); os._exit(0)\n"
        "        done += 1\nexcept OSError: pass\nprint(done)"
    )
    with copy_of(SMALL) as student:
        assert 20 < int(shown(student.run(code))) < 40


HIDDEN_MEMORY = {
    "memfd_create": "import os\nos.memfd_create('cache')",
    "io_uring_setup": "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "if libc.syscall(425, 8, ctypes.create_string_buffer(120)) < 0: raise OSError(ctypes.get_errno())",
    "shmget": "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nif libc.shmget(0, 2**20, 0o1600) < 0: raise OSError(ctypes.get_errno())",
    "msgget": "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nif libc.msgget(0, 0o1600) < 0: raise OSError(ctypes.get_errno())",
}


@pytest.mark.parametrize("code", HIDDEN_MEMORY.values(), ids=HIDDEN_MEMORY)
def test_memoire_qui_n_est_a_personne(code):
    """Un fichier anonyme, un segment System V ou un anneau ne seraient comptés à aucun processus : le noyau les refuse."""
    with copy_of(SMALL) as student:
        answer = student.run(code)
    assert answer["status"] == "error" and answer["error"]["name"] in ("OSError", "PermissionError"), answer


# --- Les cœurs --------------------------------------------------------------------------------------------------------


def test_coeurs_de_l_affinite():
    """Un processus tenu à un cœur n'exécute qu'une copie à la fois, quelle que soit la machine."""
    code = "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nfrom autograder.cli import cores\nprint(cores())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


@pytest.mark.parametrize(("outer", "inner", "cores"), [
    ("max 100000", "max 100000", 64), ("max 100000", "50000 100000", 1), ("150000 100000", "400000 100000", 2),
    ("1600000 100000", "max 100000", 16), ("400000 100000", None, 4),
])  # fmt: skip
def test_coeurs_du_quota(outer, inner, cores, tmp_path, monkeypatch):
    """Un groupe de contrôle emboîté ne donne que le plus petit des quotas ; une fraction de cœur en est un."""
    group = tmp_path
    for name, quota in (("dehors", outer), ("dedans", inner)):
        group = group / name
        group.mkdir()
        (group / "cgroup.procs").touch()
        if quota is not None:
            (group / "cpu.max").write_text(f"{quota}\n")
    monkeypatch.setattr(groups, "own_group", lambda: group)
    monkeypatch.setattr("joblib.cpu_count", lambda: 64)
    assert usable_cores() == cores


def test_protection_annoncee():
    """`cours verifier-env` dit comment cette machine mesure et borne les copies."""
    done = subprocess.run([sys.executable, "-m", "course.cli", "verifier-env"], cwd=ROOT, capture_output=True, text=True)
    (line,) = [line for line in done.stdout.splitlines() if "protection des copies" in line]
    assert str(groups.protection()) in line and ("cgroup v2" in line or "psutil" in line) and "utilisable" in line
