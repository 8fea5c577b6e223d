#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets, tests/fuzz/corpus/TARGET/, anew, and
the words that libFuzzer inserts into them, tests/fuzz/words/TARGET.

  tests/fuzz/make_corpus.py

Seeds are small inputs that the readers accept, made from the repository's own
files. Files named found-... are inputs that once broke a reader: they are kept.
Needs only Python 3.
"""

import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CORPUS = os.path.join(ROOT, "tests", "fuzz", "corpus")


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as handle:
        return handle.read()


def bytes_of(path):
    with open(path, "rb") as handle:
        return handle.read()


def seed(target, name, data):
    folder = os.path.join(CORPUS, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as handle:
        handle.write(data.encode() if isinstance(data, str) else data)


# --- Checkpoints ------------------------------------------------------------

SIZES = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
         "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4,
         "vocab_size": 12, "max_position_embeddings": 32,
         "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
         "tie_word_embeddings": True, "eos_token_id": 3}
CONFIGS = {
    "llama": {"architectures": ["LlamaForCausalLM"], "model_type": "llama",
              **SIZES},
    "llama3": {"architectures": ["LlamaForCausalLM"], "model_type": "llama",
               **SIZES, "eos_token_id": [3, 4], "vocab_size": 280,
               "rope_scaling": {"rope_type": "llama3", "factor": 8.0,
                                "low_freq_factor": 1.0,
                                "high_freq_factor": 4.0,
                                "original_max_position_embeddings": 16}},
    "reward": {"architectures": ["LlamaForCausalLM"], "model_type": "llama",
               **SIZES, "espalier_heads": {"reward": ["step", "path"]}},
    "mistral": {"architectures": ["MistralForCausalLM"],
                "model_type": "mistral", **SIZES, "sliding_window": 16},
    "qwen2": {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2",
              **SIZES, "use_sliding_window": False,
              "rope_scaling": {"type": "yarn", "factor": 2.0,
                               "original_max_position_embeddings": 16}},
    "qwen3": {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
              **SIZES, "rope_scaling": {"type": "linear", "factor": 2.0}},
    "labels": {"architectures": ["Qwen2ForTokenClassification"],
               "model_type": "qwen2", **SIZES,
               "id2label": {"0": "bad", "1": "good"}},
    "gpt2": {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
             "n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 16,
             "vocab_size": 12, "layer_norm_epsilon": 1e-5,
             "activation_function": "gelu_new", "eos_token_id": 3},
}


def tool(*args):
    subprocess.run([sys.executable, *args], check=True, cwd=ROOT,
                   stdout=subprocess.DEVNULL)


def write_gpt2(folder, config):
    """A GPT-2, which tools/random_checkpoint.py does not write."""
    d, f = config["n_embd"], 4 * config["n_embd"]
    shapes = {"wte.weight": [config["vocab_size"], d],
              "wpe.weight": [config["n_positions"], d],
              "ln_f.weight": [d], "ln_f.bias": [d]}
    for part, rows, columns in (("attn.c_attn", d, 3 * d),
                                ("attn.c_proj", d, d), ("mlp.c_fc", d, f),
                                ("mlp.c_proj", f, d)):
        shapes[f"h.0.{part}.weight"] = [rows, columns]
        shapes[f"h.0.{part}.bias"] = [columns]
    for norm in ("ln_1", "ln_2"):
        shapes[f"h.0.{norm}.weight"] = shapes[f"h.0.{norm}.bias"] = [d]
    header, data = {}, b""
    for name, shape in sorted(shapes.items()):
        size = 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "BF16", "shape": shape,
                        "data_offsets": [len(data), len(data) + size]}
        data += b"\x80\x3f" * (size // 2)
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as handle:
        handle.write(struct.pack("<Q", len(text)) + text + data)
    with open(os.path.join(folder, "config.json"), "w",
              encoding="utf-8") as handle:
        json.dump(config, handle)


def checkpoints(work):
    for name, config in CONFIGS.items():
        text = json.dumps(config)
        seed("trunk_config", name, text + '\0{"eos_token_id": [3, 5]}')
        if name in ("reward", "labels"):
            continue  # GGUF has no place for their heads
        folder = os.path.join(work, name)
        os.makedirs(folder)
        path = os.path.join(folder, "sizes.json")
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(text)
        if name == "gpt2":
            write_gpt2(folder, config)
        else:
            tool("tools/random_checkpoint.py", "--config", path, "--out",
                 folder)
        tensors = bytes_of(os.path.join(folder, "model.safetensors"))
        if name in ("llama", "gpt2"):
            seed("safetensors", name, tensors)
        seed("checkpoint", name, text.encode() + b"\0\0" + tensors)
        if name == "llama":
            names = re.findall(r'"([\w.]+)": ?\{"dtype"', tensors.decode(
                "latin-1")) or ["model.norm.weight"]
            index = {"metadata": {}, "weight_map": {
                n: "model-00001-of-00002.safetensors" for n in names}}
            seed("checkpoint", "shards", text.encode() + b"\0"
                 + json.dumps(index).encode() + b"\0" + tensors)
        if name == "llama3":
            with open(os.path.join(folder, "tokenizer.json"), "w",
                      encoding="utf-8") as handle:
                json.dump(small_tokenizer(), handle)
        kind = {"mistral": "f16", "qwen2": "f32"}.get(name, "bf16")
        out = os.path.join(folder, "model.gguf")
        tool("tools/write_gguf.py", folder, out, "--type", kind)
        seed("gguf", name, bytes_of(out))
    plain_tensors()
    seed("gguf", "sentencepiece", gguf_tokens())


def plain_tensors():
    header = json.dumps({
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "b": {"dtype": "F16", "shape": [2, 1], "data_offsets": [8, 12]},
        "c": {"dtype": "I64", "shape": [], "data_offsets": [12, 20]},
        "d": {"dtype": "BOOL", "shape": [0, 3], "data_offsets": [20, 20]},
        "__metadata__": {"format": "pt"}}).encode()
    seed("safetensors", "types",
         struct.pack("<Q", len(header)) + header + bytes(range(20)))


def gguf_text(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_tokens():
    """A file with SentencePiece's tokens alone, and a quantised tensor."""
    pieces = ["<unk>", "<s>", "</s>", "\u2581", "a", "b", "ab", "<0x0A>"]
    kinds = [2, 3, 3, 1, 1, 1, 1, 6]
    keys = [
        gguf_text("general.architecture") + struct.pack("<I", 8)
        + gguf_text("llama"),
        gguf_text("tokenizer.ggml.model") + struct.pack("<I", 8)
        + gguf_text("llama"),
        gguf_text("tokenizer.ggml.tokens")
        + struct.pack("<IIQ", 9, 8, len(pieces))
        + b"".join(gguf_text(p) for p in pieces),
        gguf_text("tokenizer.ggml.scores")
        + struct.pack("<IIQ", 9, 6, len(pieces))
        + struct.pack(f"<{len(pieces)}f", *(-i for i in range(len(pieces)))),
        gguf_text("tokenizer.ggml.token_type")
        + struct.pack("<IIQ", 9, 5, len(pieces))
        + struct.pack(f"<{len(pieces)}i", *kinds),
        gguf_text("tokenizer.ggml.bos_token_id") + struct.pack("<II", 4, 1),
        gguf_text("tokenizer.ggml.add_bos_token") + struct.pack("<IB", 7, 1),
        gguf_text("tokenizer.chat_template") + struct.pack("<I", 8)
        + gguf_text(CHATML),
    ]
    tensor = (gguf_text("x.weight") + struct.pack("<I2QIQ", 2, 32, 2, 8, 0))
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(keys)) + b"".join(keys)
    head += tensor
    head += bytes(-len(head) % 32)
    return head + bytes(range(68)) + bytes(28)


