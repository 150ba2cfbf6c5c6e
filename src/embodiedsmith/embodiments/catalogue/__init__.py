"""One file a robot: each defines `ROBOT`."""
