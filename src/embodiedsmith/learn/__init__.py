"""Policies: what a network sees of a world and says to it, networks, training, rollouts."""
