# Copie : écrit jusqu'à 200 Mo dans chaque dossier où elle le peut (SEC-16).
# Piège : le disque du correcteur se remplirait.
# Reprend : fausse

# %% ajout perplexite
for folder in (".", "/tmp", "/dev/shm", "/", "/dev", "/paquets", "/correcteur", "/usr/lib"):
    try:
        for number in range(4):
            with open(f"{folder}/plein_{number}", "wb") as file:
                for _ in range(50):
                    file.write(b"x" * 1_000_000)
    except OSError as error:
        print(folder, error)
