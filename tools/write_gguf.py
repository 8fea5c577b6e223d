#!/usr/bin/env python3
"""Writes a checkpoint in Hugging Face's format as a GGUF file.

  tools/write_gguf.py FOLDER OUT.gguf --type bf16

FOLDER holds config.json, safetensors (one file, or several with their index)
and, if there is one, tokenizer.json with a byte-level BPE; without it tokens
are the 256 bytes and placeholders. Matrices are stored as --type says (f32,
f16, bf16, q8_0, q4_0), vectors as f32. Models: ARCHITECTURES lists the classes.

The weights are unchanged, so that other engines can be compared on them.
Needs only Python 3; 100 M parameters take a second as bf16 and
about a minute as q8_0 or q4_0.
"""

import argparse
import array
import json
import math
import mmap
import os
import struct
import sys

ALIGNMENT = 32
U32, I32, F32, BOOL, TEXT, ARRAY = 4, 5, 6, 7, 8, 9
# Name: number in tensor entries, number of the file type, elements and bytes
# per block.
TYPES = {"f32": (0, 0, 1, 4), "f16": (1, 1, 1, 2), "bf16": (30, 32, 1, 2),
         "q8_0": (8, 7, 32, 34), "q4_0": (2, 2, 32, 18)}
NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5

GPT2 = (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"
        r"|\s+(?!\S)|\s+")
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
PRE_OF_PATTERN = {GPT2: "gpt-2", LLAMA3: "llama-bpe", QWEN2: "qwen2"}


class Refused(Exception):
    """Cannot be written; the message says what was expected."""


# --- Reading a folder -------------------------------------------------------

class Tensor:
    """A tensor of a safetensors file: dtype, shape, bytes in the map."""

    def __init__(self, name, dtype, shape, data):
        if dtype not in ("BF16", "F16", "F32"):
            raise Refused(f"tensor {name}: expected BF16, F16 or F32, "
                          f"found {dtype}")
        self.name, self.dtype, self.shape, self.data = name, dtype, shape, data
        self.item_bytes = 4 if dtype == "F32" else 2

    def with_rows(self, order):
        """The same tensor with row i taken from order[i]."""
        row = len(self.data) // self.shape[0]
        data = b"".join(self.data[i * row:(i + 1) * row] for i in order)
        return Tensor(self.name, self.dtype, self.shape, memoryview(data))

    def transposed(self):
        rows, columns = self.shape
        cells = self.data.cast("I" if self.item_bytes == 4 else "H")
        data = b"".join(cells[c::columns].tobytes() for c in range(columns))
        return Tensor(self.name, self.dtype, [columns, rows], memoryview(data))


def read_safetensors(path):
    with open(path, "rb") as handle:
        mapped = memoryview(mmap.mmap(handle.fileno(), 0,
                                      access=mmap.ACCESS_READ))
    (size,) = struct.unpack("<Q", mapped[:8])
    header = json.loads(bytes(mapped[8:8 + size]))
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            data = mapped[8 + size + begin:8 + size + end]
            yield name, Tensor(name, entry["dtype"], entry["shape"], data)


def read_tensors(folder):
    index = os.path.join(folder, "model.safetensors.index.json")
    names = ["model.safetensors"]
    if os.path.exists(index):
        with open(index, encoding="utf-8") as handle:
            names = sorted(set(json.load(handle)["weight_map"].values()))
    tensors = {}
    for name in names:
        tensors.update(read_safetensors(os.path.join(folder, name)))
    return tensors


# --- The network's keys -----------------------------------------------------

ARCHITECTURES = {"LlamaForCausalLM": "llama", "MistralForCausalLM": "llama",
                 "MixtralForCausalLM": "llama",
                 "Qwen2ForCausalLM": "qwen2", "Qwen3ForCausalLM": "qwen3",
                 "Qwen3MoeForCausalLM": "qwen3moe",
                 "GPT2LMHeadModel": "gpt2", "GraniteForCausalLM": "granite",
                 "SmolLM3ForCausalLM": "smollm3", "Olmo2ForCausalLM": "olmo2",
                 "Olmo3ForCausalLM": "olmo2", "Phi3ForCausalLM": "phi3",
                 "Glm4ForCausalLM": "glm4", "Gemma2ForCausalLM": "gemma2",
                 "Gemma3ForCausalLM": "gemma3"}


