"""Lets the target complete the fill-in-the-middle prompts of a file of windows, greedily.

make_rollouts.py TARGET_FOLDER WINDOWS.LENGTH.bin OUTPUT.LENGTH.npz [--prompts N] [--skip N] [--new-tokens N]

What an editor drafts is the target's own text, which is plainer than people's: heads train and are measured on it.
OUTPUT: `ids` int32 [windows, LENGTH + 1], whole samples packed first fit, each ended by <|endoftext|>, and `completed`
bool of the same shape, true where the target itself chose the token.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

import model_path  # noqa: F401
import numpy as np
import torch
from greedy import complete
from target import FrozenTarget
from whole_file import whole_file
from windows import WindowFile

PROMPTS_A_BATCH = 96
SHORTEST_PROMPT = 24
BATCHES_SORTED_TOGETHER = 8


def fim_prompts(file: WindowFile, end_of_text: int, middle: int, longest: int) -> Iterator[list[int]]:
    """Prompts up to and with <|fim_middle|>, in the file's order."""
    for window in file.windows:
        for sample in np.split(window, np.flatnonzero(window == end_of_text) + 1):
            (marks,) = np.nonzero(sample == middle)
            if len(marks) == 1 and SHORTEST_PROMPT <= marks[0] < longest:
                yield sample[: marks[0] + 1].tolist()


class Packer:
    """Whole samples into windows; the rest of a window is filled with <|endoftext|>."""

    def __init__(self, size: int, end_of_text: int) -> None:
        self.size, self.end_of_text = size, end_of_text
        self.windows: list[tuple[list[int], list[bool]]] = []
        self.open: list[int] = []

    def add(self, prompt: list[int], completion: list[int]) -> None:
        ids = prompt + completion
        completed = [False] * len(prompt) + [True] * len(completion)
        if ids[-1] != self.end_of_text:
            ids.append(self.end_of_text)
            completed.append(False)
        place = next((i for i in self.open if len(self.windows[i][0]) + len(ids) <= self.size), None)
        if place is None:
            place = len(self.windows)
            self.windows.append(([], []))
            self.open = [*self.open, place][-64:]
        self.windows[place][0].extend(ids)
        self.windows[place][1].extend(completed)

    def save(self, path: Path) -> None:
        ids = np.full((len(self.windows), self.size), self.end_of_text, dtype=np.int32)
        completed = np.zeros(ids.shape, dtype=bool)
        for row, (tokens, marks) in enumerate(self.windows):
            ids[row, : len(tokens)] = tokens
            completed[row, : len(marks)] = marks
        with whole_file(path) as partial, partial.open("wb") as opened:
            np.savez_compressed(opened, ids=ids, completed=completed)
        print(json.dumps({"windows": len(ids), "completedTokens": int(completed.sum())}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("windows", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--prompts", type=int, default=4000)
    parser.add_argument("--skip", type=int, default=0, help="prompts that another file has")
    parser.add_argument("--new-tokens", type=int, default=64)
    parser.add_argument("--longest-prompt", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    target = FrozenTarget(args.target)
    tokens = {t["content"]: t["id"] for t in json.loads((args.target / "tokenizer.json").read_text())["added_tokens"]}
    file = WindowFile(args.windows, seed=0)
    prompts = fim_prompts(file, target.end_of_text, tokens["<|fim_middle|>"], args.longest_prompt)
    chosen = list(itertools.islice(prompts, args.skip, args.skip + args.prompts))
    packer = Packer(file.length + 1, target.end_of_text)
    group_size = PROMPTS_A_BATCH * BATCHES_SORTED_TOGETHER
    for start in range(0, len(chosen), group_size):
        began = time.time()
        group = sorted(chosen[start : start + group_size], key=len)
        for first in range(0, len(group), PROMPTS_A_BATCH):
            batch = group[first : first + PROMPTS_A_BATCH]
            for prompt, completion in zip(batch, complete(target, batch, args.new_tokens, frozenset(tokens.values()))):
                packer.add(prompt, completion)
        print(json.dumps({"prompts": start + len(group), "seconds": round(time.time() - began, 1)}), flush=True)
        packer.save(args.output)


if __name__ == "__main__":
    main()
