# Copie : sans correction possible, le taux brut est rendu.
# Reprend : parfaite

# %% correction
def rogan_gladen(rate, sensitivity, specificity):
    gain = sensitivity + specificity - 1
    if abs(gain) < 1e-12:
        return rate
    return min(1.0, max(0.0, (rate + specificity - 1) / gain))
