"""The import order of the package, and a checker that reads it off the source."""

from __future__ import annotations

import ast
from pathlib import Path

# A module imports only from layers above its own; inside one layer (a folder) imports are free.
LAYERS = [
    "errors",
    "arrays",
    "frozen",
    "files",
    "bar",
    "codes",
    "concatenation",
    "hyperplanes",
    "quantisation",
    "items",
    "kernels",
    "meaning",
    "metrics",
    "zeroshot",
    "index",
    "report",
    "comparison",
    "evaluation",
    "plots",
    "data",
    "duplicates",
    "cards",
    # torch begins
    "feeding",
    "losses",
    "models",
    "sentences",
    "sentence_pairs",
    "methods",
    "training",
    "album",
    # faces
    "pages",
    "demo",
    "serving",
    "cli",
]
TORCH_BEGINS = LAYERS.index("feeding")
TRITON = frozenset(  # kernels for a GPU; whoever wants one imports its file inside a function
    {
        "kernels/gpu_tensor.py",
        "kernels/gpu_triton.py",
        "losses/manhattan_triton.py",
        "losses/sim_triton.py",
        "models/fused_triton.py",
        "models/norm_triton.py",
    }
)
FACES = LAYERS[LAYERS.index("pages") :]  # these may also use the public names: `import kinhash as kh`


def layer_of(module: str) -> str:
    """'kinhash.metrics.ranking' -> 'metrics'."""
    return module.split(".")[1] if "." in module else ""


def imports_of(path: Path) -> list[str]:
    """Every kinhash module that `path` imports, at any depth: inside functions and TYPE_CHECKING blocks too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the full name"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name == "kinhash" or name.startswith("kinhash.")]


def violations(package: Path) -> list[str]:
    """One sentence for every import that goes down the list, and for every module that has no layer."""
    wrong = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package)
        if relative.parts == ("__init__.py",):
            continue  # the lazy table of public names; it imports nothing when loaded
        own = relative.parts[0].removesuffix(".py")
        if own not in LAYERS:
            wrong.append(f"{relative}: {own!r} has no place in LAYERS")
            continue
        for name in imports_of(path):
            target = layer_of(name)
            if target == "__version__" or (name == "kinhash" and own in FACES):
                continue
            if target not in LAYERS:
                wrong.append(f"{relative} imports {name}, which is no layer")
            elif target != own and LAYERS.index(target) >= LAYERS.index(own):
                wrong.append(f"{relative} imports {name}: {own!r} may not look down to {target!r}")
    return wrong


def torch_imports(package: Path) -> list[str]:
    """Where torch or triton is imported and may not be.

    Above the torch line nothing imports torch, but `kernels/gpu_*`, inside a function. The files in TRITON alone import
    triton when they are loaded.
    """
    wrong = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package)
        own = relative.parts[0].removesuffix(".py")
        above = own in LAYERS[:TORCH_BEGINS]
        inside = own == "kernels" and path.name.startswith("gpu_")
        tree = ast.parse(path.read_text())
        nodes = ast.walk(tree) if above and not inside else tree.body
        refused = {"torch", "triton"} if above else {"triton"}
        if relative.as_posix() in TRITON:
            refused = refused - {"triton"}
        for node in nodes:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            wrong += [f"{relative} imports {name}" for name in names if name.split(".")[0] in refused]
    return wrong
