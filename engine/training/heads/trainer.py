"""The loop that all heads share: batches in a fixed order, Muon and AdamW, a falling rate, checkpoints and a log.

A run resumes by itself from its latest checkpoint. The same seed, data, sizes and number of steps give the same head.
Files: RUN/latest.pt (all state), RUN/log.jsonl, and `heads.pid` beside the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Protocol

import model_path  # noqa: F401
import torch
from acceptance import Acceptance
from checkpoint import load_checkpoint, save_checkpoint
from feature_memory import FeatureMemory
from muon import Muon
from samples import Batch, Rows, choose_rows, open_samples
from stop_signal import StopSignal
from target import FrozenTarget, tap_layers
from torch import Tensor
from windows import WindowMix

CACHE = Path(os.environ.get("SLIPSTREAM_TRAINING_CACHE", Path.home() / ".cache" / "slipstream-training"))
SEED = 1
MAX_GRADIENT_NORM = 1.0
WARM_UP_STEPS = 20
LAST_FACTOR = 0.02
SECONDS_BETWEEN_CHECKPOINTS = 120
STEPS_BETWEEN_LOG_LINES = 10


class Head(Protocol):
    """What is trained: an nn.Module that knows its target."""

    steps: int  # how many guesses of a row are trained
    chain: int  # how many are measured
    rows_a_window: int
    muon_rate: float
    adam_rate: float
    adam_weights: tuple[str, ...]  # matrices that Muon does not train: output heads, as vocabulary rows are no linear map

    def loss(self, batch: Batch, rows: Rows) -> Tensor: ...
    def guesses(self, batch: Batch, steps: int) -> tuple[Rows, Tensor]: ...
    def save(self, folder: Path) -> None: ...
    def named_parameters(self) -> Any: ...
    def parameters(self) -> Any: ...
    def state_dict(self) -> dict[str, Tensor]: ...
    def load_state_dict(self, state: dict[str, Tensor]) -> Any: ...


def measure(head: Head, held: Batch, windows_a_pass: int = 4) -> Acceptance:
    acceptance = Acceptance(head.chain)
    for batch in held.split(windows_a_pass):
        acceptance.add(batch, *head.guesses(batch, head.chain))
    return acceptance


def learning_rate_factor(step: int, steps: int, peak: float) -> float:
    """Warm-up to `peak`, falling in a line to LAST_FACTOR at the last step: most of a head's gain comes as the rate falls."""
    warm = min(1.0, (step + 1) / WARM_UP_STEPS)
    return warm * max(LAST_FACTOR, peak * (steps - step) / steps)


