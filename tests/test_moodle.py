"""Collecte d'une archive Moodle et export des notes : NB-26, NB-28, SEC-25 ; de vraies archives, faites ici."""

import csv
import io
import os
import re
import stat
import struct
import tempfile
import unicodedata
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.intake import moodle
from autograder.intake.moodle import Limits, collect, student_id
from autograder.intake.participants import Participant, read_participants, write_participants
from autograder.record.export import export_marks
from autograder.record.marks import Mark
from autograder.settings import UsageError

NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
HONEST = "Marie Dupont_7_assignsubmission_file_/ex01.ipynb"


def archive(path: Path, entries: dict[str, bytes] | list[tuple]) -> Path:
    """Écrit une vraie archive ; une liste de couples admet les doublons, un ZipInfo des attributs."""
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        warnings.simplefilter("ignore")  # « Duplicate name »
        for name, data in entries.items() if isinstance(entries, dict) else entries:
            file.writestr(name, data)
    return path


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def tree(folder: Path) -> set[str]:
    """Tout ce qu'un dossier contient, sauf les dossiers."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


@pytest.fixture
def course(tmp_path):
    (tmp_path / "cours").mkdir()
    return tmp_path / "cours"


def collected(course: Path, entries, **options):
    return collect(archive(course / "travaux.zip", entries), "ex01", course / "submitted", **options)


# --- Noms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Prénom Nom", "prenom-nom_12345"),
        ("Marie-Hélène de La Tour", "marie-helene-de-la-tour_12345"),
        ("Anaïs L'Écuyer", "anais-l-ecuyer_12345"),
        ("Anaïs L’Écuyer", "anais-l-ecuyer_12345"),
        ("Zoé Lœwe Straße", "zoe-loewe-strasse_12345"),
        ("Łukasz Øster", "lukasz-oster_12345"),
        ("Nguyễn Thị Ánh", "nguyen-thi-anh_12345"),
        ("李 明", "participant_12345"),
        ("", "participant_12345"),
        ("=cmd|' /C calc'!A0", "cmd-c-calc-a0_12345"),
        ("../../etc", "etc_12345"),
        ("*?[a],b+c", "a-b-c_12345"),
        ("x" * 300, "x" * 60 + "_12345"),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_identifiant_lisible_et_sans_danger(name, expected, form):
    """NB-26 : accents, apostrophes, traits d'union, deux formes d'Unicode, écritures non latines."""
    assert student_id(unicodedata.normalize(form, name), 12345) == expected


@pytest.mark.parametrize(
    ("entry_name", "path", "name"),
    [
        ("Prénom Nom_12345_assignsubmission_file_/ex01.ipynb", "prenom-nom_12345/ex01/ex01.ipynb", "Prénom Nom"),
        ("Prénom Nom_12345_assignsubmission_file_ex01.ipynb", "prenom-nom_12345/ex01/ex01.ipynb", "Prénom Nom"),
        ("Nom_5_assignsubmission_file_/mon dossier/été 2.ipynb", "nom_5/ex01/mon dossier/été 2.ipynb", "Nom"),
        ("Nom_5_assignsubmission_file_mon_devoir_1.ipynb", "nom_5/ex01/mon_devoir_1.ipynb", "Nom"),
        ("travaux/Nom_5_assignsubmission_file_/ex01.ipynb", "nom_5/ex01/ex01.ipynb", "Nom"),
        ("TD1-Jean Petit_5_assignsubmission_file_/ex01.ipynb", "td1-jean-petit_5/ex01/ex01.ipynb", "TD1-Jean Petit"),
        # Un fichier d'étudiant qui imite le nom d'un autre reste à son auteur.
        ("Nom_5_assignsubmission_file_Autre_6_assignsubmission_file_ex01.ipynb",
         "nom_5/ex01/Autre_6_assignsubmission_file_ex01.ipynb", "Nom"),
        ("Nom_5_assignsubmission_file_/Autre_6_assignsubmission_file_/ex01.ipynb",
         "nom_5/ex01/Autre_6_assignsubmission_file_/ex01.ipynb", "Nom"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_ou_va_un_fichier(course, entry_name, path, name, form):
    """Formes en dossiers et à plat, sous-dossiers, imitations ; les fichiers sont nommés en NFC."""
    report = collected(course, {unicodedata.normalize(form, entry_name): NOTEBOOK})
    assert tree(course / "submitted") == {path, "participants.csv"}
    assert (course / "submitted" / path).read_bytes() == NOTEBOOK
    assert report.collected == [path.split("/")[0]] and report.refused == report.ignored == []
    number = int(path.split("/")[0].rsplit("_")[1])
    expected = Participant(path.split("/")[0], "ex01", number, name)
    assert read_participants(course / "submitted/participants.csv") == [expected]


def test_nom_code_sans_utf8(course):
    """Un outil écrit de l'UTF-8 sans l'annoncer : zipfile lit « Zo├⌐ », nous réparons et le disons ; sinon nous gardons."""
    data = archive(course / "brut.zip", {"Zo__ Roy_5_assignsubmission_file_a.ipynb": NOTEBOOK}).read_bytes()
    for raw, expected, said in [
        ("Zoé".encode(), "zoe-roy_5", "lu comme de l'UTF-8"),
        ("Zo\u0082!".encode("latin-1"), "zoe-roy_5", "gardé tel quel"),  # 0x82 est « é » en cp437 et cp850
    ]:
        (course / "travaux.zip").write_bytes(data.replace(b"Zo__", raw))
        report = collect(course / "travaux.zip", "ex01", course / f"submitted{len(said)}")
        assert report.collected == [expected] and said in report.remarks[0]


def test_homonymes_et_un_etudiant_dans_deux_devoirs(course):
    """Deux homonymes d'un devoir restent deux ; un nom unique retrouve son identifiant, malgré un autre numéro Moodle."""
    submitted = course / "submitted"
    first, second = (
        archive(course / f"{len(names)}.zip", {f"{name}_assignsubmission_file_/a.ipynb": NOTEBOOK for name in names})
        for names in (["Léa Roy_1", "Luc Roy_2", "Luc Roy_3"], ["LÉA  ROY_11", "Luc Roy_12"])
    )
    assert collect(first, "ex01", submitted).collected == ["lea-roy_1", "luc-roy_2", "luc-roy_3"]
    report = collect(second, "ex02", submitted)
    assert report.collected == ["lea-roy_1", "luc-roy_12"] and "reconnu par son nom" in report.remarks[0]
    table = {(row.etudiant, row.devoir): row.numero for row in read_participants(submitted / "participants.csv")}
    assert table["lea-roy_1", "ex01"] == 1 and table["lea-roy_1", "ex02"] == 11
    assert collect(second, "ex02", submitted).unchanged == ["lea-roy_1", "luc-roy_12"]
    late = archive(course / "c.zip", {"Léa Roy_4_assignsubmission_file_/a.ipynb": NOTEBOOK})
    assert collect(late, "ex01", submitted).collected == ["lea-roy_4"], "même nom, même devoir : une autre personne"


