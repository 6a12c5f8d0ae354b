# Copie : une boucle qui avale les interruptions et les signaux (SEC-13, NB-10).
# Piège : elle ne s'arrête que tuée.
# Reprend : fausse

# %% ajout bleu2
signal = __import__("signal")
for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
