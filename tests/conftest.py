"""Loads the package before anything else: it chooses MuJoCo's renderer, which is too late once MuJoCo is imported."""

import embodiedsmith  # noqa: F401