def test_deux_homonymes_dont_un_seul_est_connu(course):
    """Un « Luc Roy » a rendu ex01, deux rendent ex02 : rien ne dit lequel, aucun n'est relié."""
    names = ["Luc Roy_1"], ["Luc Roy_12", "Luc Roy_13"]
    for assignment, group in zip(("ex01", "ex02"), names):
        entries = {f"{name}_assignsubmission_file_/a.ipynb": NOTEBOOK for name in group}
        report = collect(archive(course / "a.zip", entries), assignment, course / "submitted")
    assert report.collected == ["luc-roy_12", "luc-roy_13"] and report.remarks == []


def test_evaluation_anonyme(course):
    """Moodle nomme chacun « Participant » : le nom ne relie jamais deux devoirs."""
    for number, assignment in [(1, "ex01"), (2, "ex02")]:
        file = archive(course / "a.zip", {f"Participant_{number}_assignsubmission_file_/a.ipynb": NOTEBOOK})
        assert collect(file, assignment, course / "submitted").collected == [f"participant_{number}"]


def test_numero_porte_par_deux_noms(course):
    """Un numéro n'a qu'un nom : l'entrée qui en donne un autre est refusée."""
    report = collected(course, [(HONEST, NOTEBOOK), ("Autre_7_assignsubmission_file_b.ipynb", b"x")])
    assert tree(course / "submitted") == {"marie-dupont_7/ex01/ex01.ipynb", "participants.csv"}
    assert len(report.refused) == 1 and "le numéro 7 est déjà celui de Marie Dupont" in report.refused[0]


