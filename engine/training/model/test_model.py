"""python3 -m unittest discover engine/training/model"""

from __future__ import annotations

import json
import math
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from architecture import LanguageModel, ModelConfig
from attention import BlockAttention, sample_mask
from evaluate import bits_per_byte
from export import export_folder
from fused import LinearCrossEntropy
from muon import orthogonalise
from plain_forward import plain_loss
from safetensors import read_tensors, write_bfloat16_shards, write_tensors
from schedule import Schedule
from train import open_mix
from train_on_gpu import learning_rate_factor
from whole_file import whole_file
from windows import WindowFile

END = 0
CONFIG = ModelConfig(hidden=32, layers=2, heads=4, kv_heads=1, ffn=48, vocabulary=50, head_dim=16)


class AttentionTest(unittest.TestCase):
    def test_blocks_give_what_plain_attention_gives(self) -> None:
        torch.manual_seed(0)
        q, k, v = (torch.randn(2, heads, 300, 16).bfloat16().requires_grad_() for heads in (4, 2, 2))
        mask = sample_mask(torch.randint(0, 40, (2, 300)), END)
        output = BlockAttention.apply(q, k, v, mask)
        slope = torch.randn_like(output)
        grads = torch.autograd.grad(output, (q, k, v), slope)
        fq, fk, fv = (x.detach().float().requires_grad_() for x in (q, k, v))
        scores = fq @ fk.repeat_interleave(2, 1).transpose(-1, -2) + mask.float()
        expected = torch.softmax(scores, -1) @ fv.repeat_interleave(2, 1)
        expected_grads = torch.autograd.grad(expected, (fq, fk, fv), slope.float())
        for mine, reference in zip((output, *grads), (expected, *expected_grads)):
            error = (mine.float() - reference).norm() / reference.norm()
            self.assertLess(float(error), 0.02)

    def test_a_token_sees_its_own_sample_up_to_itself(self) -> None:
        visible = sample_mask(torch.tensor([[5, 6, END, 7, 8]]), END)[0, 0] == 0
        expected = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 1]]
        self.assertEqual(visible.int().tolist(), expected)


class ModelTest(unittest.TestCase):
    def test_the_loss_is_the_mean_of_the_token_losses(self) -> None:
        torch.manual_seed(0)
        model = LanguageModel(CONFIG)
        windows = torch.randint(0, 50, (3, 33))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = float(model.loss(windows, END))
            mean = float(model.token_losses(windows, END).mean())
        self.assertAlmostEqual(loss, mean, delta=0.01)

    def test_plain_operators_give_the_same_loss_and_gradients(self) -> None:
        def plain(model: LanguageModel, windows: torch.Tensor) -> torch.Tensor:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return plain_loss(model, windows, END)

        self._assert_same_loss_and_gradients(plain)

    @unittest.skipUnless(hasattr(F, "rms_norm"), "torch.compile on CPUs needs PyTorch 2.5")
    def test_the_compiled_forward_gives_the_same_loss_and_gradients(self) -> None:
        from compiled_forward import compiled_loss

        self._assert_same_loss_and_gradients(lambda model, windows: compiled_loss(model, windows, END))

    def _assert_same_loss_and_gradients(self, other: Callable[[LanguageModel, torch.Tensor], torch.Tensor]) -> None:
        torch.manual_seed(0)
        model = LanguageModel(CONFIG)
        windows = torch.randint(0, 50, (3, 33))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            reference = model.loss(windows, END)
        loss = other(model, windows)
        self.assertAlmostEqual(float(loss.detach()), float(reference.detach()), delta=0.01)
        parameters = list(model.parameters())
        for mine, wanted in zip(torch.autograd.grad(loss, parameters), torch.autograd.grad(reference, parameters)):
            self.assertLess(float((mine - wanted).norm()), 0.05 * float(wanted.norm()) + 1e-4)

    def test_the_fused_loss_has_the_gradients_of_the_plain_one(self) -> None:
        torch.manual_seed(0)
        hidden = torch.randn(700, 32, requires_grad=True)
        weight = torch.randn(50, 32, requires_grad=True)
        targets = torch.randint(0, 50, (700,))
        mine = torch.autograd.grad(LinearCrossEntropy.apply(hidden, weight, targets), (hidden, weight))
        reference = torch.autograd.grad(F.cross_entropy(hidden @ weight.t(), targets), (hidden, weight))
        for a, b in zip(mine, reference):
            self.assertLess(float((a - b).norm() / b.norm()), 0.02)

    def test_weights_survive_the_way_to_disk(self) -> None:
        weights = {"a": torch.randn(3, 5).bfloat16().float(), "b": torch.ones(7)}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            write_tensors(path, weights)
            back = read_tensors(path)
        self.assertTrue(all(torch.equal(weights[name], back[name]) for name in weights))

    def test_shards_hold_every_tensor_once_and_none_is_too_large(self) -> None:
        weights = {f"w{i}": torch.full((i, 100), float(i)) for i in range(1, 9)}
        with tempfile.TemporaryDirectory() as folder:
            write_bfloat16_shards(Path(folder), weights, most_bytes=2000)
            index = json.loads((Path(folder) / "model.safetensors.index.json").read_text())
            shards = {file: read_tensors(Path(folder) / file) for file in set(index["weight_map"].values())}
        self.assertEqual(set(index["weight_map"]), set(weights))
        self.assertEqual(sum(len(shard) for shard in shards.values()), len(weights))
        for name, file in index["weight_map"].items():
            self.assertTrue(torch.equal(shards[file][name], weights[name]))
        self.assertTrue(all(sum(w.numel() * 2 for w in shard.values()) <= 2000 for shard in shards.values()))