# --- Tokenizers -------------------------------------------------------------

def small_tokenizer():
    """The tokenizer of the stories, with its first 12 merges."""
    spec = json.loads(text_of("models/zoo/stories/tokenizer.json"))
    model = spec["model"]
    model["merges"] = model["merges"][:12]
    made = {"".join(m if isinstance(m, list) else m.split(" ", 1))
            for m in model["merges"]}
    model["vocab"] = {token: i for token, i in model["vocab"].items()
                      if len(token) == 1 or token in made}
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    model["vocab"] = {token: i for i, token in enumerate(tokens)}
    for i, added in enumerate(spec["added_tokens"]):
        added["id"] = len(tokens) + i
    return spec


def metaspace_tokenizer():
    pieces = ["<unk>", "<s>", "</s>", "\u2581", "a", "b", "\u2581a", "ab",
              "\u2581ab", "<0x0A>", "<0xFF>"]
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {"id": i, "content": pieces[i], "single_word": False,
             "lstrip": False, "rstrip": False, "normalized": False,
             "special": True} for i in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u2581"},
            {"type": "Replace", "pattern": {"String": " "},
             "content": "\u2581"}]},
        "pre_tokenizer": None,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                       {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1],
                                       "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "\u2581"},
             "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>",
                  "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True,
                  "byte_fallback": True,
                  "vocab": {p: i for i, p in enumerate(pieces)},
                  "merges": ["\u2581 a", "a b", "\u2581a b"]}}


