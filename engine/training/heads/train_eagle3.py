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
    parser.add_argument("--draft-vocabulary", type=Path, required=True, help="made by draft_vocabulary.py")
    args = parser.parse_args()
    draft_tokens = torch.tensor(json.loads(args.draft_vocabulary.read_text()))
    run_job(args, lambda target: Eagle3Head(target, draft_tokens))


if __name__ == "__main__":
    main()
