"""Le canal entre le correcteur et la copie : propriétés de l'aller-retour, et messages abîmés de toutes les façons."""

import json
import math
import socket
import struct
import threading
import time
from collections import Counter, OrderedDict, defaultdict, namedtuple
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.execution import channel
from autograder.execution.channel import MAX_BYTES, MAX_DEPTH, MAX_DIGITS, Channel, Closed, Refused, decode, encode, pack, unpack
from autograder.execution.limits import Limits, Meter
from autograder.judgement.preprocessor import safe_outputs
from autograder.judgement.proxy import Lost, Student, rebuilt

FAST = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# L'ensemble fermé : scalaires, puis listes, tuples, ensembles et dictionnaires emboîtés.
TEXTS = st.text(st.characters(), max_size=20)  # moitiés de caractères (« \ud800 ») comprises
SCALARS = st.none() | st.booleans() | st.integers() | st.integers(-(2**14000), 2**14000) | st.floats() | TEXTS
KEYS = st.recursive(st.integers() | TEXTS | st.booleans(), lambda inner: st.tuples(inner, inner), max_leaves=4)
HASHABLE = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4)
    | st.lists(inner, max_size=4).map(tuple)
    | st.sets(HASHABLE, max_size=4)
    | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)


def same(left, right) -> bool:
    """Égalité des valeurs et de leurs types exacts ; nan est égal à nan, et 0.0 n'est pas -0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return math.isnan(left) and math.isnan(right) or (left == right and math.copysign(1, left) == math.copysign(1, right))
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left.items(), right.items()))
    if isinstance(left, set):
        return len(left) == len(right) and all(any(same(a, b) for b in right) for a in left)
    return left == right


def trip(value):
    """La valeur telle qu'elle arrive de l'autre côté, octets compris."""
    return decode(unpack(pack({"value": encode(value)})[4:])["value"])


@FAST
@given(VALUES)
def test_aller_retour(value):
    """Toute valeur de l'ensemble fermé revient égale, avec son type exact."""
    assert same(trip(value), value)


@pytest.mark.parametrize(
    "value",
    [
        math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, 2**14189, -(2**14189), "", "\ud800", "\0", "é" * 1000,
        (), [], set(), {}, {(): 1}, {(1, ("a", 2)): [None]}, {True: 1, 2: 2}, {1, 1.5, "a", None, (1, 2)}, {"l": [1]}, {"d": {}},
        [[[[[]]]]], {"h": 0}, {"c": 0}, {"i": "x"},
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_valeurs_de_bord(value):
    """Bords : flottants spéciaux, grands entiers, textes impossibles à écrire en UTF-8, dictionnaires qui imitent une étiquette."""
    assert same(trip(value), value)


Point = namedtuple("Point", "x y")


class Liar(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__

    def hex(self):
        return "0x0p+0"


class LiarText(str):
    def __str__(self):
        return "autre"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.5), 0.5), (np.float32(0.5), 0.5), (np.int64(3), 3), (np.bool_(True), True), (np.str_("é"), "é"),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]), (np.array(2.5), 2.5), (np.array([0.5, np.inf]), [0.5, math.inf]),
        ([np.float64(1), (np.int8(2),)], [1.0, (2,)]), ({np.int64(1): np.float64(2)}, {1: 2.0}), (np.longdouble(0.5), 0.5),
        (Counter("aab"), {"a": 2, "b": 1}), (OrderedDict(a=1), {"a": 1}), (defaultdict(int, {(1, 2): 3}), {(1, 2): 3}),
        (Point(1, 2.0), (1, 2.0)), (Fraction(1, 4), 0.25), (frozenset({1}), {1}), (Liar(0.25), 0.25), (LiarText("a"), "a"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_valeurs_rendues_simples(value, expected):
    """numpy, Counter, namedtuple, Fraction et sous-classes : l'autre bout n'a que la valeur ordinaire, de type exact."""
    assert same(trip(value), expected)


def cyclic():
    value = []
    value.append(value)
    return value


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (object(), "de type object"), (1j, "de type complex"), (b"a", "de type bytes"), (int, "de type type"), (print, "de type builtin"),
        (lambda: 1, "de type function"), ((number for number in []), "de type generator"), (range(3), "de type range"),
        ({None: 1}, "clé de dictionnaire de type NoneType"), ({1.5: 1}, "clé de dictionnaire de type float"), ([{b"a": 1}], "de type bytes"),
        (cyclic(), f"plus de {MAX_DEPTH} niveaux"), (deep(MAX_DEPTH + 1), "niveaux"), (10**MAX_DIGITS, "chiffres"), (-(10**5000), "chiffres"),
        (np.array([1j]), "de type complex"), (np.datetime64("2026-01-01"), "de type date"), (np.sum, "de type"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_hors_de_l_ensemble(value, reason):
    """Toute autre valeur est un refus qui la nomme."""
    with pytest.raises(Refused, match=reason):
        encode(value)


ANYTHING = st.recursive(
    VALUES | st.complex_numbers() | st.binary(max_size=5) | st.just(object()) | st.fractions() | st.decimals(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.floats() | st.none(), inner, max_size=3),
    max_leaves=10,
)


@FAST
@given(ANYTHING)
def test_valeur_ou_refus(value):
    """Quelle que soit la valeur : elle passe, ou elle est refusée ; rien d'autre n'est levé."""
    try:
        trip(value)
    except Refused as refusal:
        assert str(refusal)


def test_profondeur_permise():
    """À la limite, la valeur passe ; la plus profonde possible, faite de dictionnaires, tient dans les bornes du message."""
    assert trip(deep(MAX_DEPTH)) == deep(MAX_DEPTH)
    value = 1
    for _ in range(MAX_DEPTH):
        value = {"a": value}
    assert trip(value) == value


def test_valeur_trop_grosse():
    """Une valeur de plus de 4 Mio est refusée avant d'être envoyée."""
    with pytest.raises(Refused, match="plus de 4 Mio"):
        pack({"value": encode("x" * MAX_BYTES)})


# --- Messages abîmés ---------------------------------------------------------------------------------------------------


def read(content: bytes):
    """Lit des octets comme le fait le correcteur ; un refus est la seule erreur permise."""
    try:
        message = unpack(content)
        return decode(message.get("value"), lambda tag, number: (tag, number))
    except Refused as refusal:
        assert str(refusal)
        return Refused


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("iftlsdhcx") | TEXTS, inner, max_size=2),
    max_leaves=20,
)


