"""Configuration de nbgrader pour ce cours ; les réglages sont dans autograder/settings.py."""

from pathlib import Path

from autograder.settings import configure

config = get_config()  # noqa: F821  (get_config est fourni par traitlets)
configure(config, Path(__file__).resolve().parent)
config.CourseDirectory.course_id = "evaluation"
