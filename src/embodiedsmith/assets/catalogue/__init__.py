"""One file per category of things; each holds a module-level `CATEGORY`."""
