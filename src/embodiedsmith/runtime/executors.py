"""Running jobs in this process or in several, with the same results and no hangs."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, TypeVar

from embodiedsmith.runtime.errors import SmithError, UsageError

Job = TypeVar("Job")
Value = TypeVar("Value")

# Libraries that start threads of their own: several workers on shared cores must not multiply them.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS")


class WorkerError(SmithError):
    """A job ended in a way nobody foresaw: it raised something, or its process died."""


@dataclass(frozen=True)
class JobResult(Generic[Value]):
    """What came of one job: a value, or the typed error that took its place."""

    value: Value | None = None
    error: SmithError | None = None


def run_jobs(
    function: Callable[[Job], Value],
    jobs: Iterable[Job],
    workers: int,
    on_result: Callable[[Job, JobResult[Value]], Iterable[Job] | None],
    initializer: Callable[[], None] | None = None,
) -> None:
    """Run `function` on every job and hand each result to `on_result` as it comes.

    With one worker everything runs in this process, in order; with more, in that many spawned processes (never forked: a
    renderer or thread of the parent would hang them), which stay for all jobs and so keep what they have loaded.

    Args:
        function: Importable by name; its argument and value can be pickled.
        jobs: Drawn one at a time, as workers come free.
        workers: Number of processes.
        on_result: Called in this process, in order of arrival. What it returns are jobs that follow from the result (the
            next attempt, say): they run before the remaining `jobs`. What it raises ends the work.
        initializer: Called once in each process before its first job.

    A job that raises gives a `JobResult` with the error (`WorkerError` with the traceback when it is not a `SmithError`); so
    does a job whose process dies, which is replaced. `KeyboardInterrupt` stops the workers and is raised.

    Raises:
        UsageError: `workers` is less than one.
        WorkerError: Three processes in a row died before they could take a job: the initializer does not work.
    """
    if workers < 1:
        raise UsageError(f"the number of workers must be at least 1, not {workers}", where="--workers")
    queue = _Queue(jobs)
    if workers == 1:
        if initializer is not None:
            initializer()
        while (entry := queue.next()) is not None:
            queue.follow(on_result(entry.job, _attempt(function, entry.job)))
        return
    pool = _Pool(function, initializer)
    try:
        pool.run(queue, workers, on_result)
    finally:
        pool.stop()


@dataclass(frozen=True)
class _Entry(Generic[Job]):
    job: Job


class _Queue(Generic[Job]):
    """Jobs still to run: followers first, then the given ones in order."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._given = iter(jobs)
        self._followers: deque[Job] = deque()

    def next(self) -> _Entry[Job] | None:
        if self._followers:
            return _Entry(self._followers.popleft())
        for job in self._given:
            return _Entry(job)
        return None

    def put_back(self, entry: _Entry[Job]) -> None:
        self._followers.appendleft(entry.job)

    def follow(self, jobs: Iterable[Job] | None) -> None:
        self._followers.extend(jobs or ())


def _attempt(function: Callable[[Job], Value], job: Job) -> JobResult[Value]:
    # Whatever a job raises is its result: one bad scenario must not end a run of thousands. The reason is kept.
    try:
        return JobResult(value=function(job))
    except SmithError as error:
        return JobResult(error=error)
    except Exception as error:
        trace = traceback.format_exc(limit=-6)
        return JobResult(error=WorkerError(f"{type(error).__name__}: {error}", where="worker", faults=trace.splitlines()))