# Moodle remplace « _ » par une espace dans les noms ; zipfile ne sait pas écrire un octet nul.
NAMES = st.text(st.characters(exclude_characters="_/\0", exclude_categories=["Cs"]), max_size=80)


@settings(max_examples=150, deadline=None)
@given(NAMES, st.integers(1, 10**9), st.booleans())
def test_tout_nom_donne_un_dossier_sur_et_son_numero(name, number, flat):
    """Propriété : quel que soit le nom, rien ne sort de submitted/, l'identifiant est sûr et rend le numéro."""
    identifier = student_id(name, number)
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*_[0-9]+", identifier) and int(identifier.rsplit("_")[1]) == number
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder)
        moodle_name = f"{name}_{number}_assignsubmission_file_{'' if flat else '/'}ex01.ipynb"
        report = collected(course, {moodle_name: NOTEBOOK, "Témoin_0_assignsubmission_file_/ex01.ipynb": NOTEBOOK})
        rows = {row.numero: row for row in read_participants(course / "submitted/participants.csv")}
        assert {path.name for path in course.iterdir()} == {"travaux.zip", "submitted"}
        assert rows[0].etudiant == "temoin_0" and (course / "submitted/temoin_0/ex01/ex01.ipynb").is_file()
        if re.match("[A-Za-z]:", name) or "\\" in name or any(unicodedata.category(c) == "Cc" for c in name):
            assert len(report.refused) == 1
        else:
            assert (course / "submitted" / identifier / "ex01" / "ex01.ipynb").read_bytes() == NOTEBOOK
            assert rows[number].etudiant == identifier and report.refused == report.ignored == []


# --- Refus ----------------------------------------------------------------------------------------

STUDENT = "Paul Noir_8_assignsubmission_file_"
REFUSED = [
    ("remonte", f"{STUDENT}/../../../dehors.txt", "remonte hors de la copie"),
    ("remonte_au_debut", f"../{STUDENT}/a.txt", "remonte hors de la copie"),
    ("remonte_a_plat", f"{STUDENT}..", "vide ou « .. »"),
    ("absolu", "/tmp/dehors.txt", "chemin absolu"),
    ("absolu_dans_la_copie", f"{STUDENT}//tmp/dehors.txt", "vide ou « .. »"),
    ("oblique_inverse", f"{STUDENT}\\..\\dehors.txt", "barre oblique inverse"),
    ("lecteur", "C:/dehors.txt", "chemin absolu"),
    ("lecteur_dans_la_copie", f"{STUDENT}/C:dehors.txt", "lettre de lecteur"),
    ("terminal", f"{STUDENT}/\x1b[2Jdehors.txt", "caractère de contrôle"),
    ("nom_trop_long", f"{STUDENT}/{'é' * 128}.txt", "trop long"),
    ("lien", entry(f"{STUDENT}/notes.dat", stat.S_IFLNK | 0o777), "lien symbolique"),
    ("lien_vers_dossier", entry(f"{STUDENT}/dossier/", stat.S_IFLNK | 0o777), "lien symbolique"),
    ("tube", entry(f"{STUDENT}/tube", stat.S_IFIFO | 0o644), "fichier spécial"),
    ("peripherique", entry(f"{STUDENT}/disque", stat.S_IFBLK | 0o644), "fichier spécial"),
    ("prise", entry(f"{STUDENT}/prise", stat.S_IFSOCK | 0o644), "fichier spécial"),
]


