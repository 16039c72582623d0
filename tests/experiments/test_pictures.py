from __future__ import annotations

from pathlib import Path

import numpy as np
import pictures


def test_validation_takes_a_tenth_of_every_class_from_the_training_pictures(tmp_path: Path) -> None:
    whole = pictures.load("cifar100-sample", None, tmp_path)
    parts = pictures.load("cifar100-sample-validation", None, tmp_path)
    assert len(parts.train) + len(parts.test) == len(whole.train)
    per_class = np.bincount(whole.train.targets())
    assert (np.bincount(parts.test.targets()) == -(-per_class // 10)).all()
    seen = {picture.tobytes() for picture in np.asarray(parts.train.images)}
    assert not seen & {picture.tobytes() for picture in np.asarray(parts.test.images)}
    assert parts.classes == whole.classes
