"""One file per predicate, each holding a `PREDICATE`; `tasks.registry` finds them."""
