"""URDF and MJCF files of others: every file they name is found, every inertia looked over, before MuJoCo sees them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import mujoco
import numpy as np
import trimesh

from embodiedsmith.assets.imported.faults import Fault, ImportRefused
from embodiedsmith.runtime.files import storage_errors

MOST_BYTES = 100_000_000
"""Largest file that is read [bytes]."""
MOST_TEXT = 20_000_000
"""Largest model text [bytes]."""
LEVELS = 3
"""Folders upwards from that of the model in which files are looked for: its own, and two more."""
DEPTH = 6
"""Most files that include one another."""
_ASIDE = ("texture", "hfield", "skin", "model")
"""Elements with files that are left out: what a shape and a mass do not need."""

Numbers = list[float]


@dataclass(frozen=True)
class Parsed:
    """A model whose files are all in memory."""

    text: str
    """The model, in which every mesh is called by a key of `files`."""
    files: Mapping[str, bytes]
    """Mesh files by name."""
    urdf: bool
    faults: tuple[Fault, ...]
    mass: float | None
    """The sum of the masses that it states [kg]; None: it states none."""

    def spec(self) -> Any:
        """A fresh `MjSpec`; raises ValueError when MuJoCo does not understand it."""
        spec = mujoco.MjSpec.from_string(self.text, assets=dict(self.files))
        for mesh in spec.meshes:  # an open surface has no volume, which the compiler would refuse
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        return spec

    @property
    def model(self) -> Any:
        """The compiled model, its inertias made of its shapes; raises ImportRefused."""
        try:
            return self.spec().compile()
        except ValueError as error:
            reason = " ".join(str(error).split())[:300]
            faults = [*self.faults, Fault(f"MuJoCo refuses it ({reason})", "mend the model")]
            raise ImportRefused(Path("model"), faults) from error


def parse(path: Path) -> Parsed:
    """Read a URDF or MJCF file with all that it names.

    Raises:
        ImportRefused: it is no XML, neither of the two, or names files that cannot be had: lists every path tried.
    """
    root = _xml(path)
    if root.tag not in ("robot", "mujoco"):
        raise ImportRefused(path, [Fault(f"its root is <{root.tag}>", "a URDF begins with <robot>, an MJCF with <mujoco>")])
    faults: list[Fault] = []
    if root.tag == "mujoco":
        _include(root, path, faults, DEPTH)
    files = _urdf_files(root, path, faults) if root.tag == "robot" else _mjcf_files(root, path, faults)
    if faults:
        raise ImportRefused(path, [*faults, *inertia_faults(root)])
    bad = tuple(inertia_faults(root))
    mass = _stated_mass(root)
    _drop_bad_inertias(root)
    return Parsed(ElementTree.tostring(root, encoding="unicode"), files, root.tag == "robot", bad, mass)


def _xml(path: Path) -> Element:
    with storage_errors(path):
        size = path.stat().st_size
        text = path.read_bytes() if size <= MOST_TEXT else b""
    if size > MOST_TEXT:
        raise ImportRefused(path, [Fault(f"{size / 1e6:.0f} MB of XML are too many", "split it")])
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise ImportRefused(path, [Fault("it declares XML entities", "remove <!DOCTYPE ...>; models need none")])
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ImportRefused(path, [Fault(f"it is no valid XML ({error})", "mend it, or expand it with xacro first")]) from error


def _include(element: Element, path: Path, faults: list[Fault], depth: int) -> None:
    """Put in the place of every <include> what it includes."""
    for parent in list(element.iter()):
        for place, child in reversed(list(enumerate(parent))):
            if child.tag != "include":
                continue
            found, tried = _find(child.get("file", ""), path, None)
            if found is None or depth == 0:
                faults.append(_missing(child.get("file", ""), tried))
                continue
            inner = _xml(found)
            _include(inner, path, faults, depth - 1)
            parent.remove(child)
            for offset, part in enumerate(inner):
                parent.insert(place + offset, part)


def _urdf_files(root: Element, path: Path, faults: list[Fault]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    known: dict[Path, str] = {}
    for shape in [*root.iter("visual"), *root.iter("collision")]:
        for mesh in shape.iter("mesh"):
            if (name := _take(mesh.get("filename", ""), path, None, files, known, faults)) is not None:
                mesh.set("filename", name)
    for own in root.findall("mujoco"):
        root.remove(own)
    settings = ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler")
    for key, value in (("strippath", "true"), ("discardvisual", "false"), ("fusestatic", "false"), ("balanceinertia", "false")):
        settings.set(key, value)
    for material in root.iter("material"):
        for texture in material.findall("texture"):
            material.remove(texture)
    return files


def _mjcf_files(root: Element, path: Path, faults: list[Fault]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    known: dict[Path, str] = {}
    compilers = root.findall("compiler")
    folder = next(
        (c.get("meshdir") or c.get("assetdir") for c in reversed(compilers) if c.get("meshdir") or c.get("assetdir")), None
    )
    for compiler in compilers:
        for key in ("meshdir", "assetdir", "texturedir"):
            compiler.attrib.pop(key, None)
    for assets in root.iter("asset"):
        for child in list(assets):
            if child.tag in _ASIDE and any(key.startswith("file") for key in child.attrib):
                assets.remove(child)
            elif child.tag == "mesh" and (given := child.get("file")):
                child.set("name", child.get("name") or PurePosixPath(given).stem)
                if (name := _take(given, path, folder, files, known, faults)) is not None:
                    child.set("file", name)
    textures = {t.get("name") for t in root.iter("texture")}
    for material in root.iter("material"):
        if material.get("texture") is not None and material.get("texture") not in textures:
            del material.attrib["texture"]
    return files


def _take(
    given: str, path: Path, folder: str | None, files: dict[str, bytes], known: dict[Path, str], faults: list[Fault]
) -> str | None:
    """Read a mesh file that a model names; its key among `files`, or None when it cannot be had (a fault says why)."""
    found, tried = _find(given, path, folder)
    if found is None:
        faults.append(_missing(given, tried))
        return None
    if found not in known:
        try:
            suffix, data = _mesh_bytes(found)
        except Exception as error:  # whatever a parser makes of a damaged file
            reason = " ".join(str(error).split())[:160] or type(error).__name__
            faults.append(Fault(f"mesh '{given}' cannot be read ({reason})", "export it as stl or obj"))
            return None
        known[found] = f"mesh_{len(known)}{suffix}"
        files[known[found]] = data
    return known[found]


def _mesh_bytes(file: Path) -> tuple[str, bytes]:
    """A mesh file as MuJoCo reads it: OBJ, or binary STL."""
    size = file.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"{size / 1e6:.0f} MB are too many")
    if file.suffix.lower() == ".msh":
        return ".msh", file.read_bytes()
    mesh = trimesh.load(file, force="mesh", process=False)
    if not len(mesh.faces) or not np.isfinite(mesh.vertices).all():
        raise ValueError("it holds no triangles")
    buffer = io.BytesIO()
    if len(mesh.faces) > 190_000:  # MuJoCo reads STL files of up to 200,000 triangles
        buffer.write(trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(file_type="obj").encode())
        return ".obj", buffer.getvalue()
    trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(buffer, file_type="stl")
    return ".stl", buffer.getvalue()


def _find(given: str, path: Path, folder: str | None) -> tuple[Path | None, list[Path]]:
    """The file meant by a name in a model, and every path tried."""
    tried: list[Path] = []
    for candidate in _candidates(given, path, folder):
        if candidate in tried:
            continue
        tried.append(candidate)
        if _inside(candidate, path) and candidate.is_file():
            return candidate, tried
    return None, tried


def _candidates(given: str, path: Path, folder: str | None) -> Iterator[Path]:
    here = path.resolve().parent
    above = [here, *here.parents][:LEVELS]
    scheme, _, rest = given.partition("://")
    if not rest:
        inner = Path(folder or "") / given
        yield Path(inner) if inner.is_absolute() else (here / inner).resolve()
        return
    if scheme == "file":
        yield Path(rest)
        return
    package, _, inside = rest.partition("/")
    for ancestor in above:
        if ancestor.name == package:
            yield ancestor / inside
        yield ancestor / package / inside
    for ancestor in above:
        yield ancestor / inside


def _inside(candidate: Path, path: Path) -> bool:
    """Whether a file lies below the model's folder or at most two folders up: a model may not read what is elsewhere."""
    here = path.resolve().parent
    root = [here, *here.parents][:LEVELS][-1]
    return candidate.resolve().is_relative_to(root)