@FAST
@given(st.binary(max_size=300))
def test_octets_au_hasard(content):
    """Des octets quelconques sont lus ou refusés, jamais autre chose."""
    read(content)


@FAST
@given(TREES)
def test_arbres_au_hasard(tree):
    """Un JSON quelconque, étiquettes justes ou fausses, contenus du mauvais type."""
    read(json.dumps({"value": tree}).encode())


@FAST
@given(VALUES, st.integers(0, 10**6), st.integers(0, 255), st.sampled_from(["change", "cut", "insert"]))
def test_message_mute(value, place, byte, how):
    """Un message juste dont un octet est changé, ajouté, ou dont la fin manque."""
    content = bytearray(pack({"value": encode(value)})[4:])
    place %= len(content)
    if how == "change":
        content[place] = byte
    elif how == "cut":
        del content[place:]
    else:
        content.insert(place, byte)
    read(bytes(content))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"1", b"null", b'"a"', b"{", b"\xff\xfe", b"{}{}", b'{"value":' + b"[" * 10**6, b'{"value":' + b'{"l":[' * 200 + b"]}" * 200,
        b'{"value":' + b"9" * 10**6 + b"}", b'{"value":{"i":"' + b"9" * 10**6 + b'"}}', b'{"value":{"i":"1' + "٣".encode() + b'x"}}',
        b'{"value":{"f":"0x1p999999999999"}}', b'{"value":{"f":"' + b"1" * 10**6 + b'"}}', b'{"value":{"f":1}}', b'{"value":{"i":1}}',
        b'{"value":{"s":[{"l":[]}]}}', b'{"value":{"d":[[{"f":"nan"},null]]}}', b'{"value":{"d":[[{"t":[{"l":[]}]},null]]}}',
        b'{"value":{"d":[[null]]}}', b'{"value":{"d":{"a":1}}}', b'{"value":{"l":"abc"}}', b'{"value":{"h":true}}', b'{"value":{"h":1.5}}',
        b'{"value":{"l":[],"t":[]}}', b'{"value":{"z":1}}', b'{"value":1}', b'{"value":NaN}', b'{"value":[1]}', b'{"value":{}}',
        b'{"value":{"i":"' + b"9" * (MAX_DIGITS + 2) + b'"}}', b'{"value":{"i":"\\ud800"}}',
    ],
    ids=lambda content: content[:40].decode("utf-8", "replace"),
)  # fmt: skip
def test_messages_refuses(content):
    """Chaque message mal formé est un refus."""
    assert read(content) is Refused


