"""What holds for every line of ZERO_SHOT."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_classes import Classes

from kinhash.codes import Codes
from kinhash.errors import InputError, UnknownClassError
from kinhash.metrics.classification import flat_hit
from kinhash.zeroshot import ZERO_SHOT, KinCodes

CODES = ("bzsl", "kin")


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_each_finds_unseen_classes_and_a_seed_decides(name: str, toy: Classes) -> None:
    line = ZERO_SHOT[name]
    assert line.paper
    assert line.year > 2000
    assert len(line.formula) <= 90
    first, again = (line.make().fit(toy.features, toy.labels, toy.seen) for _ in range(2))
    scores = first.scores(toy.others, toy.unseen)
    assert scores.shape == (len(toy.others), len(toy.unseen))
    assert flat_hit(scores, toy.truth, 1).mean() > 0.5  # chance is .2
    np.testing.assert_array_equal(scores, again.scores(toy.others, toy.unseen))
    turned = first.scores(toy.others[::-1], toy.unseen[::-1])
    np.testing.assert_allclose(turned[::-1, ::-1], scores, rtol=1e-9, atol=1e-9)


def test_each_beats_chance_on_pictures_and_kin_the_mean_of_the_others(pictures: Classes) -> None:
    hits = {}
    for name, line in ZERO_SHOT.items():
        model = line.make().fit(pictures.features, pictures.labels, pictures.seen)
        values = model.scores(pictures.others, pictures.unseen)
        hits[name] = np.array([flat_hit(values, pictures.truth, k).mean() for k in (1, 2, 5)])
    chance = np.array([1, 2, 5]) / len(pictures.unseen)
    assert all((found > chance + 0.1).all() for found in hits.values()), hits
    own = hits.pop("kin")
    assert (own > np.mean(list(hits.values()), axis=0)).all(), (own, hits)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("bits", [4, 16, 70])
def test_codes_meet_class_codes(name: str, bits: int, toy: Classes) -> None:
    model = ZERO_SHOT[name].make(bits).fit(toy.features, toy.labels, toy.seen)
    codes, classes = model.codes(toy.others), model.class_codes(toy.unseen)
    assert isinstance(codes, Codes)
    assert (codes.bits, classes.bits, len(classes)) == (bits, bits, len(toy.unseen))
    distances = -np.array([[(a != b).sum() for b in classes.to_bits()] for a in codes.to_bits()])
    found = model.hamming if isinstance(model, KinCodes) else model.scores
    np.testing.assert_array_equal(found(toy.others, toy.unseen), distances)
    if bits >= 16:
        assert flat_hit(distances.astype(float), toy.truth, 1).mean() > 0.4


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_bad_input_is_one_sentence(name: str, toy: Classes) -> None:
    make = ZERO_SHOT[name].make
    with pytest.raises(InputError, match="seen class 12 has a vector but no item"):
        make().fit(toy.features, toy.labels, np.vstack([toy.seen, toy.unseen]))
    with pytest.raises(UnknownClassError, match="classes 0 to 4"):
        make().fit(toy.features, toy.labels, toy.seen[:5])
    with pytest.raises(InputError, match="at least two seen ones"):
        make().fit(toy.features[:3], np.zeros(3, int), toy.seen[:1])
    with pytest.raises(InputError, match="108 items"):
        make().fit(toy.features, toy.labels[:-1], toy.seen)
    model = make().fit(toy.features, toy.labels, toy.seen)
    with pytest.raises(InputError, match="features of 8 numbers, got 7"):
        model.scores(toy.others[:, 1:], toy.unseen)
    with pytest.raises(InputError, match="vectors of 4 numbers, these have 3"):
        model.scores(toy.others, toy.unseen[:, 1:])
    with pytest.raises(InputError, match="no unseen classes"):
        model.scores(toy.others, toy.unseen[:0])
