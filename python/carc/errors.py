"""Errors of the Python layer, in the same family as the engine's."""

from carc._core import Error


class ConfigError(Error):
    """A configuration with an unknown key, a wrong value, or text that is no TOML."""


class ResultsError(Error):
    """A results file that is damaged, in use, or of another configuration."""


class ForfeitError(Error):
    """An agent forfeited a game in a tournament that does not go on after that."""


class GamesError(Error):
    """A file of self-play games that is damaged or none, or of another version."""


class TrainingError(Error):
    """A training that cannot go on: numbers that are not finite, a run folder in use."""
