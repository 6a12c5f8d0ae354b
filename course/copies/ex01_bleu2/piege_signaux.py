# Copie : signale son parent et tous les processus, suit les autres par ptrace et /proc, puis se tue.
# Piège : le correcteur ou la copie voisine mourrait.
# Reprend : fausse

# %% ajout
os, ctypes = __import__("os"), __import__("ctypes")
libc = ctypes.CDLL(None)
for pid in [os.getppid(), 1, *[int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]]:
    libc.ptrace(16, pid, 0, 0)
    for name in ("mem", "environ", "fd/0"):
        try:
            open(f"/proc/{pid}/{name}", "r+b").read(10)
        except OSError:
            pass
    try:
        os.kill(pid, 9)
    except OSError:
        pass

# %% ajout bleu2
try:
    os.kill(-1, 9)
except OSError as error:
    print(error)
os.kill(os.getpid(), 9)