def architecture_of(config):
    found = config.get("architectures") or ["nothing"]
    if found[0] not in ARCHITECTURES:
        raise Refused(f"config.json: architecture {found[0]}; supported: "
                      + ", ".join(ARCHITECTURES))
    return ARCHITECTURES[found[0]]


def gpt2_keys(config):
    return {"block_count": (U32, config["n_layer"]),
            "context_length": (U32, config["n_positions"]),
            "embedding_length": (U32, config["n_embd"]),
            "feed_forward_length":
                (U32, config.get("n_inner") or 4 * config["n_embd"]),
            "attention.head_count": (U32, config["n_head"]),
            "attention.layer_norm_epsilon":
                (F32, config["layer_norm_epsilon"])}


def head_dim_of(config):
    return (config.get("head_dim")
            or config["hidden_size"] // config["num_attention_heads"])


def rope_keys(config):
    """Keys of RoPE, and the divisors of its frequencies if listed."""
    scaling = config.get("rope_parameters") or config.get("rope_scaling") or {}
    base = scaling.get("rope_theta") or config.get("rope_theta", 10000.0)
    part = scaling.get("partial_rotary_factor") or config.get(
        "partial_rotary_factor", 1.0)
    rotated = int(head_dim_of(config) * part)
    keys = {"rope.freq_base": (F32, base),
            "rope.dimension_count": (U32, rotated)}
    kind = scaling.get("rope_type") or scaling.get("type") or "default"
    if kind == "default":
        return keys, None
    if kind == "llama3":
        return keys, llama3_divisors(config, base, scaling)
    if kind == "longrope":
        return keys | longrope_keys(config, scaling), None
    if kind not in ("linear", "yarn"):
        raise Refused(f"config.json: rope scaling {kind}; supported: linear, "
                      "yarn, llama3")
    keys["rope.scaling.type"] = (TEXT, kind)
    keys["rope.scaling.factor"] = (F32, scaling["factor"])
    if kind == "yarn":
        keys["rope.scaling.original_context_length"] = (U32, scaling.get(
            "original_max_position_embeddings",
            config["max_position_embeddings"]))
    return keys, None


def longrope_keys(config, scaling):
    original = config["original_max_position_embeddings"]
    ratio = config["max_position_embeddings"] / original
    factor = scaling.get("attention_factor") or (
        math.sqrt(1 + math.log(ratio) / math.log(original)) if ratio > 1
        else 1.0)
    return {"rope.scaling.original_context_length": (U32, original),
            "rope.scaling.attn_factor": (F32, factor)}


def longrope_tensors(config):
    scaling = config.get("rope_parameters") or config.get("rope_scaling") or {}
    for length in ("long", "short"):
        divisors = scaling.get(f"{length}_factor")
        if divisors:
            yield f"rope_factors_{length}.weight", divisors


def llama3_divisors(config, base, scaling):
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    context = scaling["original_max_position_embeddings"]
    size = head_dim_of(config)
    divisors = []
    for i in range(0, size, 2):
        wavelength = 2 * math.pi * base ** (i / size)
        smooth = (context / wavelength - low) / (high - low)
        smooth = min(max(smooth, 0.0), 1.0)
        divisors.append(1 / ((1 - smooth) / scaling["factor"] + smooth))
    return divisors


def llama_keys(config):
    keys = {"block_count": (U32, config["num_hidden_layers"]),
            "context_length":
                (U32, config.get("max_position_embeddings", 2048)),
            "embedding_length": (U32, config["hidden_size"]),
            "feed_forward_length": (U32, config["intermediate_size"]),
            "attention.head_count": (U32, config["num_attention_heads"]),
            "attention.head_count_kv":
                (U32, config.get("num_key_value_heads")
                 or config["num_attention_heads"]),
            "attention.layer_norm_rms_epsilon":
                (F32, config.get("rms_norm_eps", 1e-6)),
            "attention.key_length": (U32, head_dim_of(config)),
            "attention.value_length": (U32, head_dim_of(config)),
            "vocab_size": (U32, config["vocab_size"])}
    if config.get("sliding_window") and config.get("use_sliding_window", True):
        keys["attention.sliding_window"] = (U32, config["sliding_window"])
    return keys | own_keys(config)


def own_keys(config):
    """Keys that only some architectures have."""
    name = config["architectures"][0]
    keys = {}
    if name == "GraniteForCausalLM":
        for key, found in (("embedding_scale", "embedding_multiplier"),
                           ("residual_scale", "residual_multiplier"),
                           ("attention.scale", "attention_multiplier"),
                           ("logit_scale", "logits_scaling")):
            keys[key] = (F32, config.get(found, 1.0))
    if name == "Gemma2ForCausalLM":
        keys["attn_logit_softcapping"] = (
            F32, config.get("attn_logit_softcapping", 50.0))
        keys["final_logit_softcapping"] = (
            F32, config.get("final_logit_softcapping", 30.0))
    if name == "Qwen3MoeForCausalLM":
        keys["expert_feed_forward_length"] = (
            U32, config["moe_intermediate_size"])
    experts = config.get("num_experts") or config.get("num_local_experts")
    if experts:
        keys["expert_count"] = (U32, experts)
        keys["expert_used_count"] = (U32, config["num_experts_per_tok"])
    return keys


# --- Tokens -----------------------------------------------------------------

def byte_spellings():
    """The characters that spell the bytes in byte-level vocabularies."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = [b for b in range(256) if b not in plain]
    return [chr(b) if b in plain else chr(256 + others.index(b))
            for b in range(256)]


def pre_of(tokenizer):
    """GGUF's name of the pre-tokenizer's split pattern."""
    pre = tokenizer.get("pre_tokenizer") or {}
    stages = pre.get("pretokenizers", [pre])
    patterns = [stage.get("pattern", {}).get("Regex") for stage in stages
                if stage.get("type") == "Split"]
    patterns += [GPT2 for stage in stages if stage.get("type") == "ByteLevel"
                 and stage.get("use_regex", True)]
    if any(stage.get("type") == "Digits" for stage in stages):
        return "smollm" if patterns == [GPT2] else None
    return PRE_OF_PATTERN.get(patterns[0]) if len(patterns) == 1 else None


def begins_with_token(tokenizer):
    """True if the post-processor puts a token before every text."""
    post = tokenizer.get("post_processor") or {}
    return any(stage.get("type") == "TemplateProcessing"
               and "SpecialToken" in stage["single"][0]
               for stage in post.get("processors", [post]))


def token_keys(folder, vocab_size):
    path = os.path.join(folder, "tokenizer.json")
    keys = {"tokenizer.ggml.model": (TEXT, "gpt2")}
    if not os.path.exists(path):
        tokens = [*byte_spellings(), *(f"[PAD{i}]" for i in
                                       range(256, vocab_size))][:vocab_size]
        keys["tokenizer.ggml.pre"] = (TEXT, "gpt-2")
        keys["tokenizer.ggml.tokens"] = (ARRAY, TEXT, tokens)
        keys["tokenizer.ggml.token_type"] = (ARRAY, I32, [
            NORMAL if i < 256 else UNUSED for i in range(vocab_size)])
        keys["tokenizer.ggml.merges"] = (ARRAY, TEXT, [])
        return keys
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    tokenizer = json.loads(text)
    model = tokenizer["model"]
    if model.get("byte_fallback") or "merges" not in model:
        raise Refused(f"{path}: expected byte-level BPE; move the file away "
                      "to write placeholders for tokens")
    pre = pre_of(tokenizer)
    if pre is None:
        print(f"{path}: its pre-tokenizer has no name in GGUF; other engines "
              "will use that of GPT-2", file=sys.stderr)
    tokens = [f"[PAD{i}]" for i in range(vocab_size)]
    kinds = [UNUSED] * vocab_size
    for token, i in model["vocab"].items():
        tokens[i], kinds[i] = token, NORMAL
    for added in tokenizer.get("added_tokens") or []:
        tokens[added["id"]] = added["content"]
        kinds[added["id"]] = CONTROL if added["special"] else USER_DEFINED
    merges = [merge if isinstance(merge, str) else " ".join(merge)
              for merge in model["merges"]]
    keys["tokenizer.ggml.pre"] = (TEXT, pre or "gpt-2")
    keys["tokenizer.ggml.tokens"] = (ARRAY, TEXT, tokens)
    keys["tokenizer.ggml.token_type"] = (ARRAY, I32, kinds)
    keys["tokenizer.ggml.merges"] = (ARRAY, TEXT, merges)
    keys["tokenizer.ggml.add_bos_token"] = (BOOL, begins_with_token(tokenizer))
    keys["tokenizer.huggingface.json"] = (TEXT, text)
    keys |= chat_keys(folder)
    return keys


def chat_keys(folder):
    path = os.path.join(folder, "tokenizer_config.json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as handle:
        template = json.load(handle).get("chat_template")
    if not isinstance(template, str):
        return {}
    return {"tokenizer.chat_template": (TEXT, template)}


def special_keys(config, vocab_size):
    keys = {}
    for name in ("bos", "eos"):
        ids = config.get(f"{name}_token_id")
        ids = ids if isinstance(ids, list) else [ids]
        for kind, token in zip((name, "eot", "eom"), ids):
            if token is not None and token < vocab_size:
                keys[f"tokenizer.ggml.{kind}_token_id"] = (U32, token)
    return keys


# --- Tensors ----------------------------------------------------------------

LLAMA_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
AFTER_NAMES = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm"}
OWN_NAMES = {
    "phi3": {"self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up"},
    "glm4": {"mlp.gate_up_proj": "ffn_up",
             "post_self_attn_layernorm": "post_attention_norm",
             "post_mlp_layernorm": "post_ffw_norm"},
    "olmo2": AFTER_NAMES, "gemma2": AFTER_NAMES, "gemma3": AFTER_NAMES}
# Of experts' tensors, which GGUF stacks, and of their router.
EXPERT_NAMES = {
    "mlp.gate": "ffn_gate_inp", "block_sparse_moe.gate": "ffn_gate_inp",
    "gate_proj": "ffn_gate_exps", "w1": "ffn_gate_exps",
    "up_proj": "ffn_up_exps", "w3": "ffn_up_exps",
    "down_proj": "ffn_down_exps", "w2": "ffn_down_exps"}
GPT2_NAMES = {
    "ln_1": "attn_norm", "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down"}
ONCE = {"embed_tokens": "token_embd", "norm": "output_norm",
        "lm_head": "output", "wte": "token_embd", "wpe": "position_embd",
        "ln_f": "output_norm"}


def gguf_name(name, architecture):
    """The name in GGUF, or None if GGUF has no such tensor."""
    stem, _, kind = name.rpartition(".")
    stem = stem.removeprefix("model.").removeprefix("transformer.")
    if stem in ONCE:
        return f"{ONCE[stem]}.{kind}"
    parts = stem.split(".", 2)
    if len(parts) < 3 or parts[0] not in ("layers", "h"):
        return None
    if ".experts." in parts[2]:
        inner = EXPERT_NAMES.get(parts[2].rpartition(".")[2])
    elif parts[2] in EXPERT_NAMES:
        inner = EXPERT_NAMES[parts[2]]
    else:
        names = LLAMA_NAMES if parts[0] == "layers" else GPT2_NAMES
        inner = (names | OWN_NAMES.get(architecture, {})).get(parts[2])
    return inner and f"blk.{parts[1]}.{inner}.{kind}"


def expert_of(name):
    """The number of the expert in a tensor's name."""
    return int(name.split(".experts.")[1].split(".")[0])


def stacked(pieces):
    """The experts' tensors (number, tensor) as one, in order."""
    tensors = [tensor for _, tensor in sorted(pieces, key=lambda p: p[0])]
    first = tensors[0]
    data = b"".join(tensor.data for tensor in tensors)
    return Tensor(first.name, first.dtype, [len(tensors), *first.shape],
                  memoryview(data))


def plus_one(tensor):
    values = floats(tensor.dtype, tensor.data)
    data = array.array("f", [value + 1 for value in values]).tobytes()
    return Tensor(tensor.name, "F32", tensor.shape, memoryview(data))


def interleaved(rows, heads):
    """Row order that puts the rotary pairs (i, i + half) next to each other."""
    size = rows // heads
    return [head * size + half * size // 2 + i
            for head in range(heads)
            for i in range(size // 2) for half in range(2)]


def arrange(architecture, config, name, tensor):
    if architecture == "gpt2":
        is_product = any(part in name for part in ("attn_", "ffn_"))
        if is_product and len(tensor.shape) == 2:
            return tensor.transposed()
    if architecture in ("gemma2", "gemma3") and "norm" in name:
        return plus_one(tensor)
    if (architecture in ("llama", "granite", "smollm3")
            and (".attn_q." in name or ".attn_k." in name)):
        heads = config["num_attention_heads"]
        if ".attn_k." in name:
            heads = config.get("num_key_value_heads") or heads
        return tensor.with_rows(interleaved(tensor.shape[0], heads))
    return tensor


def collect(folder, config, architecture):
    tied = config.get("tie_word_embeddings", architecture == "gpt2")
    experts = {}
    for name, tensor in read_tensors(folder).items():
        new_name = gguf_name(name, architecture)
        if name.endswith((".attn.bias", ".attn.masked_bias",
                          "rotary_emb.inv_freq")):
            continue  # constants that some files keep
        if new_name is None:
            print(f"{name}: omitted: GGUF has no name for it",
                  file=sys.stderr)
            continue
        if ".experts." in name:
            experts.setdefault(new_name, []).append((expert_of(name), tensor))
        elif not (tied and new_name == "output.weight"):
            yield new_name, tensor
    for new_name, pieces in experts.items():
        yield new_name, stacked(pieces)


# --- Numbers ----------------------------------------------------------------

CHUNK = 1 << 18  # elements converted at a time, a multiple of every block


def floats(dtype, data):
    """The elements of `data` as array('f')."""
    values = array.array("f")
    if dtype == "F32":
        values.frombytes(data)
    elif dtype == "BF16":
        wide = bytearray(2 * len(data))
        wide[2::4] = bytes(data[0::2])
        wide[3::4] = bytes(data[1::2])
        values.frombytes(wide)
    else:
        values.extend(struct.unpack(f"<{len(data) // 2}e", data))
    return values


def to_bf16(values):
    """Rounded to nearest, ties to even."""
    bits = array.array("I", values.tobytes())
    return array.array("H", [(b + 0x7FFF + (b >> 16 & 1)) >> 16 & 0xFFFF
                             for b in bits]).tobytes()


def to_q8_0(values):
    out = bytearray()
    pack = struct.Struct("<e32b").pack
    for i in range(0, len(values), 32):
        block = values[i:i + 32]
        scale = max(max(block), -min(block)) / 127
        inverse = 1 / scale if scale else 0.0
        out += pack(scale, *[round(x * inverse) for x in block])
    return out


def to_q4_0(values):
    out = bytearray()
    pack = struct.Struct("<e16B").pack
    for i in range(0, len(values), 32):
        block = values[i:i + 32]
        high, low = max(block), min(block)
        # The value of largest magnitude becomes -8 exactly.
        scale = (high if high > -low else low) / -8
        inverse = 1 / scale if scale else 0.0
        steps = [min(15, int(x * inverse + 8.5)) for x in block]
        out += pack(scale, *[a | b << 4 for a, b in
                             zip(steps[:16], steps[16:])])
    return out


ENCODERS = {"f32": lambda values: values.tobytes(),
            "f16": lambda values: struct.pack(f"<{len(values)}e", *values),
            "bf16": to_bf16, "q8_0": to_q8_0, "q4_0": to_q4_0}


def encode(tensor, type_name):
    """The tensor's bytes in another type, piece by piece."""
    if tensor.dtype.lower() == type_name:
        yield tensor.data
        return
    step = CHUNK * tensor.item_bytes
    for at in range(0, len(tensor.data), step):
        yield ENCODERS[type_name](
            floats(tensor.dtype, tensor.data[at:at + step]))


# --- Writing ----------------------------------------------------------------

def text_bytes(text):
    data = text.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(data)) + data


def value_bytes(kind, *value):
    if kind == ARRAY:
        element, items = value
        head = struct.pack("<IIQ", ARRAY, element, len(items))
        if element == TEXT:
            return head + b"".join(map(text_bytes, items))
        return head + struct.pack(f"<{len(items)}i", *items)
    if kind == TEXT:
        return struct.pack("<I", TEXT) + text_bytes(*value)
    return struct.pack("<I" + {U32: "I", I32: "i", F32: "f", BOOL: "?"}[kind],
                       kind, *value)


def type_for(name, tensor, type_name):
    if len(tensor.shape) == 1 or "ffn_gate_inp" in name:
        return "f32"
    elements = TYPES[type_name][2]
    if tensor.shape[-1] % elements:
        raise Refused(f"{name}: {type_name} needs rows of a multiple of "
                      f"{elements} elements, found {tensor.shape[-1]}; "
                      "use --type bf16 or f16")
    return type_name


def write(out, keys, tensors):
    """`tensors`: name, Tensor and type of each."""
    out.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)))
    for key, value in keys.items():
        out.write(text_bytes(key) + value_bytes(*value))
    begin = 0
    for name, tensor, type_name in tensors:
        number, _, elements, size = TYPES[type_name]
        extents = list(reversed(tensor.shape))
        out.write(text_bytes(name) + struct.pack(
            f"<I{len(extents)}QIQ", len(extents), *extents, number, begin))
        begin += math.prod(extents) // elements * size
        begin += -begin % ALIGNMENT
    for _, tensor, type_name in tensors:
        out.write(bytes(-out.tell() % ALIGNMENT))
        for piece in encode(tensor, type_name):
            out.write(piece)
    out.write(bytes(-out.tell() % ALIGNMENT))


