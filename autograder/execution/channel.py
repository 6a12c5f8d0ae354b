"""Le canal entre le correcteur et le processus de l'étudiant : des valeurs simples, et rien d'autre.

Les deux bouts ne se font pas confiance. Aucun n'a d'échéance ici : c'est le guetteur de `limits` qui arrête un bout muet ou bavard. Un message est un JSON précédé de sa longueur ; sa taille, sa profondeur et ses nombres
sont bornés avant d'être lus. Une valeur appartient à un ensemble fermé, chaque type porte son étiquette :

    None, bool, str   tels quels          int    {"i": "12"}            float  {"f": "0x1.8p+0"}
    list {"l": […]}   tuple {"t": […]}    set {"s": […]}                dict   {"d": [[clé, valeur], …]}
    fonction de l'étudiant {"h": n}       fonction du correcteur {"c": n}

Ce module est aussi chargé dans le bac à sable : il n'importe que la bibliothèque standard.
"""

import json
import numbers
import re
import socket
import struct
from collections.abc import Callable

MAX_BYTES = 4 * 2**20
MAX_DEPTH = 64
MAX_DIGITS = 4300
HEADER = struct.Struct("!I")
# Possessive, et qui prend aussi une chaîne jamais fermée : le temps reste proportionnel à la longueur du message.
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
LONG_NUMBER = re.compile(rb"[0-9]{20}")


class Refused(Exception):
    """Une valeur n'appartient pas à l'ensemble fermé, ou un message dépasse les bornes ; le texte dit laquelle."""


class Closed(Exception):
    """L'autre bout a fermé le canal : son processus est mort."""


def encode(value, register: Callable | None = None, depth: int = 0):
    """Arbre JSON étiqueté d'une valeur.

    Les sous-classes (Counter, namedtuple, str dérivée…), les scalaires et tableaux numpy et les fractions deviennent simples :
    l'autre bout n'a ni leurs classes ni leurs méthodes.

    Args:
        value: valeur à envoyer.
        register: rend l'étiquette d'un objet appelable ; sans elle, il est refusé.
    Raises:
        Refused: type hors de l'ensemble, clé de dictionnaire non permise, valeur trop profonde.
    """
    if depth > MAX_DEPTH:
        raise Refused(f"une valeur imbriquée sur plus de {MAX_DEPTH} niveaux ne passe pas le canal")
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int(value)
        if number.bit_length() > 3.3 * MAX_DIGITS:
            raise Refused(f"un entier de plus de {MAX_DIGITS} chiffres ne passe pas le canal")
        return {"i": str(number)}
    if isinstance(value, float):
        return {"f": float.hex(value)}

    def inner(items):
        return [encode(item, register, depth + 1) for item in items]

    if isinstance(value, list):
        return {"l": inner(value)}
    if isinstance(value, tuple):
        return {"t": inner(value)}
    if isinstance(value, (set, frozenset)):
        return {"s": inner(value)}
    if isinstance(value, dict):
        pairs = [(plain(key), item) for key, item in value.items()]
        for key, _ in pairs:
            if not isinstance(key, (str, int, tuple)):
                raise Refused(f"une clé de dictionnaire de type {type(key).__name__} ne passe pas le canal")
        return {"d": [inner(pair) for pair in pairs]}
    simple = plain(value)
    if type(simple) is not type(value):
        return encode(simple, register, depth + 1)
    if isinstance(value, numbers.Real):
        return {"f": float.hex(float(value))}
    if callable(value) and not isinstance(value, type) and register is not None:
        return register(value)
    raise Refused(f"une valeur de type {type(value).__name__} ne passe pas le canal")


def plain(value):
    """Scalaire ou tableau numpy en valeur ordinaire ; toute autre valeur telle quelle."""
    is_numpy = type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist")
    return value.tolist() if is_numpy else value


