"""python3 -m unittest discover engine/training/heads (PyTorch 2.5 or later)"""

from __future__ import annotations

import json
import signal
import tempfile
import unittest
from argparse import Namespace
from pathlib import Path
from unittest import mock

import model_path  # noqa: F401
import numpy as np
import torch
import torch.nn.functional as F
import trainer
from acceptance import Acceptance
from architecture import LanguageModel, ModelConfig, rope_tables, rotate
from checkpoint import load_checkpoint
from draft_model import DraftModel
from eagle import EagleHead
from eagle3 import Eagle3Head
from feature_memory import FeatureMemory
from greedy import complete
from losses import SoftCrossEntropy
from make_rollouts import Packer
from medusa import MedusaHeads
from safetensors import read_tensors, write_tensors
from samples import Batch, all_rows, guessable, open_samples
from target import FrozenTarget, heads_apart, visible_mask
from torch import Tensor
from unroll import unroll

END = 0
VOCABULARY = 60
CONFIG = ModelConfig(hidden=32, layers=6, heads=4, kv_heads=2, ffn=48, vocabulary=VOCABULARY, head_dim=8)
DRAFT_TOKENS = torch.arange(1, 50, 2)


def write_target(folder: Path) -> None:
    torch.manual_seed(0)
    model = LanguageModel(CONFIG)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    write_tensors(folder / "model.safetensors", {f"model.{name}": w for name, w in model.state_dict().items()})
    sizes = {
        "vocab_size": VOCABULARY,
        "hidden_size": CONFIG.hidden,
        "intermediate_size": CONFIG.ffn,
        "num_hidden_layers": CONFIG.layers,
        "num_attention_heads": CONFIG.heads,
        "num_key_value_heads": CONFIG.kv_heads,
        "head_dim": CONFIG.head_dim,
        "rope_theta": CONFIG.rope_theta,
        "max_position_embeddings": 64,
        "rms_norm_eps": 1e-6,
        "bos_token_id": END,
        "eos_token_id": END,
    }
    (folder / "config.json").write_text(json.dumps(sizes))


