"""Le style des figures du cours : lisibles sans la couleur, décrites en mots."""

import matplotlib.pyplot as plt
from IPython.display import display
from matplotlib.figure import Figure

# Palette d'Okabe et Ito (2008), lisible par les daltoniens ; marqueurs, traits et hachures la doublent.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
MARKERS = ["o", "s", "^", "D", "v", "P"]
LINESTYLES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1))]
HATCHES = ["", "//", "..", "xx", "\\\\", "oo"]

plt.rcParams.update(
    {
        "figure.figsize": (7.2, 4.0),
        "figure.dpi": 100,
        "figure.constrained_layout.use": True,
        "font.size": 11,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": plt.cycler(color=COLORS),
    }
)


def show(figure: Figure, alt: str) -> None:
    """Affiche la figure avec son texte de remplacement, puis la ferme.

    Args:
        figure: figure matplotlib terminée.
        alt: phrase qui dit ce que montre la figure, écrite dans les métadonnées de la sortie.
    Raises:
        ValueError: le texte de remplacement est vide ou trop court pour décrire quelque chose.
    """
    if len(alt.split()) < 5:
        raise ValueError("Le texte de remplacement est trop court : décrivez en une phrase ce que montre la figure.")
    display(figure, metadata={"image/png": {"alt": alt}})
    plt.close(figure)
