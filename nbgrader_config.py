"""Configuration de nbgrader pour ce cours ; les réglages sont dans autograder/settings.py."""

from autograder.settings import configure

configure(get_config())  # noqa: F821  (get_config est fourni par traitlets)
