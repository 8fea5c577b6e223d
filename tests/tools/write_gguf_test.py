"""Reads what tools/write_gguf.py writes by the format's definition."""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "tools", "write_gguf.py")
SIZES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?",
         10: "Q", 11: "q", 12: "d"}


class Gguf:
    """A file, read by its specification: keys, and tensors as (extents, type,
    bytes from its offset on)."""

    def __init__(self, path):
        with open(path, "rb") as handle:
            self.bytes = handle.read()
        self.at = 4
        assert self.bytes[:4] == b"GGUF"
        self.version, tensors, keys = self.take("IQQ")
        self.keys = {}
        for _ in range(keys):
            name = self.text()
            self.keys[name] = self.value(*self.take("I"))
        entries = {}
        for _ in range(tensors):
            name = self.text()
            extents = self.take(f"{self.take('I')[0]}Q")
            entries[name] = (extents, *self.take("IQ"))
        start = (self.at + 31) // 32 * 32
        self.tensors = {
            name: (list(extents), kind, self.bytes[start + begin:])
            for name, (extents, kind, begin) in entries.items()}

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.bytes, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def text(self):
        (size,) = self.take("Q")
        self.at += size
        return self.bytes[self.at - size:self.at].decode("utf-8")

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            element, size = self.take("IQ")
            return [self.value(element) for _ in range(size)]
        return self.take(SIZES[kind])[0]

    def floats(self, name):
        extents, kind, data = self.tensors[name]
        assert kind == 0
        count = 1
        for extent in extents:
            count *= extent
        return list(struct.unpack_from(f"<{count}f", data))


def write_safetensors(path, tensors):
    """`tensors`: name to (shape, values), stored as F32."""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        packed = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    with open(path, "wb") as handle:
        handle.write(struct.pack("<Q", len(text)) + text + data)


CONFIG = {"architectures": ["LlamaForCausalLM"], "hidden_size": 32,
          "intermediate_size": 32, "num_hidden_layers": 1,
          "num_attention_heads": 4, "num_key_value_heads": 2,
          "vocab_size": 300, "max_position_embeddings": 64,
          "rms_norm_eps": 1e-5, "tie_word_embeddings": True,
          "eos_token_id": [7, 9]}


def tensors():
    """Row r, column c of each matrix is 100 r + c."""
    def matrix(rows, columns):
        return [rows, columns], [100.0 * r + c for r in range(rows)
                                 for c in range(columns)]
    at = "model.layers.0."
    return {"model.embed_tokens.weight": matrix(300, 32),
            "model.norm.weight": ([32], [1.0] * 32),
            at + "input_layernorm.weight": ([32], [2.0] * 32),
            at + "post_attention_layernorm.weight": ([32], [3.0] * 32),
            at + "self_attn.q_proj.weight": matrix(32, 32),
            at + "self_attn.k_proj.weight": matrix(16, 32),
            at + "self_attn.v_proj.weight": matrix(16, 32),
            at + "self_attn.o_proj.weight": matrix(32, 32),
            at + "mlp.gate_proj.weight": matrix(32, 32),
            at + "mlp.up_proj.weight": matrix(32, 32),
            at + "mlp.down_proj.weight": matrix(32, 32)}


class WriteGgufTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.put("config.json", CONFIG)
        write_safetensors(self.path("model.safetensors"), tensors())

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, value):
        with open(self.path(name), "w", encoding="utf-8") as handle:
            json.dump(value, handle)

    def run_tool(self, kind="f32"):
        return subprocess.run(
            [sys.executable, TOOL, self.folder, self.path("out.gguf"),
             "--type", kind], capture_output=True, text=True, check=False)

    def convert(self, kind="f32"):
        done = self.run_tool(kind)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Gguf(self.path("out.gguf"))

    def refused(self, kind="f32"):
        done = self.run_tool(kind)
        self.assertEqual(done.returncode, 1)
        self.assertFalse(os.path.exists(self.path("out.gguf")))
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr

    def test_keys_say_what_the_configuration_says(self):
        keys = self.convert().keys
        self.assertEqual(keys["general.architecture"], "llama")
        for key, value in {"block_count": 1, "context_length": 64,
                           "embedding_length": 32, "feed_forward_length": 32,
                           "attention.head_count": 4,
                           "attention.head_count_kv": 2, "vocab_size": 300,
                           "attention.key_length": 8,
                           "rope.dimension_count": 8,
                           "rope.freq_base": 10000.0}.items():
            self.assertEqual(keys["llama." + key], value, key)
        self.assertEqual(keys["tokenizer.ggml.eos_token_id"], 7)
        self.assertEqual(keys["tokenizer.ggml.eot_token_id"], 9)

    def test_query_and_key_rows_are_interleaved_and_others_not(self):
        file = self.convert()
        # Rows of a head of 8: 0 4 1 5 2 6 3 7.
        order = [8 * head + i for head in range(4)
                 for i in (0, 4, 1, 5, 2, 6, 3, 7)]
        for name, rows in (("attn_q", 32), ("attn_k", 16)):
            values = file.floats(f"blk.0.{name}.weight")
            self.assertEqual([v / 100 for v in values[::32]], order[:rows])
            self.assertEqual(values[32:64], [400.0 + c for c in range(32)])
        values = file.floats("blk.0.attn_v.weight")
        self.assertEqual([v / 100 for v in values[::32]], list(range(16)))
        self.assertEqual(file.tensors["token_embd.weight"][0], [32, 300])
        self.assertEqual(len(file.tensors), 11)

    def test_blocks_hold_the_nearest_steps(self):
        values = [127.0, -64.0, 1.0, 0.4, *[0.0] * 28]
        changed = tensors()
        changed["model.layers.0.mlp.up_proj.weight"] = [32, 32], values * 32
        write_safetensors(self.path("model.safetensors"), changed)
        extents, kind, data = self.convert("q8_0").tensors[
            "blk.0.ffn_up.weight"]
        self.assertEqual((extents, kind), ([32, 32], 8))
        self.assertEqual(struct.unpack_from("<e32b", data),
                         (1.0, 127, -64, 1, 0, *[0] * 28))
        # The largest value, 127, becomes -8 steps of -127/8; -64 is 4.03 steps,
        # nibble 12; the rest is zero, nibble 8.
        _, kind, data = self.convert("q4_0").tensors["blk.0.ffn_up.weight"]
        self.assertEqual(kind, 2)
        step, *pairs = struct.unpack_from("<e16B", data)
        self.assertAlmostEqual(step, -127 / 8, delta=0.01)
        self.assertEqual(pairs, [0x80, 0x8C, *[0x88] * 14])

    def test_halves_are_rounded_and_vectors_stay_whole(self):
        for kind, number, one_third in (("bf16", 30, 0x3EAB),
                                        ("f16", 1, 0x3555)):
            changed = tensors()
            changed["model.layers.0.mlp.up_proj.weight"] = (
                [32, 32], [1 / 3] * 1024)
            write_safetensors(self.path("model.safetensors"), changed)
            file = self.convert(kind)
            _, found, data = file.tensors["blk.0.ffn_up.weight"]
            self.assertEqual(found, number)
            self.assertEqual(struct.unpack_from("<H", data)[0], one_third)
            self.assertEqual(file.floats("blk.0.attn_norm.weight"),
                             [2.0] * 32)

    def test_shards_give_the_same_file(self):
        whole = self.convert("bf16").bytes
        os.remove(self.path("model.safetensors"))
        names = list(tensors())
        index = {}
        for number, part in enumerate((names[:4], names[4:])):
            shard = f"model-{number}.safetensors"
            write_safetensors(self.path(shard),
                              {name: tensors()[name] for name in part})
            index |= {name: shard for name in part}
        self.put("model.safetensors.index.json", {"weight_map": index})
        self.assertEqual(self.convert("bf16").bytes, whole)

    def test_a_tokenizer_is_taken_along(self):
        split = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
                 r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
                 r"|\s+(?!\S)|\s+")
        tokenizer = {
            "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2},
                      "merges": [["a", "b"]]},
            "post_processor": {"type": "TemplateProcessing", "single": [
                {"SpecialToken": {"id": "<end>"}}, {"Sequence": {}}]},
            "added_tokens": [{"id": 4, "content": "<end>", "special": True}],
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": split}},
                {"type": "ByteLevel", "use_regex": False}]}}
        self.put("tokenizer.json", tokenizer)
        self.put("tokenizer_config.json", {"chat_template": "{{ x }}"})
        keys = self.convert().keys
        self.assertEqual(keys["tokenizer.ggml.pre"], "llama-bpe")
        self.assertEqual(keys["tokenizer.ggml.tokens"][:6],
                         ["a", "b", "ab", "[PAD3]", "<end>", "[PAD5]"])
        self.assertEqual(keys["tokenizer.ggml.token_type"][:6],
                         [1, 1, 1, 5, 3, 5])
        self.assertEqual(keys["tokenizer.ggml.merges"], ["a b"])
        self.assertIs(keys["tokenizer.ggml.add_bos_token"], True)
        self.assertEqual(keys["tokenizer.chat_template"], "{{ x }}")
        self.assertEqual(json.loads(keys["tokenizer.huggingface.json"]),
                         tokenizer)

    def test_without_a_tokenizer_tokens_are_bytes_and_placeholders(self):
        tokens = self.convert().keys["tokenizer.ggml.tokens"]
        self.assertEqual(len(tokens), 300)
        self.assertEqual(len(set(tokens)), 300)
        self.assertEqual(tokens[ord("A")], "A")
        self.assertEqual(tokens[ord(" ")], "\u0120")
        self.assertEqual(tokens[299], "[PAD299]")

    def test_llama_3_scaling_is_a_list_of_divisors(self):
        self.put("config.json", {**CONFIG, "rope_scaling": {
            "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192}})
        divisors = self.convert().floats("rope_freqs.weight")
        # Wavelengths 6.3, 63, 628, 6283 with context 8192: the last is between
        # 2048 and 8192, a tenth of the way.
        self.assertEqual(divisors[:3], [1.0, 1.0, 1.0])
        smooth = (8192 / 6283.185307 - 1) / 3
        self.assertAlmostEqual(divisors[3],
                               1 / ((1 - smooth) / 8 + smooth), places=5)

    def test_what_cannot_be_written_is_refused(self):
        self.put("config.json", {**CONFIG, "architectures": ["Mamba"]})
        self.assertIn("Mamba; supported: LlamaForCausalLM", self.refused())
        self.put("config.json", {**CONFIG, "rope_scaling":
                                 {"rope_type": "dynamic", "factor": 2}})
        self.assertIn("rope scaling dynamic", self.refused())
        short = dict(CONFIG)
        del short["vocab_size"]
        self.put("config.json", short)
        self.assertIn("config.json has no 'vocab_size'", self.refused())
        self.put("config.json", CONFIG)
        narrow = tensors()
        narrow["model.layers.0.mlp.up_proj.weight"] = [64, 16], [1.0] * 1024
        write_safetensors(self.path("model.safetensors"), narrow)
        self.assertIn("multiple of 32 elements, found 16",
                      self.refused("q8_0"))
        os.remove(self.path("model.safetensors"))
        self.assertIn("model.safetensors", self.refused())


if __name__ == "__main__":
    unittest.main()
