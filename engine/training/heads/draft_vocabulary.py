"""The tokens that an EAGLE-3 head can say: the most frequent of texts and of the target's own completions.

draft_vocabulary.py OUTPUT.json --data FILE:WEIGHT... --held ROLLOUTS.npz --vocabulary N [--size N]

Prints what share of the held-out completions vocabularies of several sizes cover: a token left out is one that can
never be accepted, one let in is a row more in the head's largest matrix.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import model_path  # noqa: F401
import torch
from samples import open_samples
from torch import Tensor
from whole_file import write_whole_text


def token_counts(path: Path, vocabulary: int) -> Tensor:
    """How often each token is one that a drafter would have to guess, [vocabulary]."""
    every = open_samples(path, seed=0).every()
    return torch.bincount(every.ids[every.counted], minlength=vocabulary)


def most_frequent(counts: Tensor, size: int) -> Tensor:
    """Ids of the `size` most frequent tokens, ascending; of equally frequent ones those learned first."""
    return torch.argsort(counts, descending=True, stable=True)[:size].sort().values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE:WEIGHT")
    parser.add_argument("--held", type=Path, required=True)
    parser.add_argument("--vocabulary", type=int, required=True)
    parser.add_argument("--size", type=int, default=4096)
    args = parser.parse_args()
    counts = torch.zeros(args.vocabulary)
    for item in args.data:
        path, weight = item.rsplit(":", 1)
        counts += float(weight) * token_counts(Path(path), args.vocabulary)
    held = token_counts(args.held, args.vocabulary)
    for eighths in range(1, 9):
        size = args.vocabulary * eighths // 8
        print(size, round(float(held[most_frequent(counts, size)].sum() / held.sum()), 4))
    write_whole_text(args.output, json.dumps(most_frequent(counts, args.size).tolist()) + "\n")


if __name__ == "__main__":
    main()
