"""Limits that more than one layer names."""

#: The seconds that a compiler may take.
COMPILE_TIMEOUT = 30.0
