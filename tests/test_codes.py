"""Codes: exact packing against NumPy, clear refusals, files that notice damage."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kinhash import Codes
from kinhash.errors import FormatError, InputError, NotFoundError, StorageError


@given(n=st.integers(0, 9), bits=st.integers(1, 200), seed=st.integers(0, 2**32 - 1))
def test_every_face_of_a_code_agrees_with_numpy(n: int, bits: int, seed: int) -> None:
    z = np.random.default_rng(seed).normal(size=(n, bits))
    codes = Codes.from_logits(z)
    packed = np.packbits(z >= 0, axis=1, bitorder="little")
    assert (len(codes), codes.bits) == (n, bits)
    assert_array_equal(codes.to_bytes(), packed)
    assert_array_equal(codes.to_bits(), z >= 0)
    assert_array_equal(codes.to_signs(), np.where(z >= 0, 1, -1))
    assert Codes.from_bits(z >= 0) == codes
    assert Codes.from_bytes(packed, bits) == codes
    assert Codes.from_bytes(packed.tobytes(), bits) == codes
    assert Codes.from_hex(codes.hex(), bits) == codes
    for j in range(bits):  # the definition: bit j in word j // 64 at position j % 64
        assert_array_equal((codes.words[:, j // 64] >> np.uint64(j % 64)) & np.uint64(1), z[:, j] >= 0)


def test_zero_counts_as_one() -> None:
    assert_array_equal(Codes.from_logits([[0.0, -0.0, -1e-30]]).to_bits(), [[True, True, False]])


def test_slices_masks_lists_and_concat(rng: np.random.Generator) -> None:
    bits = rng.random((20, 70)) < 0.5
    codes = Codes.from_bits(bits)
    assert_array_equal(codes[3].to_bits(), bits[3:4])
    assert_array_equal(codes[-1].to_bits(), bits[-1:])
    assert_array_equal(codes[2:9:3].to_bits(), bits[2:9:3])
    assert_array_equal(codes[[5, 1, 5]].to_bits(), bits[[5, 1, 5]])
    assert_array_equal(codes[bits[:, 0]].to_bits(), bits[bits[:, 0]])
    assert Codes.concat([codes[:7], codes[7:]]) == codes
    assert len(list(codes)) == 20
    with pytest.raises(IndexError):
        codes[20]


def test_bytes_may_lie_apart_in_memory() -> None:
    assert Codes.from_bytes(memoryview(b"abcdef")[::2], 8).hex() == ["61", "63", "65"]


def test_an_empty_list_chooses_nothing(rng: np.random.Generator) -> None:
    codes = Codes.from_logits(rng.normal(size=(4, 8)))
    assert len(codes[[]]) == 0
    assert codes[[]].bits == 8


def test_equality_and_repr(rng: np.random.Generator) -> None:
    codes = Codes.from_bits(rng.random((5, 16)) < 0.5)
    assert codes != Codes.from_bits(~codes.to_bits())
    assert codes != "codes"
    assert "n=5, bits=16" in repr(codes)
    with pytest.raises(TypeError):
        hash(codes)


def test_codes_cannot_be_changed() -> None:
    codes = Codes.from_bits(np.ones((2, 8)))
    with pytest.raises(ValueError, match="read-only"):
        codes.words[0, 0] = 1
    for name in ("bits", "words"):
        with pytest.raises(AttributeError, match=f"{name!r} cannot be set"):
            setattr(codes, name, 2)
        with pytest.raises(AttributeError, match=f"{name!r} cannot be deleted"):
            delattr(codes, name)
    assert codes.hex() == ["ff", "ff"]


def test_the_buffer_of_the_caller_may_be_filled_again() -> None:
    words = np.ones((2, 1), np.uint64)
    seen = words.view()
    seen.flags.writeable = False  # a read-only view of what can still be written to
    kept = [Codes(words, 8), Codes(seen, 8), Codes(words, 8)[1:]]
    words[:] = 2**64 - 1
    assert [codes.hex()[-1] for codes in kept] == ["01"] * 3


def test_slices_and_read_only_memory_maps_are_not_copied(tmp_path: Path) -> None:
    np.save(tmp_path / "words.npy", np.arange(6, dtype=np.uint64).reshape(3, 2))
    mapped = np.load(tmp_path / "words.npy", mmap_mode="r")
    codes = Codes(mapped, 128)
    for part in (codes, codes[1:], codes[1:][0], codes[-1]):
        assert np.shares_memory(part.words, mapped)


def test_pickles_and_copies_are_equal_and_as_immutable(rng: np.random.Generator) -> None:
    codes = Codes.from_logits(rng.normal(size=(4, 70)))
    for other in (pickle.loads(pickle.dumps(codes)), copy.copy(codes), copy.deepcopy(codes)):
        assert other == codes
        assert not other.words.flags.writeable


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Codes.from_logits([[1.0, np.nan]]), "row 0, column 1"),
        (lambda: Codes.from_logits([1.0, 2.0]), "shape"),
        (lambda: Codes.from_logits([[1.0, 2.0], [-np.inf, 0.0]]), "hold -inf, first in row 1, column 0"),
        (lambda: Codes.from_logits([["a"]]), "signed numbers"),
        (lambda: Codes.from_logits(np.ones((2, 8), np.uint8)), "use Codes.from_bits"),
        (lambda: Codes.from_logits([[1.0, 2.0], [3.0]]), "rows of equal length"),
        (lambda: Codes.from_bits([[1, 0], [1]]), "rows of equal length"),
        (lambda: Codes.from_bits([[0, 2]]), "zeros and ones"),
        (lambda: Codes.from_bits(np.zeros((3, 0))), "positive"),
        (lambda: Codes.from_bytes(b"abc", 16), "3 bytes"),
        (lambda: Codes.from_bytes(np.zeros((1, 2), np.uint8), 64), "8"),
        (lambda: Codes.from_bytes(np.full((1, 1), 255, np.uint8), 7), "past position 6"),
        (lambda: Codes.from_bytes([1, 2], 8), "got list"),  # type: ignore[arg-type]
        (lambda: Codes.from_hex(["0g"], 8), "item 0"),
        (lambda: Codes.from_hex([7], 8), "item 0 is not hexadecimal: 7"),  # type: ignore[list-item]
        (lambda: Codes.from_hex("00ff", 8), "list of strings"),
        (lambda: Codes.from_bits(np.ones((2, 8)))["a"], "chosen by a number"),
        (lambda: Codes.from_bits(np.ones((2, 8)))[[[0], [1]]], r"shape \(2, 1\)"),
        (lambda: Codes.from_bits(np.ones((4, 8)))[np.ones(3, bool)], "mask has 3 entries for 4 codes"),
        (lambda: Codes.from_bits(np.ones((4, 8)))[[3, -5, 4]], "code -5, asked for at place 1, .* 4 codes"),
        (lambda: Codes.from_bits(np.ones((4, 8)))[np.array([4], np.uint8)], "code 4, asked for at place 0"),
        (lambda: Codes.from_hex(["00", "0000"], 8), "item 1"),
        (lambda: Codes.from_hex(5, 8), "list of strings, one per code, and got int"),  # type: ignore[arg-type]
        (lambda: Codes.from_hex(["00"], "a"), "whole number of bits, got 'a'"),  # type: ignore[arg-type]
        (lambda: Codes(np.zeros((1, 1), np.int64), 64), "uint64"),
        (lambda: Codes(np.zeros((1, 1), np.uint64), 65), "shape"),
        (lambda: Codes(np.zeros((1, 1), np.uint64), 0), "positive"),
        (lambda: Codes.concat([]), "at least one"),
        (lambda: Codes.concat(None), "a list of Codes, got NoneType"),  # type: ignore[arg-type]
        (lambda: Codes.concat(c for c in ()), "a list of Codes, got generator"),  # type: ignore[arg-type]
        (lambda: Codes.concat([np.ones((1, 8))]), "part 0 is ndarray"),  # type: ignore[list-item]
        (lambda: Codes.concat([Codes.from_bits(np.ones((1, 8))), Codes.from_bits(np.ones((1, 9)))]), "8, 9"),
    ],
)
def test_bad_input_is_refused_with_a_reason(make: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()  # type: ignore[operator]


def test_save_and_load(tmp_path: Path, rng: np.random.Generator) -> None:
    for n in (0, 3):
        codes = Codes.from_bits(rng.random((n, 100)) < 0.5)
        codes.save(tmp_path / "c")
        assert Codes.load(tmp_path / "c") == codes
    assert sorted(p.suffix for p in (tmp_path / "c").iterdir()) == [".json", ".npy"]


def test_every_flipped_bit_is_noticed(tmp_path: Path, rng: np.random.Generator) -> None:
    Codes.from_bits(rng.random((9, 24)) < 0.5).save(tmp_path)
    good = Codes.load(tmp_path)
    for file in tmp_path.iterdir():
        clean = file.read_bytes()
        for position in range(len(clean) * 8):
            data = bytearray(clean)
            data[position // 8] ^= 1 << position % 8
            file.write_bytes(data)
            with contextlib.suppress(FormatError, NotFoundError):
                assert Codes.load(tmp_path) == good  # a flip in white space may be harmless, never wrong
        file.write_bytes(clean)


def test_missing_truncated_and_foreign_files(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"codes\.json is missing"):
        Codes.load(tmp_path)
    Codes.from_bits(np.ones((4, 8))).save(tmp_path)
    (data,) = tmp_path.glob("*.npy")
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(FormatError, match="damaged"):
        Codes.load(tmp_path)
    card = json.loads((tmp_path / "codes.json").read_text())
    (tmp_path / "codes.json").write_text(json.dumps({**card, "version": 2}))
    with pytest.raises(FormatError, match="version 2"):
        Codes.load(tmp_path)


def test_writing_where_a_file_stands(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageError, match="taken"):
        Codes.from_bits(np.ones((1, 8))).save(tmp_path / "taken")