def _missing(given: str, tried: list[Path]) -> Fault:
    places = ", ".join(str(place) for place in tried) or "nothing"
    return Fault(f"file '{given}' is not there (tried {places})", "put it at one of these places, or mend the name")


# Mass and inertia


def inertia_faults(root: Element) -> Iterator[Fault]:
    """Every inertia that no solid can have: link or body, and its values, named."""
    for owner, inertial in _inertials(root):
        why = _wrong(*_values(inertial))
        if why is not None:
            yield Fault(f"{owner}: {why}", "give true values (mesh volume times density)", cured="computed from its shape")


def _inertials(root: Element) -> Iterator[tuple[str, Element]]:
    for tag in ("link", "body"):
        for owner in root.iter(tag):
            for inertial in owner.findall("inertial"):
                yield f"{tag} '{owner.get('name', '?')}'", inertial


def _values(inertial: Element) -> tuple[float, Numbers]:
    """Mass [kg] and inertia (ixx, iyy, izz, ixy, ixz, iyz) [kg m^2]; empty: not given."""
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is not None or inertia is not None:  # URDF
        found = {} if inertia is None else inertia.attrib
        values = [float(found.get(key, 0.0)) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
        return float(mass.get("value", 0.0)) if mass is not None else 0.0, values
    full = [float(value) for value in inertial.get("fullinertia", "").split()]
    diagonal = [float(value) for value in inertial.get("diaginertia", "").split()]
    return float(inertial.get("mass", 0.0)), full or ([*diagonal, 0.0, 0.0, 0.0] if diagonal else [])


def _wrong(mass: float, values: Numbers) -> str | None:
    if mass <= 0 or not np.isfinite(mass):
        return f"mass {mass:g} kg is not positive"
    if not values:
        return None
    ixx, iyy, izz, ixy, ixz, iyz = values
    said = f"ixx={ixx:g}, iyy={iyy:g}, izz={izz:g}" + (f", ixy={ixy:g}, ixz={ixz:g}, iyz={iyz:g}" if ixy or ixz or iyz else "")
    if not np.isfinite(values).all():
        return f"inertia {said} is not finite"
    if not any(values):
        return f"inertia {said} is zero"
    principal = np.sort(np.linalg.eigvalsh([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]))
    if principal[0] <= 0:
        return f"inertia {said} is not positive"
    if principal[0] + principal[1] < principal[2] * (1 - 1e-3):
        return f"inertia {said} is that of no solid: its largest is more than the other two together"
    return None


def _drop_bad_inertias(root: Element) -> None:
    """Leave out inertias that no solid can have: MuJoCo then makes them of the shapes."""
    for tag in ("link", "body"):
        for owner in root.iter(tag):
            for inertial in owner.findall("inertial"):
                mass, values = _values(inertial)
                if _wrong(mass, values) is not None:
                    owner.remove(inertial)


def _stated_mass(root: Element) -> float | None:
    masses = [_values(inertial)[0] for _, inertial in _inertials(root)]
    masses += [float(geom.get("mass", 0.0)) for body in root.iter("body") for geom in body.findall("geom")]
    total = sum(mass for mass in masses if mass > 0)
    return total if total > 0 else None
