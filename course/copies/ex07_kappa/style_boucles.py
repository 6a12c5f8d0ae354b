# Copie : juste, avec des boucles et des parts, sans module.

# %% kappa
def cohen_kappa(labels_a, labels_b):
    n = len(labels_a)
    if n == 0 or n != len(labels_b):
        raise ValueError("Donnez deux listes de même longueur, non vides.")
    same = 0
    for i in range(n):
        if labels_a[i] == labels_b[i]:
            same += 1
    expected = 0
    for label in set(labels_a) | set(labels_b):
        expected += labels_a.count(label) / n * (labels_b.count(label) / n)
    if expected > 1 - 1e-12:
        return float("nan")
    return (same / n - expected) / (1 - expected)

# %% correction
def rogan_gladen(rate, sensitivity, specificity):
    false_alarms = 1 - specificity
    if abs(sensitivity - false_alarms) < 1e-9:
        return float("nan")
    value = (rate - false_alarms) / (sensitivity - false_alarms)
    if value < 0:
        return 0.0
    if value > 1:
        return 1.0
    return value

# %% lecture
lecture = "B"
