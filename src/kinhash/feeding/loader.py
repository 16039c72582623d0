"""`DeviceLoader`: batches of (pictures or vectors, targets) on the device, the same ones for the same seed and epoch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from kinhash.arrays import finite_rows
from kinhash.data.augment import Augmentation, Draws, draw
from kinhash.data.decoding import Decoded, Decoder, decode_all
from kinhash.data.images import Broken, BrokenPictureWarning, told
from kinhash.data.preprocessing import Preprocessing
from kinhash.data.splits import Split, Vectors
from kinhash.errors import FormatError, InputError
from kinhash.feeding.batching import augmented, mixed, window_maps
from kinhash.feeding.normalising import scale_and_shift
from kinhash.feeding.sentences import Sentences
from kinhash.feeding.targets import Targets

RESIDENT_BYTES = 2 << 30  # pictures that fit into this are decoded once and kept on the device
PLAIN = Augmentation(crop=0, flip=False)
Batch = tuple[Tensor, Targets]


class DeviceLoader:
    """`split` in batches of `batch` rows: `epoch(e, start)` gives those of epoch e.

    Pictures that fit live on the device as uint8 and are augmented there; others stream through `workers` threads
    (or `processes`) and are augmented when they arrive. Everything random follows from (seed, epoch), drawn once
    per epoch: a step draws nothing and never waits for the device.

    `rank` of `world` takes its share of every global batch of `world * batch` rows, which is the same set of rows,
    in the same order and equally augmented, that one process with that batch would see.
    `target_vectors` (n, D) fill `Targets.vectors`, one of each row's `sentences` fills `Targets.captions`. Rows without
    labels count as classes of their own.
    A picture that cannot be read is listed in `broken` with a warning: its place is taken by another row of its
    batch, so that batches keep their shape; without `drop_last` the batch is shorter instead.
    """

    def __init__(
        self,
        split: Split,
        batch: int,
        *,
        device: torch.device | str = "cpu",
        augment: Augmentation | None = None,
        seed: int = 0,
        preprocessing: Preprocessing | None = None,
        shuffle: bool = True,
        drop_last: bool = True,
        target_vectors: ArrayLike | None = None,
        sentences: Sentences | None = None,
        rank: int = 0,
        world: int = 1,
        workers: int = 0,
        processes: bool = False,
        resident: bool | None = None,
    ) -> None:
        self.augment = augment or PLAIN
        self.batch, self.seed, self.rank, self.world = batch, seed, rank, world
        self.shuffle, self.drop_last = shuffle, drop_last
        self.device = torch.device(device)
        self.preprocessing = None if split.vectors is not None and split.images is None else preprocessing
        self.broken: list[Broken] = []
        self._check(split)
        target_vectors = None if target_vectors is None else _per_row(split, target_vectors)
        if sentences is not None and len(sentences) != len(split):
            raise InputError(f"{len(split)} rows, but sentences of {len(sentences)}: every row needs some")
        self._sentences = sentences
        self._decoder: Decoder | None = None
        if split.images is None:
            self._data: Tensor | None = self._held(split.vectors)
        else:
            self.preprocessing = preprocessing or _native(split)
            split, target_vectors = self._prepare(split, target_vectors, resident, workers, processes)
        self.split = split
        self._check_length()
        labels = np.arange(len(split)) if split.labels is None else split.labels
        self._labels = self._held(labels)
        self._vectors = None if target_vectors is None else self._held(target_vectors)
        self._captions = None if self._sentences is None else self._held(self._sentences.vectors)
        if self.preprocessing is not None:
            self._scale, self._shift = scale_and_shift(self.preprocessing, self.device)

    def __len__(self) -> int:
        """Steps per epoch."""
        whole = self.batch * self.world
        if self.drop_last:
            return len(self.split) // whole
        return max(0, -(-(len(self.split) - self.rank * self.batch) // whole))

    def epoch(self, number: int, start: int = 0) -> Iterator[Batch]:
        """The batches of epoch `number` from step `start` on; always the same ones."""
        rng = np.random.default_rng([self.seed, number])
        n = len(self.split)
        order = rng.permutation(n) if self.shuffle else np.arange(n)
        steps = -(-n // (self.batch * self.world))
        size = 0 if self.preprocessing is None else self.preprocessing.size
        draws = draw(self.augment, n, steps, size, rng)
        self._caption_of = None if self._sentences is None else self._held(self._sentences.draw(rng))
        places = [self._place(step) for step in range(start, len(self))]
        if self._data is None:
            return self._streamed(order, draws, places)
        return self._from_device(order, draws, places)

    def close(self) -> None:
        """Let the workers of a streaming loader go."""
        if self._decoder is not None:
            self._decoder.close()

    def _place(self, step: int) -> tuple[int, slice]:
        first = (step * self.world + self.rank) * self.batch
        return step, slice(first, min(first + self.batch, len(self.split)))

    def _from_device(
        self, order: NDArray[np.int64], draws: Draws, places: list[tuple[int, slice]]
    ) -> Iterator[Batch]:
        assert self._data is not None
        rows = self._held(order)
        held = _HeldDraws(draws, self.device)
        for step, place in places:
            at = rows[place]
            targets = self._targets(at)
            yield self._finished(self._data, at, targets, held, place, int(draws.mode[step]))

    def _streamed(
        self, order: NDArray[np.int64], draws: Draws, places: list[tuple[int, slice]]
    ) -> Iterator[Batch]:
        images, ids = self.split.images, self.split.ids
        assert images is not None
        assert self._decoder is not None
        held = _HeldDraws(draws, self.device, windows=False)
        requests = (
            (
                [images[i] for i in order[place]],
                [ids[i] for i in order[place]],
                None if draws.window is None else draws.window[place],
            )
            for _, place in places
        )
        for (step, place), decoded in zip(places, self._decoder.batches(requests), strict=True):
            kept = self._kept(decoded, place.stop - place.start)
            if not len(kept):
                continue
            chosen = self._held(order[place][decoded.positions[kept]])
            pictures = self._held(decoded.pictures)
            part = slice(place.start, place.start + len(kept))
            at = self._held(kept)
            yield self._finished(pictures, at, self._targets(chosen), held, part, int(draws.mode[step]))

    def _kept(self, decoded: Decoded, wanted: int) -> NDArray[np.int64]:
        """Which of the decoded pictures fill the batch: all, and with `drop_last` some again for the broken."""
        good = len(decoded.positions)
        known = {broken.id for broken in self.broken}
        new = [broken for broken in decoded.broken if broken.id not in known]
        if new:
            self.broken += new
            warnings.warn(told(new), BrokenPictureWarning, stacklevel=4)
        if self.drop_last and not good:
            raise FormatError(f"none of the {wanted} pictures of a batch can be read; {told(decoded.broken)}")
        return np.arange(wanted) % good if self.drop_last else np.arange(good)

    def _finished(
        self, data: Tensor, at: Tensor, targets: Targets, held: _HeldDraws, place: slice, mode: int
    ) -> Batch:
        whole = held.whole[place]
        if self.preprocessing is None:
            x = data[at]
        else:
            strength = None if held.strength is None else held.strength[place]
            maps = None if held.maps is None else held.maps[place]
            x = augmented(data, at, whole, strength, maps, self.augment, self._scale, self._shift)
        if not self.augment.mixes:
            return x, targets
        return mixed(x, targets, whole, held.weight[place], mode)

    def _targets(self, rows: Tensor) -> Targets:
        vectors = None if self._vectors is None else self._vectors[rows]
        captions = None
        if self._captions is not None and self._caption_of is not None:
            captions = self._captions[self._caption_of[rows]]
        return Targets(self._labels[rows], vectors=vectors, captions=captions)

    def _held(self, array: NDArray[np.generic] | None) -> Tensor:
        assert array is not None
        tensor = torch.from_numpy(np.require(array, requirements=["C", "W"]))
        if self.device.type == "cuda":
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor.to(self.device)

    def _prepare(
        self, split: Split, vectors: Vectors | None, resident: bool | None, workers: int, processes: bool
    ) -> tuple[Split, Vectors | None]:
        assert self.preprocessing is not None
        assert split.images is not None
        if resident is None:
            fits = len(split) * self.preprocessing.size**2 * 3 <= RESIDENT_BYTES
            resident = isinstance(split.images, np.ndarray) or (fits and self.augment.area == 1)
        if not resident:
            self._data = None
            self._decoder = Decoder(self.preprocessing, workers, processes)
            return split, vectors
        if isinstance(split.images, np.ndarray):
            self._data = self._held(self.preprocessing.pictures(split.images))
            return split, vectors
        decoded = decode_all(split.images, split.ids, self.preprocessing, workers=workers)
        if self._sentences is not None:
            self._sentences = self._sentences.take(decoded.positions)
        if decoded.broken:
            self.broken += decoded.broken
            warnings.warn(told(decoded.broken), BrokenPictureWarning, stacklevel=3)
        self._data = self._held(decoded.pictures)
        return split.take(decoded.positions), None if vectors is None else vectors[decoded.positions]

    def _check(self, split: Split) -> None:
        if self.batch < 1 or not 0 <= self.rank < self.world:
            raise InputError(f"batch {self.batch} and rank {self.rank} of {self.world} make no sense")
        if split.images is None and self.augment.changes_pictures:
            raise InputError(
                "embeddings cannot be cropped, flipped or cut: of the augmentations only mixup applies"
            )

    def _check_length(self) -> None:
        if not len(self.split):
            raise InputError("the split is empty: there are no batches to make")
        whole = self.batch * self.world
        if self.drop_last and len(self.split) < whole:
            raise InputError(
                f"the split has {len(self.split)} rows, fewer than one batch of {whole}: lower the batch, or add rows"
            )


class _HeldDraws:
    """The draws of an epoch on the device."""

    def __init__(self, draws: Draws, device: torch.device, windows: bool = True) -> None:
        def held(array: NDArray[np.generic] | None) -> Tensor | None:
            return None if array is None else torch.from_numpy(array).to(device, non_blocking=True)

        self.whole = torch.from_numpy(draws.whole).to(device)
        self.weight = torch.from_numpy(draws.weight).to(device)
        self.strength = held(draws.strength)
        window = held(draws.window) if windows else None
        self.maps = None if window is None else window_maps(window)


def _per_row(split: Split, values: ArrayLike) -> Vectors:
    vectors = finite_rows(values, "the target vectors", np.float32)
    if len(vectors) != len(split):
        raise InputError(f"{len(split)} rows, but {len(vectors)} target vectors: every row needs one")
    return vectors


def _native(split: Split) -> Preprocessing:
    """Pictures that lie in memory keep their size; for others the size is the caller's decision."""
    if not isinstance(split.images, np.ndarray):
        raise InputError(
            "pictures that are files need a preprocessing that says to which size they are brought"
        )
    return Preprocessing(size=min(split.images.shape[1:3]))
