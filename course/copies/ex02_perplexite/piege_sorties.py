# Copie : affiche une ligne de 50 Mo, 200 000 lignes et 300 grands textes ; écrit sur les descripteurs 1 et 2 (SEC-16, NB-14).
# Piège : le notebook noté pèserait des centaines de mégaoctets.
# Reprend : fausse

# %% ajout
os = __import__("os")
print("x" * 50_000_000)
for number in range(200_000):
    print("ligne", number)
os.write(1, b"y" * 1_000_000)
os.write(2, b"y" * 1_000_000)

# %% ajout
for _ in range(300):
    display("z" * 30_000)
