"""The simulated world: compile a scenario, settle, step, look, touch, render, save and restore."""

from embodiedsmith.world.batch import Batch
from embodiedsmith.world.compile import Compiled, compile_scenario
from embodiedsmith.world.errors import CompileError, SettleError, WorldFault
from embodiedsmith.world.world import CONTROL_HZ, Contact, World

__all__ = ["CONTROL_HZ", "Batch", "CompileError", "Compiled", "Contact", "SettleError", "World", "WorldFault", "compile_scenario"]
