"""Trains the embedded model. Resumes by itself from the run's latest checkpoint.

Stable stage:  train.py RUN --config CONFIG.json --data FILE:WEIGHT... --held FILE [--from CHECKPOINT]
Decay stage:   train.py RUN-decay --decay-steps N --from CACHE/runs/RUN/latest.pt --data ... --held ...

Stops after the current step on SIGTERM or SIGINT and saves. The same seed, data and number of steps give the same
model. Files: RUN/latest.pt (all state), RUN/step-N.pt (weights), RUN/log.jsonl, and `train.pid` beside the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from architecture import LanguageModel, ModelConfig
from checkpoint import load_checkpoint, save_checkpoint
from optimizers import Optimizers
from schedule import Schedule
from stop_signal import StopSignal
from windows import WindowFile, WindowMix

CACHE = Path(os.environ.get("SLIPSTREAM_TRAINING_CACHE", Path.home() / ".cache" / "slipstream-training"))
SEED = 1
TOKENS_A_STEP = 8192
TOKENS_A_PASS = 2048
SECONDS_BETWEEN_CHECKPOINTS = 600
STEPS_BETWEEN_LOG_LINES = 10
STEPS_BETWEEN_EVALUATIONS = 200
STEPS_BETWEEN_SNAPSHOTS = 2000
HELD_WINDOWS = 64


class Run:
    """One stage of training: the state that a checkpoint holds, and the step that advances it."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.folder = CACHE / "runs" / args.run
        self.folder.mkdir(parents=True, exist_ok=True)
        self.latest = self.folder / "latest.pt"
        resumes = self.latest.exists()
        start = load_checkpoint(self.latest if resumes else args.start) if resumes or args.start else None
        sizes = {**start["config"], "end_of_text": start["end_of_text"]} if start else json.loads(args.config.read_text())
        self.end_of_text: int = sizes.pop("end_of_text")
        self.config = ModelConfig(**sizes)
        torch.manual_seed(SEED)
        self.model = LanguageModel(self.config)
        self.optimizers = Optimizers(self.model)
        self.step = self.tokens = 0
        taken = dict[str, int]()
        if start:
            self.model.load_state_dict(start["model"])
        if start and "optimizers" in start:
            self.optimizers.load_state_dict(start["optimizers"])
            self.step, self.tokens, taken = start["step"], start["tokens"], start["taken"]
        self.loss = _compiled_loss() if args.compiled else _eager_loss
        stage = start["schedule"] if start and resumes else self._new_stage(args, start)
        self.schedule = Schedule(**stage)
        self.mix = open_mix(args.data, taken)
        before = start.get("longest_window", 0) if start else 0
        self.longest_window = max(before, *(file.length for file in self.mix.files))
        self.held = WindowFile(args.held, SEED).spread(HELD_WINDOWS)

    def _new_stage(self, args: argparse.Namespace, start: dict[str, Any] | None) -> dict[str, float]:
        has_momentum = start is not None and "optimizers" in start
        warm_up_from = -(10**6) if has_momentum else 0
        decay = {"decay_from": self.step, "decay_steps": args.decay_steps, "peak": args.peak}
        return {"warm_up_from": warm_up_from, **decay}

    def advance(self) -> float:
        """One optimizer step over TOKENS_A_STEP tokens; returns the mean loss in nats a token."""
        file = self.mix.file_for(self.step)
        rows = max(1, TOKENS_A_PASS // file.length)
        passes = TOKENS_A_STEP // (rows * file.length)
        for parameter in self.model.parameters():
            parameter.grad = None
        total = 0.0
        for _ in range(passes):
            windows = file.take(rows)
            loss = self.loss(self.model, windows, self.end_of_text) / passes
            loss.backward()
            total += float(loss.detach())
        self.optimizers.step(self.schedule.factor(self.step), self.step)
        self.step += 1
        self.tokens += TOKENS_A_STEP
        return total

    @torch.no_grad()
    def held_out_loss(self) -> float:
        losses = []
        for windows in self.held.split(4):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                losses.append(float(self.model.loss(windows, self.end_of_text)) * len(windows))
        return sum(losses) / len(self.held)

    def state(self) -> dict[str, Any]:
        return {
            "config": self.config.to_dict(),
            "end_of_text": self.end_of_text,
            "model": self.model.state_dict(),
            "optimizers": self.optimizers.state_dict(),
            "schedule": vars(self.schedule),
            "step": self.step,
            "tokens": self.tokens,
            "taken": self.mix.taken,
            "longest_window": self.longest_window,
        }

    def snapshot(self) -> None:
        kept = {key: value for key, value in self.state().items() if key != "optimizers"}
        save_checkpoint(self.folder / f"step-{self.step}.pt", kept)


def _eager_loss(model: LanguageModel, windows: torch.Tensor, end_of_text: int) -> torch.Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return model.loss(windows, end_of_text)


def _compiled_loss() -> Callable[[LanguageModel, torch.Tensor, int], torch.Tensor]:
    from compiled_forward import compiled_loss  # its decorators need PyTorch 2

    return compiled_loss


def open_mix(data: list[str], taken: dict[str, int]) -> WindowMix:
    files, weights = [], []
    for item in data:
        name, _, weight = item.partition(":")
        path = Path(name)
        files.append(WindowFile(path, SEED, taken.get(path.name, 0)))
        weights.append(float(weight or 1))
    return WindowMix(files, weights, SEED)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--held", type=Path, required=True)
    parser.add_argument("--from", dest="start", type=Path)
    parser.add_argument("--decay-steps", type=int, default=0)
    parser.add_argument("--peak", type=float, default=1.0, help="the factor on the learning rates that a decay starts from")
    parser.add_argument("--max-seconds", type=float, default=float("inf"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compiled", action="store_true", help="fuse with torch.compile (PyTorch 2.5, a C++ compiler)")
    return parser.parse_args()


def _train(run: Run, max_seconds: float) -> None:
    stop, began, saved = StopSignal(), time.time(), time.time()
    log = (run.folder / "log.jsonl").open("a")
    recent: list[float] = []
    logged = time.time()
    while not stop.received and not run.schedule.is_over(run.step) and time.time() - began < max_seconds:
        recent.append(run.advance())
        if run.step % STEPS_BETWEEN_LOG_LINES == 0:
            seconds, logged = time.time() - logged, time.time()
            line = {"step": run.step, "tokens": run.tokens, "loss": round(sum(recent) / len(recent), 4)}
            line |= {"tokensASecond": round(len(recent) * TOKENS_A_STEP / seconds), "time": round(time.time())}
            line |= {"factor": round(run.schedule.factor(run.step), 4)}
            if run.step % STEPS_BETWEEN_EVALUATIONS == 0:
                line["heldOut"] = round(run.held_out_loss(), 4)
            print(json.dumps(line), file=log, flush=True)
            recent = []
        if time.time() - saved > SECONDS_BETWEEN_CHECKPOINTS:
            save_checkpoint(run.latest, run.state())
            saved = time.time()
        if run.step % STEPS_BETWEEN_SNAPSHOTS == 0:
            run.snapshot()
    save_checkpoint(run.latest, run.state())
    print(json.dumps({"step": run.step, "tokens": run.tokens, "heldOut": round(run.held_out_loss(), 4)}), file=log)


def main() -> None:
    args = _parse_arguments()
    torch.set_num_threads(args.threads)
    run = Run(args)
    pid_file = CACHE / "train.pid"
    pid_file.write_text(str(os.getpid()))
    try:
        _train(run, args.max_seconds)
    finally:
        pid_file.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
