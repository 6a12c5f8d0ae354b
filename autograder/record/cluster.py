"""Une grappe Dask pour « cours noter --grappe » : joblib y envoie les copies, la base reste écrite par cette machine.

Les ouvriers voient les mêmes dossiers que cette machine (disque partagé) et ont le même environnement. Un ouvrier qui ne peut
pas isoler une copie, ou qui ne voit pas le cours, est écarté avant la première ; un ouvrier qui meurt rend ses copies aux autres.
"""

import logging
import platform
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import distributed
from distributed import Client, KilledWorker
from distributed.client import FutureCancelledError
from distributed.comm import get_address_host_port
from joblib import parallel_config

from autograder.execution import sandbox
from autograder.settings import UsageError

PATIENCE = 10  # secondes laissées à l'ordonnanceur pour répondre
START = "« dask worker ADRESSE --nthreads N » sur chaque machine, dans l'environnement du cours"


@contextmanager
def cluster(address: str, work: Path, isolation: str) -> Iterator[list[str]]:
    """Confie à une grappe les appels à joblib faits dans ce contexte ; rend une phrase par ouvrier écarté.

    Args:
        address: adresse de l'ordonnanceur, « tcp://machine:8786 ».
        work: dossier de travail, que chaque ouvrier doit voir.
        isolation: isolement demandé, « bwrap » ou « processus ».
    Raises:
        UsageError: ordonnanceur injoignable, d'une autre version ou arrêté en chemin, ou aucun ouvrier utilisable.
    """
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # ce qui compte est dit en une phrase, ici
    work.mkdir(parents=True, exist_ok=True)
    try:
        # Un client Dask sans personne au bout insiste, puis se plaint encore en disparaissant : on regarde d'abord.
        socket.create_connection(get_address_host_port(address), PATIENCE).close()
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else "aucune réponse"
        raise UsageError(
            f"L'ordonnanceur {address} ne répond pas ({reason}) : démarrez-le (« dask scheduler »), ou corrigez l'adresse."
        ) from None
    with client:
        _same_versions(client, address)
        answers = client.run(_why_not, str(work), isolation, on_error="return")
        if not answers:
            raise UsageError(f"L'ordonnanceur {address} n'a aucun ouvrier : démarrez {START}.")
        refused = {name: answer for name, answer in answers.items() if answer is not None}
        sentences = [f"Ouvrier {name} écarté : {reason}." for name, reason in sorted(refused.items())]
        if len(refused) == len(answers):
            raise UsageError(f"Aucun ouvrier de {address} ne peut noter. {' '.join(sentences)}")
        if sum(client.ncores().values()) < 2:
            # Avec un seul, joblib exécuterait tout ici.
            raise UsageError(f"La grappe {address} n'a qu'un fil d'exécution, il en faut deux : démarrez {START}.")
        usable = sorted(answers.keys() - refused.keys())
        try:
            with parallel_config(backend="dask", client=client, workers=usable):
                yield sentences
        except (FutureCancelledError, KilledWorker) as error:
            reason = str(error).splitlines()[0][:300]
            raise UsageError(
                f"La grappe {address} s'est arrêtée pendant la notation ({reason}) : redémarrez-la, puis relancez la même "
                "commande ; ce qui est déjà noté est gardé."
            ) from None


def _same_versions(client: Client, address: str) -> None:
    """Refuse un ordonnanceur ou un ouvrier dont Python ou Dask n'est pas le nôtre : les tâches ne s'y liraient pas."""
    ours = (platform.python_version_tuple()[:2], distributed.__version__)
    versions = client.get_versions()
    workers = {f"l'ouvrier {name}": found for name, found in versions["workers"].items()}
    for name, found in {"l'ordonnanceur": versions["scheduler"], **workers}.items():
        python = tuple(str(found["host"].get("python", "")).split(".")[:2]) if found else ()
        theirs = (python, found["packages"].get("distributed") if found else None)
        if theirs != ours:
            told = [f"Python {'.'.join(python)}, Dask {dask}" for python, dask in (theirs, ours)]
            raise UsageError(
                f"Sur {address}, {name} n'a pas les versions de cette machine ({told[0]} ; ici {told[1]}) : "
                "installez-y le même environnement (requirements.txt)."
            )


def _why_not(work: str, isolation: str) -> str | None:
    """Chez un ouvrier : pourquoi il ne peut pas noter, ou None."""
    if not Path(work).is_dir():
        return f"il ne voit pas le dossier {work}, qui doit être sur un disque partagé"
    return sandbox.available() if isolation == "bwrap" else None
