"""How a scenario is made: an agent proposes, the layout solver places, critics judge, and code accepts."""

from embodiedsmith.forge.certificate import Certificate, recording_digest
from embodiedsmith.forge.layout import LayoutError, layout
from embodiedsmith.forge.log import Proposal, Step
from embodiedsmith.forge.loop import BUDGET, ForgeError, ForgeResult, forge

__all__ = [
    "BUDGET", "Certificate", "ForgeError", "ForgeResult", "LayoutError", "Proposal", "Step", "forge", "layout",
    "recording_digest",
]  # fmt: skip
