"""The version of this package, which CMakeLists.txt states."""

from carc._core import __version__ as __version__