def split_tokenizer():
    spec = small_tokenizer()
    spec["normalizer"] = {"type": "NFC"}
    spec["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}| ?\p{L}+|\s+"},
         "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False,
         "trim_offsets": True, "use_regex": False}]}
    return spec


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def single(field, x):
    return varint(field << 3 | 5) + struct.pack("<f", x)


def packed(field, values):
    return block(field, b"".join(varint(v) for v in values))


def packed_floats(field, values):
    return block(field, struct.pack(f"<{len(values)}f", *values))


def sentencepiece(model_type, charsmap=b""):
    pieces = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3),
              ("\u2581", -1, 1), ("a", -2, 1), ("b", -3, 1), ("ab", -4, 1),
              ("\u2581ab", -5, 1), ("<sep>", 0, 4), ("<0x0A>", 0, 6)]
    out = b""
    for text, score, kind in pieces:
        out += block(1, block(1, text) + single(2, score) + number(3, kind))
    out += block(2, number(3, model_type) + number(35, 1))
    return out + block(3, block(2, charsmap) + number(3, 1) + number(4, 1)
                       + number(5, 1))


def charsmap():
    """A table that replaces "a" by "bb", as a double array."""
    units = [0] * 256
    units[0] = 1 << 10                                   # children from 1 on
    units[1 ^ ord("a")] = 2 << 10 | 0x100 | ord("a")     # has a value
    units[1 ^ ord("a") ^ 2] = 1 << 31                    # text at 0
    trie = struct.pack("<256I", *units)
    return struct.pack("<I", len(trie)) + trie + b"bb\0"


def tokenizers():
    seed("tokenizer_json", "bytes", json.dumps(small_tokenizer()))
    seed("tokenizer_json", "metaspace", json.dumps(metaspace_tokenizer())
         + "\0ab a\n")
    seed("tokenizer_json", "split", json.dumps(split_tokenizer()) + "\0He 12")
    for name, kind in (("unigram", 1), ("bpe", 2)):
        seed("sentencepiece", name, sentencepiece(kind))
    seed("sentencepiece", "charsmap", sentencepiece(1, charsmap()))
    spec = small_tokenizer()
    config = {"tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|im_end|>",
              "bos_token": None, "add_bos_token": False,
              "added_tokens_decoder": {str(len(spec["model"]["vocab"])): {
                  "content": "<|im_end|>", "lstrip": False, "rstrip": False,
                  "normalized": False, "single_word": False,
                  "special": True}},
              "chat_template": CHATML}
    merges = [m if isinstance(m, str) else " ".join(m)
              for m in spec["model"]["merges"]]
    seed("tokenizer_folder", "qwen", json.dumps(config) + "\0"
         + json.dumps(spec["model"]["vocab"]) + "\0#version: 0.2\n"
         + "\n".join(merges) + "\n")
    config = {"chat_template": [{"name": "default", "template": "[INST]"}]}
    seed("tokenizer_folder", "templates", json.dumps(config) + "\0{}\0")


