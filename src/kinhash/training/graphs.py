"""Faster steps on a GPU: blocks as fused kernels, compiled or our own, and the whole step replayed as one CUDA graph.

A small network is bound by launching kernels, not by running them; a captured graph launches all at once. What cannot
be compiled or captured runs as it is, with a warning.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from kinhash.arrays import checked_choice
from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.models.resnet_cifar import CifarResNet
from kinhash.training.step import Step

Act = Callable[[Tensor, Targets], None]
Accelerate = Literal["auto", "off", "graph", "compile"]
_WARM = (
    4  # eager steps before the capture: they create the optimiser's state and choose convolution algorithms
)
_WORTH_COMPILING = 3000  # steps; fewer do not earn back the time that compiling takes


def accelerated(step: Step, mode: Accelerate, *, steps: int, world: int = 1) -> Act:
    """`step`, or something that does the same faster. `steps`: how many are to come.

    off: as written. graph: the whole step is one CUDA graph. compile: the network's repeated blocks are compiled, or run
    on kernels of our own where there are some, and on a GPU the step becomes a graph as well. auto: graph on a GPU,
    compile for long runs, off elsewhere. With several processes no graph is captured: the exchange of gradients stays
    outside.
    """
    checked_choice(mode, get_args(Accelerate), "accelerate")
    cuda = step.device.type == "cuda"
    if mode == "auto":
        mode = "off" if not cuda else "compile" if steps >= _WORTH_COMPILING else "graph"
    if mode == "graph" and not cuda:
        raise InputError("accelerate='graph' needs a CUDA device; use 'auto', 'off' or 'compile'")
    run: Act = step
    if mode == "compile":
        run = CompiledStep(step)
    if mode != "off" and cuda and world == 1:
        run = GraphedStep(step, run)
    return run


class CompiledStep:
    """The step with every repeated block of the network compiled; blocks of one shape share their kernels.

    A network with kernels of our own uses those; its blocks are compiled only if they do not fit and it calls them.
    """

    def __init__(self, step: Step) -> None:
        self.step = step
        self.proven = False

    def __call__(self, inputs: Tensor, targets: Targets) -> None:
        if not self.proven:
            self.proven = True
            try:
                self._compile()
                self.step(inputs, targets)
                return
            except Exception as error:  # compilers fail in many ways, and none of them should end a training
                _say("compiling the network", error)
                self.step.optimiser.zero_grad(set_to_none=True)
                as_written(self.step.trainee.network)
        self.step(inputs, targets)

    def _compile(self) -> None:
        # one function serves all blocks, in as many versions as there are shapes
        torch._dynamo.config.recompile_limit = max(64, torch._dynamo.config.recompile_limit)
        for block in repeated_blocks(self.step.trainee.network):
            block.compile()
        _use_own_kernels(self.step.trainee.network, True)


class GraphedStep:
    """Captures the step once its first, eager runs are over, then replays it on copies of the inputs.

    The first runs train like all others. Whatever prevents the capture, the step goes on eagerly.
    """

    def __init__(self, step: Step, run: Act) -> None:
        self.step, self.run = step, run
        self.seen = 0
        self.graph: torch.cuda.CUDAGraph | None = None
        self.failed = False
        self.side = torch.cuda.Stream(step.device)  # type: ignore[no-untyped-call]

    def __call__(self, inputs: Tensor, targets: Targets) -> None:
        if self.failed:
            self.run(inputs, targets)
            return
        if self.graph is None and self.seen == _WARM:
            self._capture(inputs, targets)
        if self.graph is None:
            self._eagerly(inputs, targets)
            return
        self.inputs.copy_(inputs, non_blocking=True)
        for own, new in zip(self.targets.parts(), targets.parts(), strict=True):
            own.copy_(new, non_blocking=True)
        self.graph.replay()
        self.step.count += 1

    def _eagerly(self, inputs: Tensor, targets: Targets) -> None:
        """On the stream of the later capture, as capturing wants it."""
        self.seen += 1
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.run(inputs, targets)
        torch.cuda.current_stream().wait_stream(self.side)

    def _capture(self, inputs: Tensor, targets: Targets) -> None:
        self.inputs = inputs.clone()  # keeps the memory order
        self.targets = targets.map(torch.clone)
        stream = torch.cuda.current_stream()
        generator = torch.cuda.default_generators[stream.device_index]
        spare = generator.clone_state()  # a failed capture leaves the generator unusable
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        try:
            with torch.cuda.graph(graph, stream=self.side):
                self.step.compute(self.inputs, self.targets)
            self.graph = graph
        except Exception as error:  # torch raises whatever it met; the step itself is fine
            torch.cuda.set_stream(stream)
            generator.graphsafe_set_state(spare)
            self.failed = True
            self.step.optimiser.zero_grad(set_to_none=True)
            _say("capturing the step as a CUDA graph", error)


def as_written(network: nn.Module) -> None:
    """Take back all compiling: an encoder computes with the modules themselves."""
    _use_own_kernels(network, False)
    for module in network.modules():
        module._compiled_call_impl = None


def _use_own_kernels(network: nn.Module, use: bool) -> None:
    for module in network.modules():
        if isinstance(module, CifarResNet):
            module.fused = use


def fast_convolutions() -> AbstractContextManager[None]:
    """cuDNN tries its algorithms on the first batch and keeps the fastest."""
    context: AbstractContextManager[None] = torch.backends.cudnn.flags(
        enabled=torch.backends.cudnn.enabled, benchmark=True
    )
    return context


def repeated_blocks(network: nn.Module) -> list[nn.Module]:
    """The largest modules of which a network has several of one type in a row: the blocks of a residual network."""
    found: list[nn.Module] = []
    for child in network.children():
        kinds = Counter(type(part) for part in child.children() if next(part.children(), None) is not None)
        if isinstance(child, nn.Sequential | nn.ModuleList) and any(count > 1 for count in kinds.values()):
            found += [part for part in child.children() if kinds[type(part)] > 1]
        else:
            found += repeated_blocks(child)
    return found


def _say(what: str, error: Exception) -> None:
    line = str(error).strip().splitlines()[0] if str(error).strip() else ""
    warnings.warn(
        f"{what} failed ({type(error).__name__}: {line}); training goes on without it",
        RuntimeWarning,
        stacklevel=3,
    )
