# Copie : rend, à tour de rôle, des valeurs cycliques, immenses, trop profondes, ou qui ne sont pas des valeurs (SEC-17).
# Piège : le correcteur s'y perdrait, ou exécuterait leur code.
# Reprend : fausse

# %% ajout bleu2
class Pickled:
    def __reduce__(self):
        return (eval, ("20",))


class Shared(list):
    def __iter__(self):
        while True:
            yield self


def strange_values():
    cyclic = []
    cyclic.append(cyclic)
    deep = 0.25
    for _ in range(500):
        deep = [deep]
    wide = [0]
    for _ in range(40):
        wide = [wide, wide]
    while True:
        yield from (
            cyclic, deep, 10**5000, -(10**4000), float("nan"), float("inf"), Pickled(), (number for number in [0.25]), Shared(),
            "x" * 8_000_000, range(10**9), float, print, 0.25j, b"0.25", {None: 1}, {1.5: 1}, [0.25] * 1_000_000, wide, object,
        )


values = strange_values()
for name, value in list(globals().items()):
    if hasattr(value, "__code__") and getattr(value, "__module__", "") == "__main__" and name != "strange_values":
        globals()[name] = lambda *args, **kwargs: next(values)
explication = conclusion = Pickled()
instables_par_formulation = Shared()
