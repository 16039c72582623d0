"""Build the wheel and use it where nothing else of the repository is: `python tools/check_wheel.py [--demo] [--pip]`.

A clean environment holds the wheel, what its core requires and, for the server, what the extra `serve` requires; torch and
the tools of development are not in it. By default these packages are linked from the environment that runs this script, so
that no network is needed; `--pip` has pip fetch them. `--demo` adds the extra `demo` and runs `kinhash demo`, in minutes.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
USE = Path(__file__).with_name("use_wheel.py")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--demo", action="store_true", help="also run `kinhash demo`")
    parser.add_argument("--pip", action="store_true", help="have pip fetch the dependencies")
    arguments = parser.parse_args()
    extras = ("serve", "demo") if arguments.demo else ("serve",)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wheel = built(place / "dist")
        print(
            f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB: {len(missing(wheel))} files of the package are missing"
        )
        if missing(wheel):
            sys.exit(f"not in the wheel: {', '.join(missing(wheel))}")
        python = environment(place / "env", wheel, extras, fetch=arguments.pip)
        jit = {} if arguments.demo else {"NUMBA_DISABLE_JIT": "1"}  # compiling takes longer than all the rest
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        command = [str(python), str(USE), *(["--demo"] if arguments.demo else [])]
        sys.exit(subprocess.run(command, cwd=place, env=clean | jit, check=False).returncode)


def built(folder: Path) -> Path:
    """The wheel, made by the build backend that is installed here."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the wheel could not be built:\n{done.stdout}{done.stderr}")
    [wheel] = folder.glob("*.whl")
    return wheel


def missing(wheel: Path) -> list[str]:
    """Files of the package that the wheel lacks."""
    inside = set(zipfile.ZipFile(wheel).namelist())
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    names = sorted(path.relative_to(ROOT / "src").as_posix() for path in files)
    return [name for name in names if name.startswith("kinhash/") and name not in inside]


def environment(folder: Path, wheel: Path, extras: tuple[str, ...], *, fetch: bool) -> Path:
    """Its Python."""
    venv.create(folder, with_pip=fetch)
    python = folder / "bin" / "python"
    if fetch:
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*pip, f"{wheel}[{','.join(extras)}]", "-c", str(ROOT / "constraints.txt")], check=True
        )
        return python
    [site] = folder.glob("lib/python*/site-packages")
    for name in sorted(required(wheel, extras)):
        link(name, site)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    return python


def required(wheel: Path, extras: tuple[str, ...]) -> set[str]:
    """Every distribution that the wheel needs with these extras, directly or not."""
    content = zipfile.ZipFile(wheel)
    [card] = [name for name in content.namelist() if name.endswith(".dist-info/METADATA")]
    own = re.findall(r"^Requires-Dist: (.+)$", content.read(card).decode(), re.MULTILINE)
    found: set[tuple[str, str]] = set()
    todo = [("kinhash", extra) for extra in ("", *extras)]
    while todo:
        name, extra = todo.pop()
        if (name, extra) in found:
            continue
        found.add((name, extra))
        for line in own if name == "kinhash" else metadata.requires(name) or []:
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                wanted = canonicalize_name(need.name)
                todo += [(wanted, one) for one in ("", *need.extras)]
    return {name for name, _ in found} - {"kinhash"}


def link(name: str, site: Path) -> None:
    """Make an installed distribution importable in another environment."""
    distribution = metadata.distribution(name)
    for first in {path.parts[0] for path in distribution.files or ()} - {"..", "__pycache__"}:
        source, target = Path(str(distribution.locate_file(first))), site / first
        if source.exists() and not target.exists():
            target.symlink_to(source)


if __name__ == "__main__":
    main()
