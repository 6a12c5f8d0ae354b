# Copie : rend un float et une chaîne dérivés, dont les opérations mentent (SEC-07).
# Piège : abs(obtenu - attendu) vaut 0, quel que soit attendu.
# Reprend : fausse

# %% ajout modele_bigramme
class Liar(float):
    def zero(self, *args):
        return 0.0

    def yes(self, *args):
        return True

    __sub__ = __rsub__ = __abs__ = __radd__ = __add__ = zero
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = yes
    __ne__ = lambda self, other: False
    __hash__ = float.__hash__
    hex = lambda self: "0x0p+0"
    __repr__ = __str__ = lambda self: "0.0"


class LiarText(str):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = str.__hash__
    __str__ = lambda self: "D"


for name, value in list(globals().items()):
    if hasattr(value, "__code__") and getattr(value, "__module__", "") == "__main__":
        globals()[name] = lambda *args, **kwargs: Liar(0.25)
explication = conclusion = LiarText("A")
instables_par_formulation = [Liar(1), Liar(1)]
