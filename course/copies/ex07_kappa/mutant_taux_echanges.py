# Copie : la sensibilité et la spécificité sont échangées au numérateur.
# Reprend : parfaite

# %% correction
def rogan_gladen(rate, sensitivity, specificity):
    gain = sensitivity + specificity - 1
    if abs(gain) < 1e-12:
        return math.nan
    return min(1.0, max(0.0, (rate + sensitivity - 1) / gain))
