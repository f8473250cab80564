"""Trains an EAGLE-3 head with training-time test.

train_eagle3.py TARGET_FOLDER RUN --data FILE:WEIGHT... --held ROLLOUTS.npz --steps N --draft-vocabulary TOKENS.json
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from eagle3 import Eagle3Head
from trainer import argument_parser, run_job


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--draft-vocabulary", type=Path, help="made by draft_vocabulary.py; needed unless --from has one")
    args = parser.parse_args()
    if args.draft_vocabulary is None and args.start is None:
        parser.error("--draft-vocabulary or --from is needed")
    run_job(args, lambda target: Eagle3Head(target, read_vocabulary(args.draft_vocabulary)), Eagle3Head.read)


def read_vocabulary(path: Path) -> torch.Tensor:
    return torch.tensor(json.loads(path.read_text()))


if __name__ == "__main__":
    main()