def convert(folder, path, type_name):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as handle:
        config = json.load(handle)
    architecture = architecture_of(config)
    divisors = None
    if architecture == "gpt2":
        network = gpt2_keys(config)
    else:
        rope, divisors = rope_keys(config)
        network = {**llama_keys(config), **rope}
    vocab_size = config["vocab_size"]
    name = os.path.basename(os.path.abspath(folder))
    keys = {"general.architecture": (TEXT, architecture),
            "general.name": (TEXT, name),
            "general.file_type": (U32, TYPES[type_name][1]),
            "general.quantization_version": (U32, 2)}
    keys |= {f"{architecture}.{key}": value for key, value in network.items()}
    keys |= token_keys(folder, vocab_size)
    keys |= special_keys(config, vocab_size)
    tensors = []
    for name, tensor in collect(folder, config, architecture):
        tensor = arrange(architecture, config, name, tensor)
        tensors.append((name, tensor, type_for(name, tensor, type_name)))
    if architecture == "gpt2":  # readers expect the output tensor as well
        tensors += [("output.weight", tensor, kind)
                    for name, tensor, kind in tensors
                    if name == "token_embd.weight"]
    if divisors is not None:
        data = memoryview(struct.pack(f"<{len(divisors)}f", *divisors))
        tensors.append(("rope_freqs.weight", Tensor(
            "rope_freqs.weight", "F32", [len(divisors)], data), "f32"))
    for name, values in longrope_tensors(config):
        data = memoryview(struct.pack(f"<{len(values)}f", *values))
        tensors.append((name, Tensor(name, "F32", [len(values)], data), "f32"))
    with open(path + ".part", "wb") as out:
        write(out, keys, tensors)
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--type", choices=list(TYPES), default="bf16")
    options = parser.parse_args()
    try:
        convert(options.folder, options.out, options.type)
    except (Refused, OSError, KeyError, ValueError) as error:
        what = (f"config.json has no {error}" if isinstance(error, KeyError)
                else str(error))
        sys.exit(f"cannot write {options.out}: {what}")


if __name__ == "__main__":
    main()