@pytest.mark.parametrize(("name", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_entree_refusee_nommee_sans_arreter_les_autres(course, name, reason):
    """SEC-25 : l'entrée est refusée, nommée, n'écrit rien ; la copie d'à côté est collectée."""
    before = {path.name for path in course.parent.iterdir()}
    report = collected(course, [(name, b"../../gradebook.db"), (HONEST, NOTEBOOK)])
    assert len(report.refused) == 1 and reason in report.refused[0] and "\x1b" not in report.refused[0]
    assert tree(course) == {"travaux.zip", "submitted/participants.csv", "submitted/marie-dupont_7/ex01/ex01.ipynb"}
    assert {path.name for path in course.parent.iterdir()} == before and not Path("/tmp/dehors.txt").exists()
    assert "marie-dupont_7" in report.collected


def test_octet_nul_dans_un_nom(course):
    """zipfile coupe le nom à l'octet nul (« a.txt ») : nous lisons le nom entier et refusons."""
    path = archive(course / "travaux.zip", {f"{STUDENT}/a.txtZ.ipynb": NOTEBOOK, HONEST: NOTEBOOK})
    path.write_bytes(path.read_bytes().replace(b"a.txtZ", b"a.txt\0"))
    report = collect(path, "ex01", course / "submitted")
    assert len(report.refused) == 1 and "a.txt\\x00.ipynb : caractère de contrôle" in report.refused[0]


def test_une_copie_toute_refusee_reste_visible(course):
    """Son dossier existe, vide : la notation la nommera, au lieu d'oublier l'étudiant."""
    report = collected(course, {f"{STUDENT}/../a.ipynb": b"", HONEST: NOTEBOOK})
    assert (course / "submitted/paul-noir_8/ex01").is_dir()
    assert any("paul-noir_8 : pas de notebook" in remark for remark in report.remarks)


def patched(path: Path, name: str, offset: int, value: bytes, central: bool = True, local: bool = True) -> None:
    """Change l'en-tête d'une entrée : `offset` est celui de l'en-tête central ; l'en-tête local en est décalé de 2."""
    data = bytearray(path.read_bytes())
    for magic, shift, size, wanted in [(b"PK\x01\x02", 0, 46, central), (b"PK\x03\x04", -2, 30, local)]:
        position = data.find(magic)
        while position >= 0 and wanted:
            if data[position + size : position + size + len(name)] == name.encode():
                data[position + offset + shift : position + offset + shift + len(value)] = value
            position = data.find(magic, position + 1)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("offset", "value", "reason"),
    [
        (8, struct.pack("<H", 1), "chiffrée"),
        (10, struct.pack("<H", 12), "méthode de compression"),
        (10, struct.pack("<H", 99), "méthode de compression"),
        (16, b"\0\0\0\0", "abîmée"),  # somme de contrôle
        (24, struct.pack("<I", 10), "abîmée"),  # taille annoncée plus petite que la vraie
        (24, struct.pack("<I", 50_000_000), "bombe"),  # annoncée plus grande : refusée sans être lue
        (24, struct.pack("<I", 4_000_000_000), "trop gros"),
        (42, struct.pack("<I", 3), "abîmée"),  # l'en-tête local n'est pas là
    ],
    ids=["chiffree", "bzip2", "methode-inconnue", "crc", "taille-petite", "taille-ratio", "taille-grande", "deplacee"],
)
def test_entree_abimee_ou_menteuse(course, offset, value, reason):
    """L'entrée est refusée et ne laisse rien dans la copie ; les autres fichiers sont pris."""
    name = f"{STUDENT}/donnees.txt"
    path = archive(course / "travaux.zip", {name: b"texte " * 1000, f"{STUDENT}/a.ipynb": NOTEBOOK, HONEST: NOTEBOOK})
    patched(path, name, offset, value, local=offset not in (24, 42))
    report = collect(path, "ex01", course / "submitted")
    assert len(report.refused) == 1 and reason in report.refused[0] and "donnees.txt" in report.refused[0]
    assert tree(course / "submitted") == {
        "participants.csv", "marie-dupont_7/ex01/ex01.ipynb", "paul-noir_8/ex01/a.ipynb"
    }  # fmt: skip


def test_donnees_comprimees_abimees(course):
    """Un octet changé au milieu des données : zlib ou la somme de contrôle le voit."""
    path = archive(course / "travaux.zip", {f"{STUDENT}/a.txt": os.urandom(2000).hex().encode(), HONEST: NOTEBOOK})
    data = bytearray(path.read_bytes())
    data[600] ^= 0xFF
    path.write_bytes(bytes(data))
    report = collect(path, "ex01", course / "submitted")
    assert len(report.refused) == 1 and "abîmée" in report.refused[0]


@pytest.mark.parametrize("lie", [False, True], ids=["annoncee", "taille-mentie"])
def test_bombe_de_200_mo(course, monkeypatch, lie):
    """200 Mo de zéros dans 200 ko : refusés ; au plus le plafond est lu, et rien ne reste sur le disque."""
    bomb = f"{STUDENT}/bombe.ipynb"
    path = course / "travaux.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        with file.open(bomb, "w") as sink:
            for _ in range(200):
                sink.write(bytes(1024 * 1024))
        file.writestr(HONEST, NOTEBOOK)
    if lie:
        patched(path, bomb, 24, struct.pack("<I", 1000), local=False)
    assert path.stat().st_size < 300_000
    read = []
    original = zipfile.ZipExtFile.read

    def counted(self, n=-1):
        read.append(len(data := original(self, n)))
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    report = collect(path, "ex01", course / "submitted")
    assert len(report.refused) == 1 and ("abîmée" if lie else "trop gros") in report.refused[0]
    assert sum(read) < 100_000
    assert tree(course / "submitted") == {"participants.csv", "marie-dupont_7/ex01/ex01.ipynb"}


def test_la_taille_reelle_est_plafonnee_meme_si_l_annonce_est_fausse(course, monkeypatch):
    """Sans l'annonce (bibliothèque qui ne l'appliquerait pas), la lecture par morceaux s'arrête au plafond."""
    path = archive(course / "travaux.zip", {f"{STUDENT}/gros.txt": os.urandom(3_000_000), HONEST: NOTEBOOK})
    seen = []
    original = moodle._Budget.check

    def check(self, size, compressed):
        seen.append(size)
        if size != 3_000_000:  # l'annonce, que ce test fait taire
            original(self, size, compressed)

    monkeypatch.setattr(moodle._Budget, "check", check)
    report = collect(path, "ex01", course / "submitted", Limits(file=1_000_000))
    assert len(report.refused) == 1 and "trop gros" in report.refused[0]
    assert max(size for size in seen if size != 3_000_000) < 1_000_000 + 2 * moodle.CHUNK
    assert not (course / "submitted/paul-noir_8/ex01/gros.txt").exists()


@pytest.mark.parametrize(
    ("limits", "refused", "reason"),
    [
        (Limits(file=1000), 4, "trop gros"),
        (Limits(copy=5000), 2, "trop gros"),
        (Limits(copy=6500), 0, ""),
        (Limits(total=9000), 1, "trop gros"),
        (Limits(ratio_from=1000, ratio=10), 4, "bombe"),
        (Limits(files=1), 2, "2 fichiers dans la copie"),
    ],
    ids=["fichier", "copie", "copie-suivante", "total", "ratio", "nombre"],
)
def test_plafonds(course, limits, refused, reason):
    """Deux copies de deux fichiers de 2000 et 4000 octets, très compressibles, et une petite qui passe toujours."""
    entries = {f"{name}_assignsubmission_file_/{size}.txt": b"a" * size for name in ("A_1", "B_2") for size in (2000, 4000)}
    entries["Ève_0_assignsubmission_file_/ex01.ipynb"] = NOTEBOOK
    report = collected(course, entries, limits=limits)
    assert len(report.refused) == refused and all(reason in line for line in report.refused)
    assert (course / "submitted/eve_0/ex01/ex01.ipynb").is_file()


def test_un_notebook_honnete_tres_repetitif_passe(course):
    """200 000 lignes identiques (4 Mo, comprimées plus de 100 fois) ne sont pas une bombe."""
    report = collected(course, {HONEST: b'{"cells": ["' + b"une ligne de sortie\\n" * 200_000 + b'"]}'})
    assert report.collected == ["marie-dupont_7"] and report.refused == []


@pytest.mark.parametrize(
    "names",
    [
        ("/a.txt", "/a.txt"),
        ("/é.txt", "/e\u0301.txt"),
        ("/a.txt", "a.txt"),
        ("/a.txt", "/a.txt/b.txt"),
        ("/a/b.txt", "/a"),
    ],
    ids=["meme-nom", "NFC-NFD", "dossier-et-plat", "fichier-puis-dossier", "dossier-puis-fichier"],
)
def test_doublon_le_premier_est_garde(course, names):
    report = collected(course, [(STUDENT + names[0], b"premier"), (STUDENT + names[1], b"second"), (HONEST, NOTEBOOK)])
    assert len(report.refused) == 1 and "deux fois" in report.refused[0]
    files = [path for path in (course / "submitted/paul-noir_8").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in files] == [b"premier"]


def test_un_doublon_trop_gros_n_efface_pas_le_premier(course):
    entries = [(f"{STUDENT}/a.ipynb", NOTEBOOK), (f"{STUDENT}/a.ipynb", b"x" * 2000)]
    report = collected(course, entries, limits=Limits(file=1000))
    assert len(report.refused) == 1 and (course / "submitted/paul-noir_8/ex01/a.ipynb").read_bytes() == NOTEBOOK


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "n'est pas une archive ZIP lisible"),
        (b"%PDF-1.7", "n'est pas une archive ZIP lisible"),
        ("tronquee", "tronquée"),
        ("vide", "aucun travail remis"),
        ("etrangere", "aucun travail remis"),
        ("trop", "plus de 2 entrées"),
        (None, "n'existe pas"),
    ],
)
def test_archive_inutilisable(course, content, message):
    """Code 2 : une phrase, la réparation, et rien d'écrit."""
    path = course / "travaux.zip"
    if content == "tronquee":
        path.write_bytes(archive(path, {HONEST: NOTEBOOK}).read_bytes()[:-30])
    elif content == "vide":
        archive(path, {})
    elif content == "etrangere":
        archive(path, {"ex01.ipynb": NOTEBOOK})
    elif content == "trop":
        archive(path, {f"A_{n}_assignsubmission_file_/a.ipynb": b"" for n in range(3)})
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        collect(path, "ex01", course / "submitted", Limits(entries=2))
    assert not (course / "submitted").exists()


