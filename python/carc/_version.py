"""The version of this package: the one source, read by the build too."""

__version__ = "0.1.0"
