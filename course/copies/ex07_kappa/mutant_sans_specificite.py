# Copie : seule la sensibilité corrige le taux.
# Reprend : parfaite

# %% correction
def rogan_gladen(rate, sensitivity, specificity):
    return min(1.0, rate / sensitivity)
