"""What success is: predicates with margins, goals, instruction text, and the session that runs and records an attempt."""

from embodiedsmith.tasks.goal import GoalMonitor, goal_faults, reward, title
from embodiedsmith.tasks.kind import Bound, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.recording import Event, Failure, Recording
from embodiedsmith.tasks.registry import predicate, predicate_names
from embodiedsmith.tasks.session import Session, replay
from embodiedsmith.tasks.text import check_text, instruction
from embodiedsmith.tasks.watch import Watch

__all__ = [
    "Bound", "Event", "Failure", "GoalMonitor", "PredicateKind", "Probe", "Recording", "Role", "Session", "Watch",
    "Words", "check_text", "goal_faults", "instruction", "predicate", "predicate_names", "replay", "reward", "title",
]  # fmt: skip
