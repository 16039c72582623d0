"""Results as experiments write them, with numbers that come from nowhere: for tests only."""

from __future__ import annotations

from typing import Any

import numpy as np


def card(method: str = "sim-kl-class", seed: int = 0, wup: float = 0.9, **config: Any) -> dict[str, Any]:
    base = {"method": method, "backbone": "resnet110w", "bits": 64, "epochs": 100, "recipe": "modern"}
    ranking = {
        "mahp_wup_float": wup + 0.001,
        "mahp_wup_bin": wup,
        "mahp_lcs_float": wup - 0.05,
        "mahp_lcs_bin": wup - 0.06,
        "map_at_k_found_bin": 0.71,
    }
    return {
        "script": "experiments/cifar100.py --table ablations",
        "commit": "abc",
        "date": "2020-01-01",
        "hardware": "a machine",
        "versions": {"python": "3.11", "torch": "2"},
        "config": base | config | {"seed": seed},
        "seconds": {"train": 59.0},
        "metrics": ranking | {"accuracy": 0.8, "unique_codes": 6000.0, "multi_index_candidates": 50.0},
        "metrics_train_database": ranking,
        "curves": {
            f"hp_{of}_{kind}": np.linspace(1, 0.8, 250).tolist()
            for of in ("wup", "lcs")
            for kind in ("bin", "float")
        },
    }