@pytest.mark.parametrize("start", [b'"', b'{"value":"', b""], ids=["chaîne", "valeur", "rien"])
@pytest.mark.parametrize("unit", [b'\\"', b'"', b"\\", b"[", b'"\\', b"a", b'{"'], ids=repr)
def test_message_interminable(start, unit):
    """Le temps de lecture est proportionnel à la longueur, même pour une chaîne jamais fermée : moins de 5 s pour 4 Mio."""
    content = (start + unit * MAX_BYTES)[:MAX_BYTES]
    before = time.process_time()
    assert read(content) is Refused
    assert time.process_time() - before < 5


# --- Le socket ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


@FAST
@given(st.binary(max_size=200), st.booleans())
def test_canal_bombarde(content, framed):
    """Octets quelconques à la place d'une réponse : refus ou fermeture."""
    ours, theirs = socket.socketpair()
    try:
        theirs.sendall(struct.pack("!I", len(content)) + content if framed else content)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises((Refused, Closed)):
            Channel(ours, lambda message: {}).ask({"op": "x"})
    finally:
        ours.close()
        theirs.close()


def test_longueur_annoncee_trop_grande(ends):
    """Une longueur de 4 Gio est refusée sans rien attendre."""
    ours, theirs = ends
    theirs.sendall(b"\xff\xff\xff\xff")
    with pytest.raises(Refused, match="trop long"):
        Channel(ours, dict).ask({"op": "x"})


def test_fermeture(ends):
    """L'autre bout disparaît : Closed."""
    ours, theirs = ends
    theirs.close()
    with pytest.raises(Closed):
        Channel(ours, dict).ask({"op": "x"})


def test_reponse_trop_grosse_n_arrete_pas_le_canal(ends):
    """Une réponse de plus de 4 Mio devient un refus ; la demande suivante est servie."""
    ours, theirs = ends
    answers = iter([{"status": "ok", "value": "x" * MAX_BYTES}, {"status": "ok", "value": "court"}])
    thread = threading.Thread(target=Channel(theirs, lambda message: next(answers)).serve)
    thread.start()
    asking = Channel(ours, dict)
    first, second = (asking.ask({"op": "x"}) for _ in range(2))
    ours.close()
    thread.join()
    assert first["status"] == "refused" and "4 Mio" in first["reason"]
    assert second["value"] == "court"


class Still:
    """Les processus d'une copie qui ne consomme rien."""

    kernel_bounds = True

    def cpu_seconds(self):
        return 0.0

    def queued_seconds(self):
        return 0.0

    def killed_by_memory(self):
        return False


@FAST
@given(st.dictionaries(st.sampled_from(["kind", "op", "number", "args", "kwargs", "status", "value", "error", "reason"]), TREES, max_size=6))
def test_le_correcteur_survit_a_toute_reponse(message):
    """Quel que soit le message de la copie, le correcteur a une valeur, une erreur ordinaire, ou Lost avec sa raison."""
    ours, theirs = socket.socketpair()
    try:
        student = Student(ours, Meter(Limits(cell_seconds=0.005), Still()))
        student.meter.open_notebook()
        theirs.sendall(pack(json.loads(json.dumps(message | {"kind": message.get("kind", "answer")}).replace("NaN", "0").replace("Infinity", "0"))))
        theirs.shutdown(socket.SHUT_WR)
        try:
            student.call(0, (), {})
        except Lost as lost:
            assert str(lost) == student.lost
        except Exception as error:  # noqa: BLE001
            assert message["status"] == "raised", error
    finally:
        student.meter.close()
        ours.close()
        theirs.close()


@FAST
@given(TREES)
def test_erreurs_et_sorties_quelconques(tree):
    """L'erreur et les sorties annoncées par la copie ne font jamais échouer le correcteur."""
    assert isinstance(rebuilt(tree), Exception)
    assert isinstance(rebuilt({"bases": tree, "message": tree, "name": tree}), Exception)
    assert isinstance(safe_outputs(tree, tree), list)
    assert isinstance(safe_outputs([{"output_type": "stream", "text": tree}, {"data": {"text/plain": tree, "image/png": tree}}], {"traceback": tree}), list)


def test_ce_module_ne_demande_que_la_bibliotheque_standard():
    """Le canal est chargé dans le bac à sable : rien du cours, rien d'installé."""
    source = open(channel.__file__, encoding="utf-8").read()
    assert "import numpy" not in source and "autograder" not in source
