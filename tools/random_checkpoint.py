#!/usr/bin/env python3
"""Writes a Hugging Face folder with random bf16 weights, fast.

For benchmarks of speed and memory, where only the shape of a model counts:

  tools/random_checkpoint.py --preset llama-100m --out /tmp/m100
  tools/random_checkpoint.py --preset qwen2-1.5b --shards 4 --out /tmp/m1500
  tools/random_checkpoint.py --config my/config.json --out /tmp/mine

The weights look like draws from N(0, 0.02), norms are near 1; all are finite
and depend only on the seed and the tensor's name. Needs only Python 3's
standard library.
"""

import argparse
import json
import math
import pathlib
import random
import shutil
import statistics
import struct
import sys
import zlib


def llama(**shape):
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "eos_token_id": 1,
        **shape,
    }


PRESETS = {
    "llama-5m": llama(
        hidden_size=256, num_hidden_layers=5, num_attention_heads=4,
        num_key_value_heads=2, head_dim=64, intermediate_size=704,
        vocab_size=4096, max_position_embeddings=4096),
    "llama-100m": llama(
        hidden_size=768, num_hidden_layers=12, num_attention_heads=12,
        num_key_value_heads=4, head_dim=64, intermediate_size=2048,
        vocab_size=16384, max_position_embeddings=4096),
    "qwen2-1.5b": {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_act": "silu",
        "hidden_size": 1536,
        "num_hidden_layers": 28,
        "num_attention_heads": 12,
        "num_key_value_heads": 2,
        "intermediate_size": 8960,
        "vocab_size": 151936,
        "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "use_sliding_window": False,
        "eos_token_id": 151643,
    },
}


def tensors(config):
    """(name, shape) of each tensor, in the order of the network."""
    kind = config["architectures"][0]
    if kind not in ("LlamaForCausalLM", "MistralForCausalLM",
                    "Qwen2ForCausalLM", "Qwen3ForCausalLM"):
        raise SystemExit(f"random_checkpoint.py: config.json: found {kind}, "
                         "supported: the Llama, Mistral, Qwen2 and Qwen3 "
                         "ForCausalLM classes")
    d = config["hidden_size"]
    f = config["intermediate_size"]
    heads = config["num_attention_heads"]
    h = config.get("head_dim") or d // heads
    q = heads * h
    kv = (config.get("num_key_value_heads") or heads) * h
    qkv_bias = kind.startswith("Qwen2") or config.get("attention_bias", False)
    yield "model.embed_tokens.weight", [config["vocab_size"], d]
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        yield layer + "input_layernorm.weight", [d]
        for name, outputs in (("q", q), ("k", kv), ("v", kv)):
            yield f"{layer}self_attn.{name}_proj.weight", [outputs, d]
            if qkv_bias:
                yield f"{layer}self_attn.{name}_proj.bias", [outputs]
        yield layer + "self_attn.o_proj.weight", [d, q]
        if config.get("attention_bias", False):
            yield layer + "self_attn.o_proj.bias", [d]
        if kind.startswith("Qwen3"):
            yield layer + "self_attn.q_norm.weight", [h]
            yield layer + "self_attn.k_norm.weight", [h]
        yield layer + "post_attention_layernorm.weight", [d]
        for name, shape in (("gate", [f, d]), ("up", [f, d]), ("down", [d, f])):
            yield f"{layer}mlp.{name}_proj.weight", shape
            if config.get("mlp_bias", False):
                yield f"{layer}mlp.{name}_proj.bias", shape[:1]
    yield "model.norm.weight", [d]
    if not config.get("tie_word_embeddings", False):
        yield "lm_head.weight", [config["vocab_size"], d]


def normal_high_bytes():
    """Byte -> upper byte of a bf16: sign and the exponent without its last
    bit, about as frequent as in N(0, 0.02). The lower byte is uniform,
    which widens the distribution by about 1.4."""
    table = bytearray(256)
    for k in range(128):
        quantile = statistics.NormalDist().inv_cdf(0.5 + (k + 0.5) / 256)
        value = 0.02 / 1.4 * quantile
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        table[2 * k] = bits >> 24
        table[2 * k + 1] = bits >> 24 | 0x80
    return bytes(table)


HIGH = normal_high_bytes()
# Norms: 0x3F70 .. 0x3F8F are the bf16 values from 0.94 to 1.12.
NORM_LOW = bytes(0x70 + byte % 32 for byte in range(256))
BLOCK = 1 << 16  # values per block: larger blocks do not fit the cache


def write_values(out, name, count, seed):
    rng = random.Random(zlib.crc32(name.encode()) << 32 ^ seed)
    norm = "norm" in name
    while count > 0:
        n = min(count, BLOCK)
        raw = rng.randbytes(2 * n)
        block = bytearray(2 * n)
        if norm:
            block[0::2] = raw[:n].translate(NORM_LOW)
            block[1::2] = b"\x3f" * n
        else:
            block[0::2] = raw[:n]
            block[1::2] = raw[n:].translate(HIGH)
        out.write(block)
        count -= n


def write_file(path, group, seed):
    """One safetensors file: u64 length, JSON, data without gaps."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in group:
        end = at + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape,
                        "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for name, shape in group:
            write_values(out, name, math.prod(shape), seed)


def split(all_tensors, shards):
    """Groups of about equal size in bytes."""
    total = sum(math.prod(shape) for _, shape in all_tensors)
    groups, at = [[] for _ in range(shards)], 0
    for name, shape in all_tensors:
        size = math.prod(shape)
        groups[min(shards - 1, (at + size // 2) * shards // total)].append(
            (name, shape))
        at += size
    return groups


def write_folder(folder, config, shards, seed):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    everything = list(tensors(config))
    if shards == 1:
        write_file(folder / "model.safetensors", everything, seed)
        return
    index = {"metadata": {"total_size": 2 * sum(
        math.prod(shape) for _, shape in everything)}, "weight_map": {}}
    for i, group in enumerate(split(everything, shards), 1):
        name = f"model-{i:05}-of-{shards:05}.safetensors"
        write_file(folder / name, group, seed)
        index["weight_map"].update((tensor, name) for tensor, _ in group)
    (folder / "model.safetensors.index.json").write_text(
        json.dumps(index, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    shape = parser.add_mutually_exclusive_group(required=True)
    shape.add_argument("--preset", choices=sorted(PRESETS))
    shape.add_argument("--config", type=pathlib.Path, metavar="FILE",
                       help="a config.json that gives the shape")
    parser.add_argument("--out", type=pathlib.Path, required=True,
                        metavar="DIR")
    parser.add_argument("--shards", type=int, default=1,
                        help="files to spread the tensors over (1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tokenizer", type=pathlib.Path, metavar="DIR",
                        help="copy tokenizer.json from this folder")
    args = parser.parse_args()
    if not 1 <= args.shards <= 64:
        parser.error(f"--shards: expected 1 to 64, found {args.shards}")
    try:
        config = (PRESETS[args.preset] if args.preset else
                  json.loads(args.config.read_text()))
        write_folder(args.out, config, args.shards, args.seed)
        if args.tokenizer:
            shutil.copy(args.tokenizer / "tokenizer.json", args.out)
    except KeyError as key:
        sys.exit(f"random_checkpoint.py: the configuration has no key {key}")
    except (OSError, ValueError) as error:
        sys.exit(f"random_checkpoint.py: {error}")


if __name__ == "__main__":
    main()
