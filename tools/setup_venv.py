"""Make `.venv` with the pinned versions of constraints.txt; needs nothing but Python. Called by the Makefile.

torch is the one large download: on Linux its default build carries several gigabytes of CUDA libraries. Where no
NVIDIA GPU is seen, a CPU build is taken instead: a wheel that pip already knows on this machine, else the one that
uv's `--torch-backend` finds (uv is fetched into the environment for that, 20 MB). If both fail, the default build.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
PINS = ["-c", str(ROOT / "constraints.txt")]


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036  # this runs before anything has checked it
        sys.exit(f"kinhash needs Python 3.11 or newer; this is {sys.version.split()[0]}")
    if not PYTHON.exists() or not quietly(
        PYTHON, "-c", "import pip"
    ):  # the latter: an earlier try was cut off
        make_environment()
    if sys.platform == "linux" and shutil.which("nvidia-smi") is None:
        install_cpu_torch()
    command = install_command()
    print(f"installing kinhash and its pinned dependencies into {VENV}", flush=True)
    subprocess.run([*command, "-e", f"{ROOT}[dev]", *PINS], check=True)


def make_environment() -> None:
    if importlib.util.find_spec("ensurepip") is None:
        sys.exit(
            f"{sys.executable} comes without the part of Python that makes environments. On Debian and Ubuntu: "
            "apt install python3-venv. Elsewhere: make PYTHON=/path/to/another/python3"
        )
    venv.create(VENV, with_pip=True)


def install_command() -> list[str]:
    """uv where the machine has it, for its speed; else pip."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", "--python", str(PYTHON)]
    return [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def install_cpu_torch() -> None:
    if quietly(PYTHON, "-c", "import torch"):
        return
    pip = [PYTHON, "-m", "pip", "install", "--quiet"]
    if quietly(*pip, "--no-index", "--no-deps", "torch", *PINS):  # only what lies on this machine
        return
    uv = shutil.which("uv")
    if uv is None and quietly(*pip, "uv"):
        uv = str(PYTHON.with_name("uv"))
    if uv and quietly(uv, "pip", "install", "--python", PYTHON, "--torch-backend=cpu", "torch", *PINS):
        return
    print("no CPU build of torch could be had; the default build with CUDA follows", flush=True)


def quietly(*command: str | Path) -> bool:
    return subprocess.run([str(part) for part in command], capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    main()