def decode(tree, resolve: Callable | None = None, depth: int = 0):
    """Valeur d'un arbre étiqueté, de type exact.

    Args:
        tree: arbre reçu.
        resolve: rend l'objet d'une étiquette de fonction ; sans elle, l'étiquette est refusée.
    Raises:
        Refused: l'arbre n'est pas de la forme que produit `encode`.
    """
    if depth > MAX_DEPTH:
        raise Refused("message trop profond")
    if tree is None or tree is True or tree is False or isinstance(tree, str):
        return tree
    if not isinstance(tree, dict) or len(tree) != 1:
        raise Refused("message mal formé : valeur sans étiquette")
    (tag, content), *_ = tree.items()
    try:
        if tag == "i":
            if not isinstance(content, str) or len(content) > MAX_DIGITS + 1:
                raise Refused("message mal formé : entier")
            return int(content)
        if tag == "f":
            return float.fromhex(content)
        if tag in ("l", "t", "s"):
            items = [decode(item, resolve, depth + 1) for item in _list(content)]
            return {"l": list, "t": tuple, "s": set}[tag](items)
        if tag == "d":
            pairs = [[decode(item, resolve, depth + 1) for item in _list(pair)] for pair in _list(content)]
            for key, _ in pairs:
                if not isinstance(key, (str, int, tuple)):
                    raise Refused("message mal formé : clé de dictionnaire")
            return dict(pairs)
        if tag in ("h", "c") and resolve is not None and type(content) is int:
            return resolve(tag, content)
    except (TypeError, ValueError, OverflowError) as error:
        raise Refused(f"message mal formé : {error}") from None
    raise Refused(f"message mal formé : étiquette {tag!r}")


def _list(content) -> list:
    if not isinstance(content, list):
        raise Refused("message mal formé : suite attendue")
    return content


def pack(message: dict) -> bytes:
    """Octets d'un message, longueur comprise.

    Raises:
        Refused: le message dépasse MAX_BYTES.
    """
    content = json.dumps(message, allow_nan=False).encode()
    if len(content) > MAX_BYTES:
        raise Refused(f"une valeur de plus de {MAX_BYTES >> 20} Mio ne passe pas le canal")
    return HEADER.pack(len(content)) + content


def unpack(content: bytes) -> dict:
    """Message lu dans des octets, bornés avant d'être analysés.

    Raises:
        Refused: trop long, trop profond, nombre trop long, ou pas un objet JSON.
    """
    if len(content) > MAX_BYTES:
        raise Refused("message trop long")
    structure = STRING.sub(b"", content)
    depth = 0
    for bracket in re.findall(rb"[\[\]{}]", structure):
        depth += 1 if bracket in b"[{" else -1
        if depth > 4 * MAX_DEPTH:
            raise Refused("message trop profond")
    if LONG_NUMBER.search(structure):
        raise Refused("message mal formé : nombre trop long")
    try:
        message = json.loads(content)
    except (ValueError, RecursionError):
        raise Refused("message illisible") from None
    if not isinstance(message, dict):
        raise Refused("message mal formé : objet attendu")
    return message


class Channel:
    """Un bout du canal, sur une paire de sockets.

    Args:
        connection: socket relié à l'autre bout.
        handle: reçoit une demande de l'autre bout et rend la réponse.
    """

    def __init__(self, connection: socket.socket, handle: Callable[[dict], dict]):
        self._connection = connection
        self._handle = handle

    def ask(self, request: dict) -> dict:
        """Envoie une demande et rend la réponse ; sert, entre-temps, les demandes que l'autre bout fait en retour.

        Args:
            request: demande, sans le champ « kind ».
        Raises:
            Closed, Refused: voir ces classes.
        """
        self._write(pack(request | {"kind": "ask"}))
        while True:
            message = self._receive()
            if message.get("kind") == "answer":
                return message
            self._answer(message)

    def serve(self) -> None:
        """Sert les demandes de l'autre bout jusqu'à ce qu'il ferme le canal."""
        while True:
            try:
                message = self._receive()
                # Une réponse ici est celle d'une demande que le temps dépassé a interrompue : plus personne ne l'attend.
                if message.get("kind") != "answer":
                    self._answer(message)
            except Closed:
                return

    def _answer(self, message: dict) -> None:
        if message.get("kind") != "ask":
            raise Refused("message mal formé : demande attendue")
        answer = self._handle(message)
        try:
            content = pack(answer | {"kind": "answer"})
        except Refused as error:  # une valeur trop grosse coûte cette réponse, pas les suivantes
            content = pack({"kind": "answer", "status": "refused", "reason": str(error)})
        self._write(content)

    def _write(self, content: bytes) -> None:
        try:
            self._connection.sendall(content)
        except OSError:
            raise Closed from None

    def _receive(self) -> dict:
        (length,) = HEADER.unpack(self._read(HEADER.size))
        if length > MAX_BYTES:
            raise Refused("message trop long")
        return unpack(self._read(length))

    def _read(self, size: int) -> bytes:
        parts, missing = [], size
        while missing:
            try:
                part = self._connection.recv(min(missing, 65536))
            except OSError:
                raise Closed from None
            if not part:
                raise Closed
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)
