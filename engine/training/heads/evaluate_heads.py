"""Measures heads as they were exported, on the target's own greedy completions of held-out prompts.

evaluate_heads.py TARGET_FOLDER HELD_ROLLOUTS.npz KIND=HEAD_FOLDER... [--windows N]

KIND: eagle3, eagle, medusa or draft. Prints a line of JSON each: acceptance per position (of those that get there) and
mean acceptance length (bonus included) of a chain, as the engine's own decoding would have them. The first line is the
target's own certainty: a choice that was one of several about as probable is one that no head finds reliably.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from draft_model import DraftModel
from eagle import EagleHead
from eagle3 import Eagle3Head
from medusa import MedusaHeads
from samples import Batch, open_samples
from target import FrozenTarget
from trainer import measure

KINDS = {"eagle3": Eagle3Head, "eagle": EagleHead, "medusa": MedusaHeads, "draft": DraftModel}


def certainty(target: FrozenTarget, held: Batch) -> dict[str, object]:
    """Of the target's distributions over the completed tokens: mean entropy in nats, mean probability of the choice."""
    entropies, chosen = [], []
    for batch in held.split(4):
        (last,) = target.residuals(batch.ids[:, :-1], [target.config.layers])
        log_p = torch.log_softmax(target.logits(target.final_hidden(last[batch.counted[:, 1:]])), -1)
        entropies.append(-(log_p.exp() * log_p).sum(-1))
        chosen.append(log_p.max(-1).values.exp())
    entropy, probability = torch.cat(entropies), torch.cat(chosen)
    return {
        "entropy": round(float(entropy.mean()), 3),
        "probabilityOfChoice": round(float(probability.mean()), 3),
        "choicesBelowOneHalf": round(float((probability < 0.5).float().mean()), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("held", type=Path)
    parser.add_argument("heads", nargs="+", metavar="KIND=FOLDER")
    parser.add_argument("--windows", type=int, default=120)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    target = FrozenTarget(args.target)
    held = open_samples(args.held, seed=0).spread(args.windows)
    print(json.dumps({"kind": "target", **certainty(target, held)}), flush=True)
    for item in args.heads:
        kind, _, folder = item.partition("=")
        head = KINDS[kind].read(target, Path(folder))
        print(json.dumps({"kind": kind, **measure(head, held).summary()}), flush=True)


if __name__ == "__main__":
    main()
