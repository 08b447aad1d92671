"""Slow, simple Python rules of Carcassonne, against which the C++ engine is checked."""
