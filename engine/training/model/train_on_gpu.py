"""Trains an embedded model on one GPU within a given number of minutes, and exports it in pieces that travel.

train_on_gpu.py DATA.LENGTH.bin TOKENIZER.json FOLDER --config CONFIG.json [--held FILE] [--from CHECKPOINT] [--minutes M]

For a machine that is lent for minutes: it needs one file of windows (samples/encodeCorpus.ts; 60 MiB hold 31M tokens,
which are read again in another order until the time is over) and leaves FOLDER in Hugging Face layout, its weights in
shards of at most 15 MiB. The learning rate follows the clock: warm-up, constant, linear decay over the last part.
A run that is stopped (SIGTERM) decays nothing but exports what it has.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from torch import Tensor

from architecture import LanguageModel, ModelConfig
from checkpoint import load_checkpoint
from export import export_folder
from optimizers import Optimizers
from plain_forward import plain_loss
from stop_signal import StopSignal
from windows import WindowFile

SEED = 1
TOKENS_A_STEP = 131_072
WARM_UP_SHARE = 0.02
DECAY_SHARE = 0.4
LAST_FACTOR = 0.02
SHARD_BYTES = 15 * 2**20
SECONDS_BETWEEN_LOG_LINES = 10
HELD_WINDOWS = 256


def learning_rate_factor(share: float) -> float:
    """Of the learning rates, when this share of the time is over."""
    warm = min(1.0, (share + 1e-3) / WARM_UP_SHARE)
    left = (1.0 - share) / DECAY_SHARE
    return warm * max(LAST_FACTOR, min(1.0, left))


class GpuRun:
    """The model, its data on the device, and the step that advances it."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.manual_seed(SEED)
        torch.set_float32_matmul_precision("high")
        sizes = json.loads(args.config.read_text())
        self.end_of_text: int = sizes.pop("end_of_text")
        self.config = ModelConfig(**sizes)
        self.model = LanguageModel(self.config)
        if args.start:
            self.model.load_state_dict(load_checkpoint(args.start)["model"])
        self.model.to(self.device)
        self.optimizers = Optimizers(self.model)
        self.data = WindowFile(args.data, SEED)
        self.held = WindowFile(args.held, SEED).spread(HELD_WINDOWS) if args.held else None
        self.windows_a_step = max(1, args.tokens_a_step // self.data.length)
        self.loss = torch.compile(plain_loss) if self.device.type == "cuda" else plain_loss
        self.step = 0

    @property
    def tokens(self) -> int:
        return self.step * self.windows_a_step * self.data.length

    def advance(self, factor: float) -> Tensor:
        """One optimizer step; the loss stays on the device, so that nothing waits for it."""
        for parameter in self.model.parameters():
            parameter.grad = None
        loss = self._loss_of(self.data.take(self.windows_a_step))
        loss.backward()
        self.optimizers.step(factor, self.step)
        self.step += 1
        return loss.detach()

    @torch.no_grad()
    def held_out_loss(self) -> float | None:
        if self.held is None:
            return None
        parts = self.held.split(self.windows_a_step)
        return sum(float(self._loss_of(part)) * len(part) for part in parts) / len(self.held)

    def _loss_of(self, windows: Tensor) -> Tensor:
        with torch.autocast(self.device.type, dtype=torch.bfloat16):
            return self.loss(self.model, windows.to(self.device, non_blocking=True), self.end_of_text)


def train(run: GpuRun, minutes: float) -> None:
    stop, budget = StopSignal(), minutes * 60
    loss = run.advance(0.0)  # compiles: the time of training begins after it
    began = logged = time.time()
    while (elapsed := time.time() - began) < budget and not stop.received:
        loss = run.advance(learning_rate_factor(elapsed / budget))
        if time.time() - logged > SECONDS_BETWEEN_LOG_LINES:
            logged = time.time()
            rate = round(run.tokens / (logged - began))
            line = {"step": run.step, "tokens": run.tokens, "loss": round(float(loss), 4), "tokensASecond": rate}
            print(json.dumps(line), flush=True)
    print(json.dumps({"step": run.step, "tokens": run.tokens, "heldOut": run.held_out_loss()}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("data", "tokenizer", "folder"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--held", type=Path)
    parser.add_argument("--from", dest="start", type=Path)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--tokens-a-step", type=int, default=TOKENS_A_STEP)
    args = parser.parse_args()
    run = GpuRun(args)
    train(run, args.minutes)
    weights = {name: weight.cpu() for name, weight in run.model.state_dict().items()}
    state = {"config": run.config.to_dict(), "end_of_text": run.end_of_text, "model": weights}
    state["longest_window"] = run.data.length
    export_folder(state, args.tokenizer, args.folder, SHARD_BYTES)


if __name__ == "__main__":
    main()