class WholeFileTest(unittest.TestCase):
    def test_a_file_that_fails_midway_leaves_the_one_before_it_and_nothing_beside(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            write_tensors(path, {"a": torch.ones(3)})
            with self.assertRaisesRegex(OSError, "full"), whole_file(path) as partial:
                partial.write_bytes(b"half")
                raise OSError("full")
            self.assertEqual(read_tensors(path)["a"].tolist(), [1, 1, 1])
            self.assertEqual(list(Path(folder).iterdir()), [path])


class EvaluateTest(unittest.TestCase):
    def test_bits_are_of_the_scored_tokens_and_a_language_may_lack_a_kind(self) -> None:
        torch.manual_seed(0)
        model = LanguageModel(CONFIG)
        middle = {"language": "go", "kind": "middle", "bytes": 5, "tokens": [3, 4, 5, 6, END], "scoredFrom": 2}
        plain = {"language": "css", "kind": "plain", "bytes": 4, "tokens": [END, 7, 8], "scoredFrom": 1}
        rows = bits_per_byte(model, [middle, plain])
        kinds = {language: list(bits) for language, bits in rows.items()}
        self.assertEqual(kinds, {"go": ["middle"], "all": ["middle", "plain"], "css": ["plain"]})
        with torch.autocast("cpu", dtype=torch.bfloat16):
            losses = model.token_losses(torch.tensor([middle["tokens"]]), -1)[0]
        self.assertAlmostEqual(rows["go"]["middle"], float(losses[1:].sum()) / math.log(2) / 5, places=5)


class ClockTest(unittest.TestCase):
    def test_the_rate_rises_stays_and_falls_to_little_with_the_time(self) -> None:
        factors = [learning_rate_factor(share / 100) for share in range(101)]
        self.assertLess(factors[0], 0.1)
        self.assertEqual(factors[10:60], [1.0] * 50)
        self.assertTrue(all(later <= earlier for earlier, later in zip(factors[60:], factors[61:])))
        self.assertAlmostEqual(factors[100], 0.02)


class OptimizerTest(unittest.TestCase):
    def test_orthogonalised_matrices_have_singular_values_near_one(self) -> None:
        torch.manual_seed(0)
        for shape in ((2, 16, 48), (2, 48, 16)):
            values = torch.linalg.svdvals(orthogonalise(torch.randn(shape)))
            self.assertGreater(float(values.min()), 0.4)
            self.assertLess(float(values.max()), 1.4)

    def test_schedule_warms_up_stays_and_decays(self) -> None:
        stable = Schedule(warm_up_from=0)
        self.assertLess(stable.factor(0), 0.05)
        self.assertEqual(stable.factor(100_000), 1.0)
        decay = Schedule(warm_up_from=-(10**6), decay_from=500, decay_steps=100)
        self.assertEqual([decay.factor(500), decay.factor(550), decay.factor(599)], [1.0, 0.5, 0.02])
        self.assertEqual([decay.is_over(599), decay.is_over(600)], [False, True])
        gentle = Schedule(warm_up_from=-(10**6), decay_from=500, decay_steps=100, peak=0.5)
        self.assertEqual([gentle.factor(500), gentle.factor(550), gentle.factor(599)], [0.5, 0.25, 0.02])


class ExportTest(unittest.TestCase):
    def test_prompts_keep_to_the_longest_window_that_was_trained_on(self) -> None:
        tokenizer = {"added_tokens": [{"content": "<|endoftext|>", "id": 7}]}
        sizes = {"vocabulary": 8, "hidden": 8, "ffn": 8, "layers": 1, "heads": 1, "kv_heads": 1, "head_dim": 8}
        config = {**sizes, "rope_theta": 1e4}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tokenizer.json"
            file.write_text(json.dumps(tokenizer))
            state = {"config": config, "end_of_text": 7, "model": {}, "longest_window": 512}
            export_folder(state, file, Path(folder) / "model")
            written = json.loads((Path(folder) / "model" / "tokenizer_config.json").read_text())
        self.assertEqual(written["model_max_length"], 512)


class WindowsTest(unittest.TestCase):
    def test_a_resumed_run_takes_the_windows_that_come_next(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.4.bin"
            np.arange(50, dtype=np.uint16).tofile(path)
            whole = WindowFile(path, seed=3).take(25)
            resumed = WindowFile(path, seed=3, taken=7).take(18)
        self.assertTrue(torch.equal(whole[7:], resumed))
        first_epoch = sorted(whole[:10, 0].tolist())
        self.assertEqual(first_epoch, list(range(0, 50, 5)))

    def test_a_run_goes_on_where_it_was_when_its_files_are_in_another_folder(self) -> None:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            for folder in (one, two):
                np.arange(50, dtype=np.uint16).tofile(Path(folder) / "x.4.bin")
            began = open_mix([f"{one}/x.4.bin:1"], {})
            began.files[0].take(7)
            resumed = open_mix([f"{two}/x.4.bin:1"], began.taken)
            self.assertTrue(torch.equal(began.files[0].take(3), resumed.files[0].take(3)))
            with self.assertRaisesRegex(ValueError, "one name"):
                open_mix([f"{one}/x.4.bin", f"{two}/x.4.bin"], {})


if __name__ == "__main__":
    unittest.main()