# --- Chat templates ---------------------------------------------------------

CHATML = ("{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + "
          "m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
          "{% endif %}")


def reward_models():
    """The shipped formats, without their comments, and calibration curves."""
    folder = os.path.join(ROOT, "models", "reward", "formats")
    for name in sorted(os.listdir(folder)):
        lines = text_of(os.path.join(folder, name)).splitlines(keepends=True)
        seed("reward_format", name.removesuffix(".textproto"),
             "".join(line for line in lines if not line.startswith("#")))
    seed("calibration", "slopes",
         'level { name: "step" slope: 0.83 intercept: 0.12 labels: 900 }\n'
         'level { name: "window2" slope: 1.5 intercept: -2e-3 }\n')
    seed("calibration", "points",
         'level { name: "path" score: [0.1, 0.4, 0.95] '
         'probability: [0.05, 0.5, 0.5] labels: 900 }\n'
         'level { name: "outcome" score: 0.5 probability: 1 }\n')


def chat_templates():
    tail = "{{ '<think>\\n\\n</think>\\n\\n' }}{% else %}{{ '<think>\\n' }}"
    system = "{{ '<|im_start|>system\\nBe kind.<|im_end|>\\n' }}"
    seeds = {
        "chatml": CHATML, "system": system + CHATML,
        "thinking": CHATML.replace("{% endif %}", tail + "{% endif %}"),
        "llama3": "{{ '<|start_header_id|>' + role + '<|end_header_id|>' }}"
                  "{{ '<|eot_id|>' }}",
        "llama3.1": "<|start_header_id|><|eot_id|>"
                    "Cutting Knowledge Date: December 2023"}
    for name, mark, close in (("v0.1", "'[INST] '", "' [/INST]'"),
                              ("v1", "' [INST] '", "' [/INST]'"),
                              ("tekken", "'[INST]'", "'[/INST]'"),
                              ("v7", "'[INST] '", "'[/INST]'")):
        seeds["mistral-" + name] = (
            "{{ " + mark + " + m['content'] + " + close + " }}"
            + ("{{ eos_token + ' ' }}" if name == "v0.1" else "")
            + ("[SYSTEM_PROMPT]" if name == "v7" else ""))
    for name, text in seeds.items():
        seed("chat_template", name, text + "\0Why?\n\nQuestion: \u00fc <|x|>")


# --- Answers ----------------------------------------------------------------

def lines_of(path):
    return [json.loads(line) for line in text_of(path).split("\n") if line]


def answers():
    pairs = lines_of("tests/datasets/answers/pairs.jsonl")
    for i in range(0, len(pairs), 50):
        seed("answers", f"pair{i}",
             f"{pairs[i]['gold']}\n{pairs[i]['answer']}")
    hostile = text_of("tests/datasets/answers/corpus/hostile.txt").split("\n")
    for i in range(0, len(hostile), 6):
        if hostile[i] and len(hostile[i]) < 400:
            seed("answers", f"hostile{i}", hostile[i] + "\nx+1")
    responses = lines_of("tests/datasets/answers/responses.jsonl")
    for i, line in enumerate(responses):
        seed("response", f"response{i}", line["response"])
    seed("response", "code", "Sure:\n```python\ndef f(x):\n    return x\n```\n"
         "It ends.\n")
    seed("response", "examples", "Example input:\n```\n2 3\n```\n"
         "Example output:\n```\n5\n```\n>>> f(1)\n2\nassert f(2) == 3\n")


# --- Data files -------------------------------------------------------------