def test_devoir_inconnu_du_cours(course):
    """Une faute de frappe dans le nom du devoir se voit dès la collecte."""
    (course / "source/ex02").mkdir(parents=True)
    with pytest.raises(UsageError, match="n'existe pas dans source/ : choisissez parmi ex02"):
        collected(course, {HONEST: NOTEBOOK})


@pytest.mark.parametrize("assignment", ["", "..", "a/b", "ex+01", "ex 01", "ex*"])
def test_nom_de_devoir_impropre(course, assignment):
    with pytest.raises(UsageError, match="n'est pas un nom de devoir"):
        collect(archive(course / "a.zip", {HONEST: NOTEBOOK}), assignment, course / "submitted")


def test_textes_en_ligne_et_fichiers_etrangers_ignores_et_nommes(course):
    report = collected(course, {
        HONEST: NOTEBOOK,
        "Marie Dupont_7_assignsubmission_onlinetext_/onlinetext.html": b"<p>bonjour</p>",
        "Marie Dupont_7_assignsubmission_onlinetext.html": b"",
        "lisez-moi.txt": b"",
        "__MACOSX/Marie Dupont_7_assignsubmission_file_/._ex01.ipynb": b"",
        "Marie Dupont_7_assignsubmission_file_/.DS_Store": b"",
    })  # fmt: skip
    assert tree(course / "submitted") == {"marie-dupont_7/ex01/ex01.ipynb", "participants.csv"}
    assert len(report.ignored) == 3 and "onlinetext" in report.ignored[0] and report.refused == []


