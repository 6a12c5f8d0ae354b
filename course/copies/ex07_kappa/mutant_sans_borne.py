# Copie : le taux corrigé peut sortir de [0, 1].
# Reprend : parfaite

# %% correction
def rogan_gladen(rate, sensitivity, specificity):
    gain = sensitivity + specificity - 1
    if abs(gain) < 1e-12:
        return math.nan
    return (rate + specificity - 1) / gain
