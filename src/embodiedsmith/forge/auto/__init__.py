"""Autonomous mode: without a brief, scenarios are proposed so as to fill what an archive of earlier ones lacks."""
