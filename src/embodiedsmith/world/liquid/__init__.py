"""Liquids: a position-based fluid of particles on the CPU, coupled both ways with the rigid things of a world."""