# --- Nouvelle collecte ----------------------------------------------------------------------------


def test_nouvelle_collecte(course):
    """Même archive : inchangée ; autre contenu : remplacée, et dit ; sans notebook : l'ancienne copie est gardée."""
    other = "Ali Ben_9_assignsubmission_file_/ex01.ipynb"
    assert collected(course, {HONEST: NOTEBOOK, other: NOTEBOOK}).collected == ["marie-dupont_7", "ali-ben_9"]
    assert collected(course, {HONEST: NOTEBOOK, other: NOTEBOOK}).unchanged == ["marie-dupont_7", "ali-ben_9"]
    report = collected(course, {HONEST: NOTEBOOK + b" ", HONEST.replace("ex01", "brouillon"): b""})
    assert report.replaced == ["marie-dupont_7"] and report.collected == report.unchanged == []
    copy = course / "submitted/marie-dupont_7/ex01"
    assert tree(copy) == {"ex01.ipynb", "brouillon.ipynb"} and (copy / "ex01.ipynb").read_bytes() == NOTEBOOK + b" "
    assert (course / "submitted/ali-ben_9/ex01/ex01.ipynb").is_file(), "une copie absente de l'archive reste"
    report = collected(course, {HONEST.replace("ex01.ipynb", "rapport.pdf"): b"%PDF"})
    assert tree(copy) == {"ex01.ipynb", "brouillon.ipynb"} and "la copie déjà collectée est gardée" in report.refused[0]
    assert len(read_participants(course / "submitted/participants.csv")) == 2
    assert not (course / "submitted/.collecte").exists()