class HeadOptimizers:
    """Muon for the layer's matrices; AdamW for output heads (vocabulary rows are no linear map), norms and biases."""

    def __init__(self, head: Head) -> None:
        named = [(name, p) for name, p in head.named_parameters() if p.requires_grad]
        is_matrix = {name: p.dim() == 2 and name not in head.adam_weights for name, p in named}
        self.others = [p for name, p in named if not is_matrix[name]]
        self.muon = Muon([p for name, p in named if is_matrix[name]])
        self.adam = torch.optim.AdamW(self.others, lr=0.0, betas=(0.9, 0.95), eps=1e-10, weight_decay=0.0)
        self.muon_rate, self.adam_rate = head.muon_rate, head.adam_rate

    def step(self, factor: float, steps_done: int) -> None:
        torch.nn.utils.clip_grad_norm_(self.others, MAX_GRADIENT_NORM)
        for group in self.adam.param_groups:
            group["lr"] = self.adam_rate * factor
        self.adam.step()
        self.muon.step(self.muon_rate * factor, steps_done)

    def state_dict(self) -> dict[str, Any]:
        return {"muon": self.muon.state_dict(), "adam": self.adam.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.muon.load_state_dict(state["muon"])
        self.adam.load_state_dict(state["adam"])


def argument_parser(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path, help="folder of the target, Hugging Face layout")
    parser.add_argument("run", help="name of the run's folder in the cache")
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE:WEIGHT")
    parser.add_argument("--held", type=Path, required=True, help="the target's completions of held-out prompts")
    parser.add_argument("--held-windows", type=int, default=24)
    parser.add_argument("--steps", type=int, required=True, help="of the whole run, over which the rates fall")
    parser.add_argument("--peak", type=float, default=1.0, help="the factor on the learning rates to begin at")
    parser.add_argument("--windows-a-step", type=int, default=4)
    parser.add_argument("--windows-a-pass", type=int, default=4)
    parser.add_argument("--steps-between-measures", type=int, default=100)
    parser.add_argument("--stop-after", type=int, metavar="STEPS", help="pause there; the same command goes on")
    parser.add_argument("--from", dest="start", type=Path, help="folder of a head to go on from: of the target as it was")
    parser.add_argument("--export", type=Path, help="folder for the head's files, written when the command ends")
    parser.add_argument("--rows-a-window", type=int, help="places to draft from; more where the target costs most")
    parser.add_argument("--unroll", type=int, metavar="STEPS", help="of EAGLE heads: drafting steps that are trained")
    parser.add_argument("--feature-memory", type=Path, help="folder that keeps the target's features of windows met")
    parser.add_argument("--threads", type=int, default=2)
    return parser


def open_target(folder: Path, memory: Path | None) -> FrozenTarget:
    target = FrozenTarget(folder)
    if memory:
        layers = target.config.layers
        target.memory = FeatureMemory(memory, [*tap_layers(layers), layers])
    return target


class Run:
    """The state that a checkpoint holds, and the step that advances it."""

    def __init__(self, args: argparse.Namespace, make_head: Callable[[FrozenTarget], Head]) -> None:
        self.args = args
        self.folder = CACHE / "runs" / args.run
        self.folder.mkdir(parents=True, exist_ok=True)
        self.latest = self.folder / "latest.pt"
        self.target = open_target(args.target, args.feature_memory)
        torch.manual_seed(SEED)
        self.head = make_head(self.target)
        self.head.rows_a_window = args.rows_a_window or self.head.rows_a_window
        self.head.steps = args.unroll or self.head.steps
        self.optimizers = HeadOptimizers(self.head)
        self.step = self.tokens = self.rows = 0
        taken: dict[str, int] = {}
        if self.latest.exists():
            state = load_checkpoint(self.latest)
            self.head.load_state_dict(state["head"])
            self.optimizers.load_state_dict(state["optimizers"])
            self.step, self.tokens, self.rows, taken = (state[key] for key in ("step", "tokens", "rows", "taken"))
        names, weights = zip(*(item.rsplit(":", 1) for item in args.data))
        files = [open_samples(path, SEED, taken.get(path.name, 0)) for path in map(Path, names)]
        self.mix = WindowMix(files, [float(weight) for weight in weights], SEED)
        self.held = open_samples(args.held, SEED).spread(args.held_windows)

    def advance(self) -> float:
        """One optimizer step; returns the loss."""
        batch = self.mix.file_for(self.step).take(self.args.windows_a_step)
        torch.manual_seed(SEED * 1_000_003 + self.step)
        parts = batch.split(self.args.windows_a_pass)
        for parameter in self.head.parameters():
            parameter.grad = None
        total = 0.0
        for part in parts:
            rows = choose_rows(part, self.target.end_of_text, self.head.steps, self.head.rows_a_window)
            loss = self.head.loss(part, rows) / len(parts)
            loss.backward()
            total += loss.item()
            self.rows += int(rows.valid[:, :, 0].sum())
        self.optimizers.step(learning_rate_factor(self.step, self.args.steps, self.args.peak), self.step)
        self.step += 1
        self.tokens += batch.ids.numel()
        return total

    def save(self) -> None:
        state = {
            "head": self.head.state_dict(),
            "optimizers": self.optimizers.state_dict(),
            "step": self.step,
            "tokens": self.tokens,
            "rows": self.rows,
            "taken": self.mix.taken,
        }
        save_checkpoint(self.latest, state)


def train(run: Run) -> None:
    """Until the last step, `--stop-after`, SIGTERM or SIGINT; the checkpoint is written in each case."""
    stop = StopSignal()
    with (run.folder / "log.jsonl").open("a") as log:
        _train(run, log, stop)
        run.save()
        result = {"step": run.step, "tokens": run.tokens, "rows": run.rows, **measure(run.head, run.held).summary()}
        print(json.dumps(result), file=log)
    print(json.dumps(result), flush=True)


def _train(run: Run, log: IO[str], stop: StopSignal) -> None:
    last = min(run.args.steps, run.args.stop_after or run.args.steps)
    losses: list[float] = []
    saved = logged = time.time()
    while run.step < last and not stop.received:
        losses.append(run.advance())
        now = time.time()
        if run.step % STEPS_BETWEEN_LOG_LINES == 0:
            line: dict[str, object] = {"step": run.step, "rows": run.rows, "loss": round(sum(losses) / len(losses), 4)}
            line["secondsAStep"] = round((now - logged) / len(losses), 2)
            if run.step % run.args.steps_between_measures == 0:
                line |= measure(run.head, run.held).summary()
            print(json.dumps(line), file=log, flush=True)
            losses, logged = [], time.time()
        if now - saved > SECONDS_BETWEEN_CHECKPOINTS:
            run.save()
            saved = now


def run_job(
    args: argparse.Namespace,
    make_head: Callable[[FrozenTarget], Head],
    read_head: Callable[[FrozenTarget, Path], Head],
) -> None:
    torch.set_num_threads(args.threads)
    run = Run(args, (lambda target: read_head(target, args.start)) if args.start else make_head)
    pid_file = CACHE / "heads.pid"
    pid_file.write_text(str(os.getpid()))
    try:
        train(run)
    finally:
        pid_file.unlink(missing_ok=True)
    if args.export:
        run.head.save(args.export)