def sets():
    source = text_of("tests/datasets/sets/published_sets_test.cc")
    source += text_of("tests/datasets/sets/published_code_test.cc")
    found = re.findall(r'"([\w.+-]+\.(?:jsonl?|csv|tsv))",\s*'
                       r'R"j\((.*?)\)j"', source, re.S)
    for i, (name, text) in enumerate(found):
        if len(text) < 2000:
            seed("sets", f"published{i}", f"{name}\n{text}\n")
    seed("sets", "csv", 'a.csv\nquestion,answer\n"1, or\n""2""?",3\n')
    seed("sets", "tsv", "a.tsv\nquestion\tanswer\n1+1?\t2\n")
    seed("sets", "mmlu", "a.csv\nWhat?,a,b,c,d,B\n")
    seed("sets", "processbench", 'a.json\n[{"id": "g-1", "problem": "P", '
         '"steps": ["a", "b"], "label": 1, "final_answer_correct": false}]\n')
    seed("sets", "prm800k", 'a.jsonl\n{"question": {"problem": "P", '
         '"ground_truth_answer": "5"}, "label": {"steps": [{"completions": '
         '[{"text": "a", "rating": 1}], "chosen_completion": 0, '
         '"human_completion": null}], "finish_reason": "solution"}}\n')
    seed("sets", "math-shepherd", 'a.jsonl\n{"input": "P Step 1: a \u043a\\n'
         'Step 2: b \u043a", "label": "P Step 1: a +\\nStep 2: b -", '
         '"task": "GSM8K"}\n')


# --- Servers' replies ---------------------------------------------------------

def server_replies():
    """The replies of the dialects' tests, and two header fields."""
    source = text_of("tests/models/remote/dialect_test.cc")
    replies = []
    for text in re.findall(r'R"\((.*?)\)"', source, re.S):
        try:
            replies.append(json.loads(text))
        except ValueError:
            pass  # a part of one
    for i, reply in enumerate(replies):
        seed("server_reply", f"reply{i}", json.dumps(reply))
    # OpenAI's completions, whose tests put them together.
    tells = {"tokens": ["a", "b"], "token_logprobs": [None, -2]}
    for name, choice in (
            ("plain", {"finish_reason": "stop", "logprobs": tells}),
            ("chat", {"finish_reason": "length", "logprobs": {
                "content": [{"token": "ab", "logprob": -1}]}}),
            ("stop", {"finish_reason": "stop", "stop_reason": "\n",
                      "logprobs": tells}),
            ("matched", {"finish_reason": "stop", "matched_stop": 7,
                         "logprobs": tells}),
            ("tgi", {"finish_reason": "stop_sequence", "logprobs": tells})):
        seed("server_reply", f"openai-{name}", json.dumps(
            {"object": "text_completion",
             "choices": [dict({"index": 0, "text": "ab"}, **choice)],
             "usage": {"prompt_tokens": 3, "prompt_tokens_details":
                       {"cached_tokens": 1}}}))
    seed("server_reply", "openai-two", json.dumps({"choices": [
        {"index": i, "text": "ab", "finish_reason": "eos_token",
         "logprobs": tells} for i in (1, 0)]}))
    seed("server_reply", "date", "Sun, 06 Nov 1994 08:51:37 GMT\n"
         "Sun, 06 Nov 1994 08:49:37 GMT")


