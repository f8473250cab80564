"""The target's greedy completions of many prompts at once."""

from __future__ import annotations

import model_path  # noqa: F401
import torch
import torch.nn.functional as F
from architecture import rope_tables
from target import HIDDEN, FrozenTarget, Past, run_block
from torch import Tensor


class GreedyBatch:
    """Prompts aligned at their ends: padding goes before them, hidden by the mask (RoPE counts differences only)."""

    def __init__(self, target: FrozenTarget, prompts: list[list[int]], max_new: int) -> None:
        self.target = target
        self.width = max(len(prompt) for prompt in prompts)
        capacity = self.width + max_new
        config = target.config
        self.cos, self.sin = rope_tables(capacity, config.head_dim, config.rope_theta)
        self.pasts = [Past(capacity) for _ in range(config.layers)]
        self.padding = torch.tensor([self.width - len(prompt) for prompt in prompts])
        self.ids = torch.tensor([[target.end_of_text] * (self.width - len(prompt)) + prompt for prompt in prompts])
        self.length = 0

    def next_tokens(self, ids: Tensor) -> Tensor:
        """Most probable tokens [batch] after ids [batch, new], which continue what was given before."""
        start, end = self.length, self.length + ids.shape[1]
        self.length = end
        place = torch.arange(end)
        visible = (place[None, None] <= place[start:, None]) & (place >= self.padding[:, None])[:, None]
        # A row of padding sees itself, so that its softmax is defined.
        visible |= place[None, None] == place[start:, None]
        mask = torch.zeros(visible.shape).masked_fill_(~visible, HIDDEN)[:, None]
        x = F.embedding(ids, self.target.embeddings)
        for block, past in zip(self.target.model.layers, self.pasts):
            x = run_block(block, x, self.cos[start:end], self.sin[start:end], mask, past)
        return self.target.logits(self.target.final_hidden(x[:, -1])).argmax(-1)

    def keep(self, sequences: Tensor) -> None:
        self.padding = self.padding[sequences]
        for past in self.pasts:
            past.keep(sequences)


@torch.no_grad()
def complete(target: FrozenTarget, prompts: list[list[int]], max_new: int, stop: frozenset[int]) -> list[list[int]]:
    """Greedy completions of at most `max_new` tokens; a token of `stop` ends one and is its last."""
    completions: list[list[int]] = [[] for _ in prompts]
    alive = list(range(len(prompts)))
    batch = GreedyBatch(target, prompts, max_new)
    tokens = batch.next_tokens(batch.ids)
    for _ in range(max_new):
        for owner, token in zip(alive, tokens.tolist()):
            completions[owner].append(token)
        going = [i for i, token in enumerate(tokens.tolist()) if token not in stop]
        if not going or len(completions[alive[0]]) == max_new:
            break
        if len(going) < len(alive):
            kept = torch.tensor(going)
            batch.keep(kept)
            tokens, alive = tokens[kept], [alive[i] for i in going]
        tokens = batch.next_tokens(tokens[:, None])
    return completions
