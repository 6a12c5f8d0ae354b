"""Travaux de test pour `autograder.execution.forks` : exécutés dans un processus à eux."""

import os
import subprocess
import time

from autograder.execution import forks

calls = 0


def compte(_) -> dict:
    global calls
    calls += 1
    return {"appels": calls, "pid": os.getpid()}


def meurt(_) -> None:
    os.abort()


def sature(_) -> None:
    bytearray(5 * 2**30)


def dort(_) -> None:
    subprocess.run(["sleep", "600"], check=True)
    time.sleep(600)


def parents(_) -> list:
    return [os.getpid(), os.getppid()]


def demande(_) -> dict:
    found, parent = forks.call("tests.enfants:parents", None, 10)
    return {"enfant": os.getpid(), "petit-enfant": found, "parent du petit-enfant": parent}