def pooled_replies():
    """Replies as those of tests/models/remote/pooled_scores_test.cc."""
    for i, data in enumerate(([[0.25, 0.75], [0.5, 0.5]], [-1.5], [[-1.5]],
                              [1, 2, 3, 4, 5], [[0.2, 0.3, 0.5]])):
        seed("pooled_reply", f"pooling{i}", json.dumps(
            {"object": "list", "data": [{"index": 0, "data": data}],
             "usage": {"prompt_tokens": 5,
                       "prompt_tokens_details": {"cached_tokens": 4}}}))
    seed("pooled_reply", "classify", json.dumps(
        {"data": [{"index": 0, "label": "A", "probs": [0.5, 0.5],
                   "num_classes": 2}]}))
    seed("pooled_reply", "sglang", json.dumps(
        {"embedding": [2.5], "meta_info": {"cached_tokens": 4}}))
    # Of choices: as those of tests/models/remote/choice_scores_test.cc.
    seed("pooled_reply", "generative-scoring", json.dumps(
        {"object": "list", "model": "m", "data": [
            {"index": i, "object": "score", "score": score}
            for i, score in ((1, 0.25), (0, 1))],
         "usage": {"prompt_tokens": 7, "completion_tokens": 2}}))
    seed("pooled_reply", "score-two", json.dumps(
        {"scores": [[0.25, 0.75], [1, 0]], "model": "m",
         "object": "scoring"}))
    seed("pooled_reply", "score-one", json.dumps({"scores": [[0.25], [0]]}))


# --- Recorded runs ----------------------------------------------------------

def tree_blob():
    """A tree of three nodes (src/trace/trace.proto)."""
    text, tokens = b"6*7=42\n= 42", [1, 2, 3]
    columns = [packed(1, [0, 1, 1]), packed(2, [0, 0, 1]), packed(3, [0, 0, 1]),
               packed(4, [2, 2, 1]), packed(5, [0, 1, 1])]
    columns += [packed_floats(f, [0.0, 0.5, 0.25]) for f in range(6, 11)]
    columns += [packed(11, [0, 0, 1]), packed(12, [0, 0, 2]),
                packed(13, [0, 2, 1]), packed(14, [0, 7, 4]),
                block(15, text), block(16, "42"), packed(17, tokens),
                packed_floats(18, [-0.5] * 3), packed_floats(19, [-0.25] * 3),
                packed(20, [2]), packed(21, [1])]
    return b"".join(columns)


def log_entry():
    sample = (packed(1, [1, 2]) + packed_floats(2, [-0.5, -1.0])
              + packed_floats(3, [-0.25, -1.0]) + block(4, "6*7=42\n")
              + number(5, 1) + single(7, 0.5) + packed_floats(8, [0.5, 0.25])
              + packed_floats(9, [1.0, 2.0]) + packed_floats(10, [0.0, 1.0])
              + packed(11, [4, 5]) + packed_floats(12, [-0.5, -0.5]))
    return (number(1, 7) + number(2, 0)
            + varint(3 << 3 | 1) + struct.pack("<Q", 1 << 60)
            + packed(4, [0, 1]) + block(5, sample)
            + packed_floats(6, [0.5]) + packed_floats(7, [0.75])
            + number(8, 1))


def zstd(data):
    """`data` as one frame with one block that is not compressed."""
    size = len(data)
    assert 256 <= size < 65536 or size < 256
    head = (struct.pack("<BB", 0x20, size) if size < 256
            else struct.pack("<BH", 0x60, size - 256))
    return (struct.pack("<I", 0xFD2FB528) + head
            + struct.pack("<I", size << 3 | 1)[:3] + data)


def run_db(work):
    path = os.path.join(work, "run.db")
    source = text_of("src/trace/schema.cc")
    steps = re.findall(r'R"sql\((.*?)\)sql"', source, re.S)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size=512")
    db.execute("PRAGMA application_id=%d" % 0x45737061)
    for step in steps:
        db.executescript(step)
    db.execute("PRAGMA user_version=%d" % len(steps))
    db.execute("INSERT INTO runs VALUES(1, 'generate', '{}', '0', 7, 'greedy',"
               " 'm', '1', '2', '3', '0.1', '2026-01-01', NULL)")
    db.execute("INSERT INTO problems VALUES(1, 'set/1', 'set', 'qa', '6*7?',"
               " '42')")
    for i, state in ((1, "done"), (2, "running")):
        db.execute("INSERT INTO searches(search_id, run_id, problem_id, seed,"
                   " state, answer, correct, tokens, nodes)"
                   " VALUES(?, 1, 1, ?, ?, '42', 1, 3, 3)", (i, i, state))
    db.execute("INSERT INTO responses VALUES(2, 1, ?)", (log_entry(),))
    db.execute("INSERT INTO trees VALUES(1, ?, ?)",
               (zstd(tree_blob()), zstd(block(1, log_entry()))))
    db.execute("INSERT INTO solutions VALUES(1, '= 42', -0.5, 3, 1)")
    db.commit()
    db.close()
    return bytes_of(path)


