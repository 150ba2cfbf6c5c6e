"""EmbodiedSmith: from a sentence to verified simulated robot data."""

__version__ = "0.1.0"
