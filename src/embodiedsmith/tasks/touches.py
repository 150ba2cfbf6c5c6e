"""What the fingers take hold of and let go of, and what the robot runs into: events told from contacts."""

from __future__ import annotations

from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.recording import Event
from embodiedsmith.world import World

STEADY = 3
"""Control steps for which a change of touch must last to be an event: contacts flicker while things slide."""


class Hands:
    """Tells from contacts when the fingers take hold of things and let go of them, and when the robot hits furniture.

    Events: `grasped` (squeezed, not leant on), `released` (let go while opening), `dropped` (lost while not opening), `collision`
    (a link that is not a finger touches something that cannot move). Each at the first of `STEADY` control steps that it lasts.
    """

    def __init__(self, world: World, probe: Probe) -> None:
        self._world, self._probe = world, probe
        free = [name for name, index in world.items.items() if index.qpos >= 0]
        self._fingers = [(name, arm, *probe.held(name, arm)) for arm in range(len(world.grippers)) for name in free]
        still = ["world", *(name for name, index in world.items.items() if index.qpos < 0)]
        self._solid = {probe.pair("robot", name): name for name in still}
        self._solid_keys = set(self._solid)
        self.reset()

    def reset(self) -> None:
        """Take what is touched now as given."""
        pairs = self._probe.pairs
        self._holding = [a in pairs and b in pairs for _, _, a, b in self._fingers]
        self._changing = [0] * len(self._fingers)
        self._hits = pairs & self._solid_keys
        self._hit_for: dict[int, int] = {}
        self._last_command = self._closings()
        self._opening = [False] * len(self._last_command)

    def update(self, step: int) -> list[Event]:
        """What began `STEADY` control steps ago and has lasted; `step` is the number of the row just written."""
        events: list[Event] = []
        pairs = self._probe.pairs
        command = self._closings()
        for arm, (now, before) in enumerate(zip(command, self._last_command, strict=True)):
            if now != before:
                self._opening[arm] = now < before
        self._last_command = command
        for k, (name, arm, left, right) in enumerate(self._fingers):
            now = left in pairs and right in pairs
            if now == self._holding[k]:
                self._changing[k] = 0
                continue
            self._changing[k] += 1
            if self._changing[k] >= STEADY and (not now or self._probe.squeezed(name, arm)):
                self._holding[k], self._changing[k] = now, 0
                kind = "grasped" if now else "released" if self._opening[arm] else "dropped"
                events.append(Event(step=step - STEADY + 1, kind=kind, subjects=(name,)))
        hits = pairs & self._solid_keys
        if hits or self._hits:
            events += self._collisions(step, hits)
        return events

    def _closings(self) -> list[float]:
        """What every hand is commanded to, 0 open to 1 closed."""
        world = self._world
        return [hand.closing(world.command[part].tolist()) for hand, part in zip(world.grippers, world.hand_slices, strict=True)]

    def _collisions(self, step: int, hits: set[int]) -> list[Event]:
        self._hits &= hits  # what has parted may be hit again
        self._hit_for = {key: self._hit_for.get(key, 0) + 1 for key in hits - self._hits}
        new = [key for key, steps in self._hit_for.items() if steps == STEADY]
        self._hits.update(new)
        return [Event(step=step - STEADY + 1, kind="collision", subjects=("robot", self._solid[key])) for key in sorted(new)]
