#!/usr/bin/env python3
"""Tests the folders that tools/random_checkpoint.py writes."""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

CONFIG = {
    "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
    "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 80,
    "vocab_size": 500, "max_position_embeddings": 64,
    "tie_word_embeddings": False,
}


def read_tensors(path):
    """name -> (shape, values) of a bf16 safetensors file."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__")
    body, found, reached = data[8 + length:], {}, 0
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        assert begin == reached and entry["dtype"] == "BF16"
        assert end - begin == 2 * math.prod(entry["shape"])
        reached = end
        halves = struct.unpack(f"<{(end - begin) // 2}H", body[begin:end])
        values = struct.unpack(f"<{len(halves)}f", struct.pack(
            f"<{len(halves)}I", *(h << 16 for h in halves)))
        found[name] = (entry["shape"], values)
    assert reached == len(body)
    return found


class RandomCheckpointTest(unittest.TestCase):

    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.addCleanup(self.temp.cleanup)
        self.folder = pathlib.Path(self.temp.name)

    def run_tool(self, name, *more, config=CONFIG):
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        done = subprocess.run(
            [sys.executable, ROOT / "tools/random_checkpoint.py", "--config",
             path, "--out", self.folder / name, *more],
            capture_output=True, text=True, check=False)
        return done, self.folder / name

    def test_values_look_like_weights(self):
        done, out = self.run_tool("a")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = read_tensors(out / "model.safetensors")
        self.assertEqual(json.loads((out / "config.json").read_text()), CONFIG)
        self.assertEqual(found["lm_head.weight"][0], [500, 48])
        self.assertEqual(
            found["model.layers.1.self_attn.k_proj.weight"][0], [32, 48])
        self.assertEqual(
            found["model.layers.1.self_attn.q_norm.weight"][0], [16])
        for name, (_, values) in found.items():
            mean = sum(values) / len(values)
            if "norm" in name:
                self.assertTrue(all(0.9 < v < 1.2 for v in values), name)
                continue
            deviation = math.sqrt(sum(v * v for v in values) / len(values))
            self.assertLess(abs(mean), 0.004, name)
            self.assertTrue(0.01 < deviation < 0.03, (name, deviation))
            self.assertGreater(len(set(values)), min(500, len(values) // 8),
                               name)

    def test_shards_hold_the_same_tensors(self):
        _, whole = self.run_tool("whole")
        done, split = self.run_tool("split", "--shards", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        index = json.loads(
            (split / "model.safetensors.index.json").read_text())
        files = sorted(set(index["weight_map"].values()))
        self.assertEqual(len(files), 3)
        together = {}
        for file in files:
            part = read_tensors(split / file)
            for name in part:
                self.assertEqual(index["weight_map"][name], file)
            together.update(part)
        self.assertEqual(together, read_tensors(whole / "model.safetensors"))

    def test_the_seed_decides(self):
        read = lambda out: (out / "model.safetensors").read_bytes()
        first = read(self.run_tool("a", "--seed", "7")[1])
        self.assertEqual(first, read(self.run_tool("b", "--seed", "7")[1]))
        self.assertNotEqual(first, read(self.run_tool("c", "--seed", "8")[1]))

    def test_a_tokenizer_comes_along(self):
        (self.folder / "tokenizer.json").write_text("{}")
        _, out = self.run_tool("a", "--tokenizer", self.folder)
        self.assertEqual((out / "tokenizer.json").read_text(), "{}")

    def test_mistakes_are_one_line(self):
        for config in ({**CONFIG, "architectures": ["Gpt5"]}, {"a": 1},
                       {k: v for k, v in CONFIG.items()
                        if k != "hidden_size"}):
            done, _ = self.run_tool("a", config=config)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1,
                             done.stderr)


if __name__ == "__main__":
    unittest.main()
