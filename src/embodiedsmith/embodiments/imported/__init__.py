"""Robots from files: a URDF or MJCF is asked what it is, made fit for work, and kept beside the catalogue."""