def test_une_collecte_interrompue_reprend(course):
    """Les restes d'une collecte tuée ne sont pris ni pour une copie ni pour un étudiant."""
    leftover = course / "submitted/.collecte/paul-noir_8"
    leftover.mkdir(parents=True)
    (leftover / "a.ipynb").write_bytes(b"")
    collected(course, {HONEST: NOTEBOOK})
    assert tree(course / "submitted") == {"marie-dupont_7/ex01/ex01.ipynb", "participants.csv"}


@pytest.mark.parametrize(
    "text",
    [
        "etudiant;devoir\na\n",
        "etudiant,devoir,numero,nom\n../x,ex01,3,N\n",
        "etudiant,devoir,numero,nom\na,ex01,trois,N\n",
        "etudiant,devoir,numero,nom\na,ex01,3,N\na,ex01,4,N\n",
        "etudiant,devoir,numero,nom\na\n",
    ],
)
def test_table_des_participants_abimee(course, text):
    (course / "submitted").mkdir()
    (course / "submitted/participants.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="effacez-la, puis collectez de nouveau"):
        collected(course, {HONEST: NOTEBOOK})


# --- Export ---------------------------------------------------------------------------------------

PARTICIPANTS = [
    Participant("lea-roy_1", "ex01", 1, "Léa Roy"),
    Participant("lea-roy_1", "ex02", 11, "Léa Roy"),
    Participant("formule_2", "ex01", 2, '=HYPERLINK("x";"y"), "Bob"'),
    Participant("absente_3", "ex01", 3, "Absente Dès Lors"),
    Participant("luc_4", "ex01", 4, "Luc"),
]
MARKS = [
    Mark("lea-roy_1", "ex01", 17.5, 20, "note"),
    Mark("formule_2", "ex01", None, 20, "erreur", "+ notebook illisible ;\nligne 2"),
    Mark("luc_4", "ex01", 0.0, 20, "a_relire", "copie réparée"),
    Mark("sans_numero", "ex01", 12 + 1 / 3, 20, "note"),
]


def rows(path: Path, delimiter: str) -> list[dict]:
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf") and data.count(b"\xef\xbb\xbf") == 1
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter))


def test_export_csv(tmp_path):
    """NB-28 : point-virgule, virgule décimale, BOM ; case vide pour une copie en erreur ; personne n'est oublié."""
    report = export_marks(MARKS, PARTICIPANTS, tmp_path / "notes_excel.csv")
    found = rows(tmp_path / "notes_excel.csv", ";")
    assert list(found[0]) == ["etudiant", "nom", "devoir", "numero", "note", "note_max", "statut", "motif"]
    assert [(row["etudiant"], row["numero"], row["note"], row["statut"]) for row in found] == [
        ("lea-roy_1", "1", "17,5", "note"),
        ("formule_2", "2", "", "erreur"),
        ("luc_4", "4", "0", "a_relire"),
        ("sans_numero", "", "12,33333", "note"),
    ]
    assert found[1]["nom"] == '\'=HYPERLINK("x";"y"), "Bob"' and found[1]["motif"] == "'+ notebook illisible ; ligne 2"
    assert len(report.failures) == 2 and report.failures[0].startswith("formule_2, ex01 : pas de note")
    assert report.failures[1].startswith("absente_3, ex01 : copie collectée, absente des notes")
    assert report.remarks == ["sans_numero, ex01 : pas de numéro de participant, la case reste vide."]