class WithTarget(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        write_target(self.folder)
        self.target = FrozenTarget(self.folder)
        torch.manual_seed(1)

    def batch(self, windows: int = 2, length: int = 24) -> Batch:
        ids = torch.randint(1, VOCABULARY, (windows, length))
        ids[:, 9] = END
        return Batch(ids, torch.ones_like(ids, dtype=torch.bool))

    def own_text(self) -> Batch:
        """What the target itself writes: all that Medusa heads learn from."""
        prompts = torch.randint(1, VOCABULARY, (6, 4)).tolist()
        completions = complete(self.target, prompts, 20, frozenset({END}))
        windows = [(p + c + [END] * 24)[:24] for p, c in zip(prompts, completions)]
        ids = torch.tensor(windows)
        return Batch(ids, torch.ones_like(ids, dtype=torch.bool))

    def heads(self) -> dict[str, trainer.Head]:
        return {
            "eagle3": Eagle3Head(self.target, DRAFT_TOKENS),
            "eagle": EagleHead(self.target),
            "medusa": MedusaHeads(self.target),
            "draft": DraftModel.cut_from(self.target),
        }


class TargetTest(WithTarget):
    def test_it_computes_what_the_trained_model_does(self) -> None:
        batch = self.batch()
        (last,) = self.target.residuals(batch.ids, [CONFIG.layers])
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            expected = self.target.model.hidden(batch.ids, END).float()
        error = (self.target.final_hidden(last) - expected).norm() / expected.norm()
        self.assertLess(float(error), 0.03)

    def test_completions_of_a_batch_are_those_of_each_prompt_alone(self) -> None:
        prompts = [torch.randint(1, VOCABULARY, (length,)).tolist() for length in (3, 11, 7)]
        completions = complete(self.target, prompts, 6, frozenset({END}))
        for prompt, completion in zip(prompts, completions):
            tokens = list(prompt)
            for token in completion:
                (last,) = self.target.residuals(torch.tensor([tokens]), [CONFIG.layers])
                self.assertEqual(int(self.target.logits(self.target.final_hidden(last))[0, -1].argmax()), token)
                tokens.append(token)
            self.assertTrue(len(completion) == 6 or completion[-1] == END)


    def test_remembered_features_are_those_computed(self) -> None:
        remembering = FrozenTarget(self.folder, FeatureMemory(self.folder / "features", [2, 6]))
        ids = self.batch().ids
        for _ in range(2):
            for mine, expected in zip(remembering.residuals(ids, [6, 2]), self.target.residuals(ids, [6, 2])):
                torch.testing.assert_close(mine, expected, rtol=2e-3, atol=2e-3)
        with mock.patch.object(remembering, "_compute", side_effect=AssertionError):
            remembering.residuals(ids, [2])


class UnrollTest(WithTarget):
    def draft_alone(
        self, head: Eagle3Head | EagleHead, features: Tensor, tokens: Tensor, start: int, steps: int
    ) -> Tensor:
        """The states of one row, by attention over a sequence that grows as an engine's does."""
        embedded = F.embedding(tokens, self.target.embeddings)
        attention, cos_sin = head.attention, rope_tables(64, CONFIG.head_dim, CONFIG.rope_theta)
        entered, residual = head.enter(features[: start + 1], embedded[1 : start + 2])
        states = []
        for step in range(steps):
            cos, sin = (table[: len(entered)] for table in cos_sin)
            q = rotate(heads_apart(attention.q_proj(entered)[None], CONFIG.head_dim), cos, sin)
            k = rotate(heads_apart(attention.k_proj(entered)[None], CONFIG.head_dim), cos, sin)
            v = heads_apart(attention.v_proj(entered)[None], CONFIG.head_dim)
            mixed = F.scaled_dot_product_attention(q[:, :, -1:], k, v, enable_gqa=True)
            state = head.leave(residual[-1:] + attention.o_proj(mixed.transpose(1, 2).flatten(2))[0])
            states.append(state[0])
            more, residual = head.enter(state, embedded[start + 2 + step][None])
            entered = torch.cat((entered, more))
        return torch.stack(states)

    @torch.no_grad()
    def test_steps_are_those_of_drafting_row_by_row(self) -> None:
        ids = torch.randint(1, VOCABULARY, (1, 16))
        batch = Batch(ids, torch.ones_like(ids, dtype=torch.bool))
        for head in (Eagle3Head(self.target, DRAFT_TOKENS), EagleHead(self.target)):
            features = torch.randn(1, 16, CONFIG.hidden)
            rows = all_rows(batch, END, 4)
            states = unroll(head, features, F.embedding(ids, self.target.embeddings), visible_mask(ids, END), rows)
            for start in (0, 5, 9):
                expected = self.draft_alone(head, features[0], ids[0], start, 4)
                torch.testing.assert_close(torch.stack([state[0, start] for state in states]), expected)

    def test_a_row_of_one_sample_does_not_depend_on_the_one_before(self) -> None:
        batch = self.batch(1)
        other = Batch(batch.ids.clone(), batch.counted)
        other.ids[:, :9] = other.ids[:, :9].flip(1)
        for name, head in self.heads().items():
            mine, others = head.guesses(batch, head.chain)[1], head.guesses(other, head.chain)[1]
            self.assertTrue(torch.equal(mine[:, 10:], others[:, 10:]), name)


class LossTest(WithTarget):
    def test_the_fused_cross_entropy_has_the_gradients_of_the_plain_one(self) -> None:
        hidden, head = torch.randn(600, 16, requires_grad=True), torch.randn(40, 16, requires_grad=True)
        probabilities, places = torch.softmax(torch.randn(30, 40), -1), torch.randint(0, 30, (600,))
        weights = torch.rand(600) * (torch.rand(600) > 0.5)
        mine = SoftCrossEntropy.apply(hidden, head, probabilities, places, weights)
        plain = -(weights[:, None] * probabilities[places] * torch.log_softmax(hidden @ head.t(), -1)).sum()
        torch.testing.assert_close(mine, plain)
        for a, b in zip(torch.autograd.grad(mine, (hidden, head)), torch.autograd.grad(plain, (hidden, head))):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)

    def test_every_kind_of_head_learns_a_batch_by_heart(self) -> None:
        batch = self.own_text()
        for name, head in self.heads().items():
            optimizers, rows = trainer.HeadOptimizers(head), all_rows(batch, END, head.steps)
            losses = []
            for step in range(25):
                for parameter in head.parameters():
                    parameter.grad = None
                loss = head.loss(batch, rows)
                loss.backward()
                optimizers.step(1.0, step)
                losses.append(loss.item())
            self.assertLess(losses[-1], losses[0], name)

    def test_medusa_learns_nothing_from_what_the_target_would_not_write(self) -> None:
        ids = torch.tensor([[5]])
        for _ in range(12):
            (last,) = self.target.residuals(ids, [CONFIG.layers])
            own = self.target.logits(self.target.final_hidden(last))[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat((ids, own % (VOCABULARY - 1) + 1), 1)  # any other token
        batch = Batch(ids, torch.ones_like(ids, dtype=torch.bool))
        loss = MedusaHeads(self.target).loss(batch, all_rows(batch, END, 3))
        self.assertEqual(loss.item(), 0)


class SamplesTest(unittest.TestCase):
    def test_only_completed_tokens_of_the_same_sample_are_guessed(self) -> None:
        ids = torch.tensor([[5, 6, 7, 8, END, 9, 4, 3]])
        completed = torch.tensor([[False, False, True, True, True, False, True, True]])
        allowed = guessable(Batch(ids, completed), END, 2)[0]
        # Row 1 knows token 2 and guesses 3, then 4; row 2 knows 3 and guesses the end; row 5 knows 6 and guesses 7.
        self.assertEqual(allowed[:, 0].nonzero()[:, 0].tolist(), [1, 2, 5])
        self.assertEqual(allowed[:, 1].nonzero()[:, 0].tolist(), [1])

    def test_text_counts_as_far_as_it_is_what_was_expected(self) -> None:
        ids = torch.tensor([[1, 2, 3, 4, 5, 6]])
        batch = Batch(ids, torch.ones_like(ids, dtype=torch.bool))
        following = torch.tensor([[2, 3, 9, 5, 6, 7]])  # another token than 4 after 3
        rows = all_rows(batch, END, 2).where_text_is(ids, following)
        self.assertEqual(rows.valid[0].tolist(), [[True, True], [True, False], [False] * 2, [True, False], [False] * 2, [False] * 2])

    def test_rollouts_survive_the_way_to_disk(self) -> None:
        packer = Packer(12, END)
        packer.add([5, 6, 7], [8, END])
        packer.add([9, 4], [3, 2])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rollouts.11.npz"
            packer.save(path)
            batch = open_samples(path, seed=0).take(1)
        self.assertEqual(batch.ids[0].tolist(), [5, 6, 7, 8, END, 9, 4, 3, 2, END, END, END])
        self.assertEqual(batch.counted[0].nonzero()[:, 0].tolist(), [3, 4, 7, 8])


class AcceptanceTest(unittest.TestCase):
    def test_it_counts_as_an_engine_decodes(self) -> None:
        ids = torch.tensor([[1, 2, 3, 4, 5, 6, 7, 8]])
        batch = Batch(ids, torch.ones_like(ids, dtype=torch.bool))
        rows = all_rows(batch, END, 2)
        guesses = rows.targets(ids).clone()
        guesses[0, 0, 1] = 59  # row 0: one right, then wrong; its bonus leads to row 2
        guesses[0, 2, 0] = 59  # row 2: none right; its bonus leads to row 3, where both are
        acceptance = Acceptance(2)
        acceptance.add(batch, rows, guesses)
        self.assertEqual(acceptance.drafts, 3)
        self.assertEqual(acceptance.tokens, 2 + 1 + 3)
        self.assertAlmostEqual(acceptance.by_position[0], 5 / 6)
        self.assertAlmostEqual(acceptance.by_position[1], 3 / 4)


class ExportTest(WithTarget):
    def test_each_kind_guesses_the_same_after_export(self) -> None:
        batch = self.batch()
        for name, head in self.heads().items():
            for parameter in head.parameters():
                parameter.data = (parameter.data + 0.02 * torch.randn_like(parameter)).bfloat16().float()
            folder = self.folder / name
            head.save(folder)
            back = type(head).read(self.target, folder)
            self.assertTrue(torch.equal(head.guesses(batch, 3)[1], back.guesses(batch, 3)[1]), name)

    def test_the_draft_vocabulary_is_written_as_published(self) -> None:
        Eagle3Head(self.target, DRAFT_TOKENS).save(self.folder / "eagle3")
        tensors = read_tensors(self.folder / "eagle3" / "model.safetensors")
        self.assertEqual(tensors["d2t"].dtype, torch.int64)
        self.assertTrue(torch.equal(torch.arange(len(DRAFT_TOKENS)) + tensors["d2t"], DRAFT_TOKENS))
        self.assertEqual(tensors["t2d"].nonzero()[:, 0].tolist(), DRAFT_TOKENS.tolist())

    def test_unknown_types_are_refused(self) -> None:
        path = self.folder / "x.safetensors"
        write_tensors(path, {"a": torch.ones(2)})
        path.write_bytes(path.read_bytes().replace(b'"BF16"', b'"F8E5"'))
        with self.assertRaisesRegex(ValueError, "F8E5"):
            read_tensors(path)


class TrainerTest(WithTarget):
    def setUp(self) -> None:
        super().setUp()
        tokens = np.random.default_rng(0).integers(0, VOCABULARY, 17 * 20).astype(np.uint16)
        tokens.tofile(self.folder / "train.16.bin")
        for number in (signal.SIGTERM, signal.SIGINT):
            self.addCleanup(signal.signal, number, signal.getsignal(number))

    def run_for(self, name: str, stop_after: int, memory: Path | None = None) -> trainer.Run:
        args = Namespace(
            target=self.folder,
            run=name,
            data=[f"{self.folder / 'train.16.bin'}:1"],
            held=self.folder / "train.16.bin",
            held_windows=2,
            steps=6,
            windows_a_step=4,
            windows_a_pass=2,
            peak=1.0,
            steps_between_measures=3,
            stop_after=stop_after,
            rows_a_window=8,
            unroll=None,
            feature_memory=memory,
        )
        run = trainer.Run(args, lambda target: Eagle3Head(target, DRAFT_TOKENS))
        trainer.train(run)
        return run

    def test_a_run_that_was_stopped_ends_as_one_that_was_not(self) -> None:
        with mock.patch.object(trainer, "CACHE", self.folder):
            whole = self.run_for("whole", 6)
            self.run_for("parts", 2)
            parts = self.run_for("parts", 6)
        self.assertEqual((whole.step, whole.rows), (parts.step, parts.rows))
        for name, weight in whole.head.state_dict().items():
            self.assertTrue(torch.equal(weight, parts.head.state_dict()[name]), name)

    def test_an_interrupted_run_finishes_its_step_and_leaves_a_checkpoint(self) -> None:
        advance = trainer.Run.advance

        def interrupted(run: trainer.Run) -> float:
            signal.raise_signal(signal.SIGINT)
            return advance(run)

        with mock.patch.object(trainer, "CACHE", self.folder), mock.patch.object(trainer.Run, "advance", interrupted):
            run = self.run_for("interrupted", 6)
        self.assertEqual(load_checkpoint(run.latest)["step"], 1)


if __name__ == "__main__":
    unittest.main()
