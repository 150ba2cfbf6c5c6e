"""Batches on a graphics card: MuJoCo Warp behind what `Batch` asks of an engine.

Single precision, and contacts in no fixed order: near what the processor computes, not the same bits. States stay on the host in
rows, in double precision; each control step sends them over and fetches them back, which is little beside the physics in it.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.runtime.errors import UsageError

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
VARIED = (
    "body_mass", "body_inertia", "body_subtreemass", "body_invweight0", "dof_invweight0", "tendon_invweight0", "geom_friction",
)  # fmt: skip
"""Constants of the model that differ from world to world: those a `Variation` draws and those derived from them."""
CONTACTS, ROWS = 256, 1536
"""Contacts and constraint rows a world has room for; more are a fault of that world, as on the processor."""
FULL = mujoco.mjtWarning.mjWARN_CONTACTFULL.value


def why_not(device: str = "cuda") -> str | None:
    """Why no batch can run on a Warp device here; None when one can."""
    for name in ("warp", "mujoco_warp"):
        if importlib.util.find_spec(name) is None:
            return f"the package {name.replace('_', '-')} is not installed: pip install 'embodiedsmith[cuda]'"
    warp = _warp()
    if device.startswith("cuda") and not warp.is_cuda_available():
        return "there is no CUDA device, or no driver for it"
    return None


def _warp() -> Any:
    warp = importlib.import_module("warp")
    warp.config.quiet = True
    return warp


class WarpEngine:
    """Steps rows of integration states on a Warp device; the part of `mujoco.batch.Batch` that our `Batch` uses.

    Args:
        models: One model a world, of the same layout.
        device: "cuda", "cuda:1", ..., or "cpu", which is for checking and slow.

    Raises:
        UsageError: there is no such device here, or it cannot do what the model asks for.
    """

    nthread = 1

    def __init__(self, models: Sequence[mujoco.MjModel], device: str = "cuda") -> None:
        if (reason := why_not(device)) is not None:
            raise UsageError(f"worlds cannot be stepped on {device}: {reason}", remedy="leave device at 'cpu'")
        self._warp, self._engine = _warp(), importlib.import_module("mujoco_warp")
        self._device, self._model, self._nsim = self._warp.get_device(device), models[0], len(models)
        self.state: NDArray[np.float64] = np.zeros((self._nsim, mujoco.mj_stateSize(models[0], STATE)))
        self.warning = np.zeros((self._nsim, mujoco.mjtWarning.mjNWARNING.value, 2), dtype=int)
        with self._warp.ScopedDevice(self._device):
            try:
                sizes = {name: self._nsim for name in VARIED if np.size(getattr(models[0], name))}
                self._m = self._engine.put_model(models[0], batch_sizes=sizes)
            except NotImplementedError as error:
                raise UsageError(f"MuJoCo Warp cannot step this world: {error}", remedy="leave device at 'cpu'") from error
            self._m.opt.warn_overflow = 0  # it is a fault here, not a line on the terminal
            self._d = self._engine.make_data(models[0], nworld=self._nsim, nconmax=CONTACTS, njmax=ROWS)
            self._rows = self._warp.zeros(self.state.shape, dtype=float)
            self.set_models(models)
            self._graph = self._capture()

    def _capture(self) -> Any:
        """One physics step as a graph, which starts its hundred kernels at once; None where there are no graphs."""
        if not self._device.is_cuda:
            return None
        self._engine.step(self._m, self._d)  # so that every kernel is loaded
        with self._warp.ScopedCapture(self._device) as capture:
            self._engine.step(self._m, self._d)
        return capture.graph

    def set_models(self, models: Sequence[mujoco.MjModel]) -> None:
        """Take over the constants in which the worlds differ."""
        self._models = list(models)
        for name in VARIED:
            if np.size(getattr(models[0], name)):
                array = getattr(self._m, name)
                array.assign(np.stack([getattr(model, name) for model in models]).reshape(array.numpy().shape))

    def bind(self, name: str) -> NDArray[np.float64]:
        """A field of the state rows, a live view of shape (worlds, ...)."""
        kind = getattr(mujoco.mjtState, f"mjSTATE_{name.upper()}")
        start = mujoco.mj_stateSize(self._model, STATE.value & (kind.value - 1))
        view = self.state[:, start : start + mujoco.mj_stateSize(self._model, kind)]
        return view[:, 0] if name == "time" else view

    def rollout(self, nstep: int, control: np.ndarray, record: Sequence[str] = (), ids: np.ndarray | None = None) -> None:
        """Advance worlds by `nstep` physics steps, with the controls (n, nstep, nu) of each; nothing is recorded."""
        chosen = np.arange(self._nsim) if ids is None else ids
        controls = np.repeat(self.bind("ctrl")[None], nstep, axis=0)  # (nstep, worlds, nu)
        controls[:, chosen] = np.swapaxes(control, 0, 1)
        with self._warp.ScopedDevice(self._device):
            self._rows.assign(self.state.astype(np.float32))
            self._engine.set_state(self._m, self._d, self._rows, STATE.value)
            self._d.overflow.zero_()
            sent = self._warp.array(controls.astype(np.float32), dtype=float)
            for k in range(nstep):
                self._warp.copy(self._d.ctrl, sent[k])
                if self._graph is None:
                    self._engine.step(self._m, self._d)
                else:
                    self._warp.capture_launch(self._graph)
            self._engine.get_state(self._m, self._d, self._rows, STATE.value)
            time = self.bind("time").copy()
            self.state[chosen] = self._rows.numpy()[chosen]
            self.bind("ctrl")[chosen] = controls[-1, chosen]
            self.warning[chosen, FULL, 1] += self._d.overflow.numpy()[chosen] != 0
        for _ in range(nstep):
            time[chosen] += self._model.opt.timestep  # a clock in single precision would drift
        self.bind("time")[:] = time

    def step(self, ids: np.ndarray) -> None:
        """Advance worlds by one physics step under the controls in their rows."""
        self.rollout(1, self.bind("ctrl")[ids][:, None], ids=ids)

    def get_data(self, sim: int, data: mujoco.MjData) -> None:
        """Fill `data` with a world's state, its contacts those of the state as it is."""
        model = self._models[sim]
        mujoco.mj_setState(model, data, self.state[sim], STATE)
        mujoco.mj_forward(model, data)
        mujoco.mj_setState(model, data, self.state[sim], STATE)  # forward overwrites the warm start
        data.warning.number[:] = self.warning[sim, :, 1]
