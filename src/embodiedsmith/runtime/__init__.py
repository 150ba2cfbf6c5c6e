"""How work runs: run directory, lock, index, executors, seeds, progress, errors."""
