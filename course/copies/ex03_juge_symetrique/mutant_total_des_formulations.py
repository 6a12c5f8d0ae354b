# Copie : additionne les deux formulations.
# Reprend : parfaite

# %% instables_par_formulation
instables_par_formulation = [sum(count_unstable(couples) for _, couples in verdicts_enregistres)]
