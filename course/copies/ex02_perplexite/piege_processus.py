# Copie : crée jusqu'à cinquante processus et cinquante fils (SEC-15) ; bornée, elle s'arrête d'elle-même.
# Piège : la machine du correcteur n'aurait plus de processus.
# Reprend : fausse

# %% ajout perplexite
os, time, threading = __import__("os"), __import__("time"), __import__("threading")
children = 0
try:
    for _ in range(50):
        if os.fork() == 0:
            time.sleep(3)
            os._exit(0)
        children += 1
except OSError as error:
    print("arrêtée après", children, "processus :", error)
try:
    for _ in range(50):
        threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
except RuntimeError as error:
    print(error)