def runs(work):
    seed("tree_blob", "plain", tree_blob())
    seed("tree_blob", "compressed", zstd(tree_blob()))
    seed("tree_blob", "root", b"".join(
        [packed(f, [0]) for f in range(1, 6)]
        + [packed_floats(f, [0.0]) for f in range(6, 11)]
        + [packed(f, [0]) for f in range(11, 15)]))
    seed("log_blob", "entry", log_entry())
    seed("log_blob", "log", block(1, log_entry()) * 2)
    seed("log_blob", "stop", number(1, 3) + block(9, "time"))
    seed("run_db", "run", run_db(work))


# --- Words ------------------------------------------------------------------

NUMBERS = ["0", "-1", "1e400", "0.5", "18446744073709551615", "4294967296",
           "9223372036854775807", "null", "true", "[]", "{}", '""']


def seeds_of(target):
    folder = os.path.join(CORPUS, target)
    return [bytes_of(os.path.join(folder, name)).decode("utf-8", "replace")
            for name in sorted(os.listdir(folder))
            if not name.startswith("found-")]


def words():
    """LaTeX's commands, and the names and texts of JSON."""
    found = {}
    texts = text_of("tests/datasets/answers/pairs.jsonl")
    latex = sorted(set(re.findall(r"\\\\[a-zA-Z]{2,}", texts)))
    found["answers"] = found["response"] = [
        *(word[1:] for word in latex), "^{", "_{", "\\left(", "\\right)",
        "\\begin{pmatrix}", "\\end{pmatrix}", "\\boxed{", "\\text{",
        " and ", " or ", "0.\\overline{3}", "10^", "...", "answer is ",
        "Final answer: ", "#### ", "</think>", "```\n"]
    for target in ("checkpoint", "gguf", "pooled_reply", "safetensors",
                   "server_reply", "sets", "tokenizer_folder",
                   "tokenizer_json", "trunk_config"):
        names = set()
        for text in seeds_of(target):
            names |= set(re.findall(r'"[A-Za-z_][\w .-]{1,40}"', text))
            names |= set(re.findall(r"[a-z]+(?:\.[a-z_0-9]+)+", text))
        found[target] = sorted(names)[:300] + NUMBERS
    for target in ("reward_format", "calibration"):
        names = set()
        for text in seeds_of(target):
            names |= set(re.findall(r"[A-Za-z_]\w{2,}(?: ?\{|:)?", text))
        found[target] = sorted(names)[:300] + NUMBERS
    folder = os.path.join(ROOT, "tests", "fuzz", "words")
    os.makedirs(folder, exist_ok=True)
    for target, list_of_words in found.items():
        with open(os.path.join(folder, target), "w",
                  encoding="utf-8") as handle:
            for word in dict.fromkeys(list_of_words):
                escaped = "".join(
                    chr(b) if 32 <= b <= 126 and chr(b) not in '"\\'
                    else f"\\x{b:02X}" for b in word.encode())
                handle.write(f'"{escaped}"\n')


def main():
    if os.path.isdir(CORPUS):
        for folder, _, names in os.walk(CORPUS):
            for name in names:
                if not name.startswith("found-"):
                    os.remove(os.path.join(folder, name))
    work = tempfile.mkdtemp()
    try:
        checkpoints(work)
        tokenizers()
        reward_models()
        chat_templates()
        answers()
        sets()
        server_replies()
        pooled_replies()
        runs(work)
        words()
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
