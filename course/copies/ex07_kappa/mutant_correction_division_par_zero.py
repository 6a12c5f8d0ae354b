# Copie : le juge constant divise par zéro.
# Reprend : parfaite

# %% correction
def rogan_gladen(rate, sensitivity, specificity):
    gain = sensitivity + specificity - 1
    return min(1.0, max(0.0, (rate + specificity - 1) / gain))
