"""Travaux de test pour `autograder.forks` : exécutés dans un processus à eux."""

import os
import subprocess
import time

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