def test_export_moodle(tmp_path):
    """Les trois colonnes que Moodle cherche par leur nom, l'identifiant complet, la virgule ; jamais un 0 inventé."""
    report = export_marks(MARKS, PARTICIPANTS, tmp_path / "moodle.csv", "moodle")
    assert (tmp_path / "moodle.csv").read_text("utf-8-sig").splitlines() == [
        "Identifiant,Nom complet,Statut,Note,Note maximale,Dernière modification (note)",
        'Participant 1,Léa Roy,note,"17,5",20,-',
        'Participant 2,"\'=HYPERLINK(""x"";""y""), ""Bob""",erreur : + notebook illisible ; ligne 2,,20,-',
        "Participant 4,Luc,a_relire : copie réparée,0,20,-",
    ]
    assert report.files == [tmp_path / "moodle.csv"]
    assert any(line.startswith("sans_numero, ex01 : pas de numéro") for line in report.failures)


def test_export_moodle_un_fichier_par_devoir(tmp_path):
    marks = [*MARKS, Mark("lea-roy_1", "ex02", 10, 10, "note")]
    report = export_marks(marks, PARTICIPANTS, tmp_path / "moodle.csv", "moodle")
    assert [path.name for path in report.files] == ["moodle_ex01.csv", "moodle_ex02.csv"]
    assert [row["Identifiant"] for row in rows(report.files[1], ",")] == ["Participant 11"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, ""), (float("nan"), ""), (float("inf"), ""), (0.0, "0"), (20, "20"), (100, "100"), (1e6, "1000000"),
     (0.1 + 0.2, "0,3"), (13.333333333, "13,33333"), (2.50, "2,5")],
)  # fmt: skip
def test_ecriture_d_une_note(tmp_path, value, expected):
    export_marks([Mark("a_1", "ex01", value, 20, "note")], [], tmp_path / "n.csv")
    assert rows(tmp_path / "n.csv", ";")[0]["note"] == expected


@pytest.mark.parametrize(
    ("marks", "format", "message"),
    [
        ([], "csv", "Aucune note à exporter"),
        (MARKS, "xls", "choisissez csv ou moodle"),
        (MARKS[3:], "moodle", "cours collecter"),
    ],
)
def test_export_impossible(tmp_path, marks, format, message):
    with pytest.raises(UsageError, match=message):
        export_marks(marks, PARTICIPANTS, tmp_path / "n.csv", format)
    assert list(tmp_path.iterdir()) == []


def test_export_vers_un_chemin_interdit(tmp_path):
    (tmp_path / "n.csv").mkdir()
    with pytest.raises(UsageError, match="ne peut pas être écrit"):
        export_marks(MARKS, PARTICIPANTS, tmp_path / "n.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["n.csv"]


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text("'=+-@＝a", max_size=6))
def test_les_noms_font_l_aller_retour_et_ne_sont_jamais_des_formules(name):
    """Propriété : la table rend le nom tel quel ; aucun champ écrit ne commence comme une formule."""
    name = moodle._normal(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "participants.csv"
        write_participants([Participant("a_1", "ex01", 1, name)], path)
        assert read_participants(path) == [Participant("a_1", "ex01", 1, name)]
        export_marks([Mark("a_1", "ex01", 1.0, 20, "note")], read_participants(path), Path(folder) / "n.csv")
        assert not rows(Path(folder) / "n.csv", ";")[0]["nom"].startswith(("=", "+", "-", "@", "\t", "\r", "＝"))


def test_de_l_archive_a_la_feuille_moodle(course):
    """Un aller-retour complet : le numéro de l'archive est celui de la feuille."""
    report = collected(course, {f"Étudiant {n}_{900 + n}_assignsubmission_file_ex01.ipynb": NOTEBOOK for n in range(3)})
    participants = read_participants(course / "submitted/participants.csv")
    export_marks([Mark(name, "ex01", 10 + index, 20, "note") for index, name in enumerate(report.collected)],
                 participants, course / "m.csv", "moodle")  # fmt: skip
    assert [(row["Identifiant"], row["Note"]) for row in rows(course / "m.csv", ",")] == [
        ("Participant 900", "10"), ("Participant 901", "11"), ("Participant 902", "12")
    ]  # fmt: skip
