"""What a person sees during training: the epoch, losses, samples per second and the time left."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column

_EVERY = 0.5  # seconds between two looks at the losses, each of which waits for the device


class TrainingBar:
    """A bar over all steps on stderr; nothing at all where `show` is false."""

    def __init__(self, show: bool, *, epochs: int, steps: int, samples: int, done: int = 0) -> None:
        self.epochs, self.steps, self.samples = epochs, steps, samples
        self.first = self.done = done
        self.started = self.looked = time.monotonic()
        columns = (
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(bar_width=10, table_column=Column(min_width=10)),
            TaskProgressColumn(),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[rate]}"),
            # a narrow terminal wraps these and cuts off nothing
            TextColumn("{task.fields[losses]}", table_column=Column(no_wrap=False)),
        )
        self.progress = Progress(*columns, console=Console(stderr=True), disable=not show, expand=False)
        self.task = self.progress.add_task("", total=epochs * steps, completed=done, **self._fields({}))  # type: ignore[arg-type]  # fields of our own

    def __enter__(self) -> TrainingBar:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def advance(self) -> bool:
        """One step is over. True where it is time to look at the losses and `show` them."""
        self.done += 1
        due = not self.progress.disable and time.monotonic() - self.looked > _EVERY
        if due:
            self.looked = time.monotonic()
        return due

    def show(self, losses: Mapping[str, float]) -> None:
        """Bring the display up to date."""
        self.progress.update(self.task, completed=self.done, **self._fields(losses))  # type: ignore[arg-type]  # as above

    def rate(self) -> float:
        """Samples per second since the start."""
        return (self.done - self.first) * self.samples / max(1e-9, time.monotonic() - self.started)

    def _fields(self, losses: Mapping[str, float]) -> dict[str, str]:
        epoch = min(self.epochs, self.done // max(1, self.steps) + 1)
        return {
            "epoch": f"{epoch}/{self.epochs}",
            "losses": " ".join(f"{name} {value:.4f}" for name, value in losses.items()),
            "rate": f"{self.rate():,.0f} samples/s" if self.done > self.first else "",
        }