class _Worker:
    """A process and the pipe to it. It does one job at a time, so that its death is blamed on the right one."""

    def __init__(self, process: SpawnProcess, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe
        self.entry: _Entry[Any] | None = None
        self.ready = False


class _Pool:
    def __init__(self, function: Callable[[Any], Any], initializer: Callable[[], None] | None) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._function = function
        self._initializer = initializer
        self._workers: list[_Worker] = []
        self._stillborn = 0

    def run(self, queue: _Queue[Any], workers: int, on_result: Callable[[Any, JobResult[Any]], Iterable[Any] | None]) -> None:
        """Keep up to `workers` processes busy until no job is left."""
        while True:
            self._feed(queue, workers)
            busy = [w for w in self._workers if w.entry is not None]
            if not busy:
                return
            ready = set(wait([x for w in busy for x in (w.pipe, w.process.sentinel)]))
            for worker in busy:
                if worker.pipe in ready or worker.process.sentinel in ready:
                    self._collect(worker, queue, on_result)

    def _feed(self, queue: _Queue[Any], workers: int) -> None:
        for worker in [w for w in self._workers if w.entry is None and not w.process.is_alive()]:
            self._bury(worker)
        idle = [w for w in self._workers if w.entry is None]
        while idle or len(self._workers) < workers:
            entry = queue.next()
            if entry is None:
                return
            worker = idle.pop(0) if idle else self._start()
            worker.entry = entry
            # A worker that has just died is reported by its sentinel, with this job, in the next round.
            with suppress(BrokenPipeError, ConnectionResetError):
                worker.pipe.send(entry.job)

    def _collect(
        self, worker: _Worker, queue: _Queue[Any], on_result: Callable[[Any, JobResult[Any]], Iterable[Any] | None]
    ) -> None:
        entry = worker.entry
        assert entry is not None
        try:
            message = worker.pipe.recv() if worker.pipe.poll() else None
        except (EOFError, ConnectionResetError, pickle.UnpicklingError):
            message = None
        if message == "ready":
            worker.ready = True
            self._stillborn = 0
            return
        worker.entry = None
        if message is None:
            how = self._bury(worker)
            if not worker.ready:  # it never began: the job is not to blame
                self._count_stillborn(how)
                queue.put_back(entry)
                return
            message = JobResult(
                error=WorkerError(f"the worker process died {how}", where="worker", remedy="memory may have run out")
            )
        queue.follow(on_result(entry.job, message))

    def _bury(self, worker: _Worker) -> str:
        """Forget a dead worker; says how it died."""
        worker.process.join()
        worker.pipe.close()
        self._workers.remove(worker)
        code = worker.process.exitcode or 0
        return f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit status {code}"

    def _count_stillborn(self, how: str) -> None:
        self._stillborn += 1
        if self._stillborn >= 3:
            raise WorkerError(
                f"worker processes die {how} before their first job",
                remedy="run with --workers 1 to see why; a script needs `if __name__ == '__main__':` around its main part",
            )

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._function, self._initializer), daemon=True)
        with _single_threaded(), _ctrl_c_held_back():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def stop(self) -> None:
        """End every process: idle ones by closing their pipe, busy ones at once."""
        for worker in self._workers:
            worker.pipe.close()
            if worker.entry is not None:
                worker.process.terminate()
        for worker in self._workers:
            worker.process.join(5.0)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Environment for a child to be started in: numeric libraries read it once, when they load."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """A child started meanwhile never hears Ctrl-C, not even while it loads; this process hears it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, function: Callable[[Any], Any], initializer: Callable[[], None] | None) -> None:
    """Main loop of a worker process: jobs in, results out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent decides
    threading.Thread(target=_die_with_parent, daemon=True).start()
    if initializer is not None:
        initializer()
    pipe.send("ready")
    while True:
        try:
            job = pipe.recv()
        except (EOFError, ConnectionResetError):
            return
        result = _attempt(function, job)
        try:
            data = pickle.dumps(result)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            data = pickle.dumps(
                JobResult[Any](error=WorkerError(f"the job's result cannot be sent back: {error}", where="worker"))
            )
        try:
            pipe.send_bytes(data)
        except (BrokenPipeError, ConnectionResetError):
            return


def _die_with_parent() -> None:
    """End this process when its parent is gone (killed, say), even in the middle of a long job."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
