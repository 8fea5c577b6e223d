#!/usr/bin/python3
"""Training speed against plain PyTorch eager: same shapes, same packing.

  apt install python3-torch libopenblas0-pthread
  bench/learn/peer.py build/release/train_benchmark [--json FILE]

Both train a model of the shipped shape on sequences of 96 to 255 tokens, 8192
tokens per step in micro-batches of about 1024, with cross entropy of every
token, AdamW and a clipped gradient norm, on one core, alternating five times;
medians are reported. PyTorch gets AVX-512 kernels, products in bf16 by autocast
or in fp32, and the fastest of three layouts of a micro-batch (a packed row with
a block-diagonal mask, a packed row with attention sequence by sequence, a
padded batch).
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512")  # before torch

import torch
from torch import nn
from torch.nn import functional as F

VOCAB, HIDDEN, FFN, LAYERS, HEADS, KV_HEADS, HEAD_DIM = 512, 128, 352, 6, 4, 2, 32
STEP_TOKENS, MICRO_TOKENS = 8192, 1024


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x):
        x = x.float()
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def rope(x, cos, sin):
    half = HEAD_DIM // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos + turned * sin


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = Norm(), Norm()
        self.qkv = nn.Linear(HIDDEN, (HEADS + 2 * KV_HEADS) * HEAD_DIM, bias=False)
        self.out = nn.Linear(HEADS * HEAD_DIM, HIDDEN, bias=False)
        self.gate_up = nn.Linear(HIDDEN, 2 * FFN, bias=False)
        self.down = nn.Linear(FFN, HIDDEN, bias=False)

    def attend(self, q, k, v, mask):
        # [batch, heads, tokens, head_dim]
        k = k.repeat_interleave(HEADS // KV_HEADS, 1)
        v = v.repeat_interleave(HEADS // KV_HEADS, 1)
        scores = q @ k.transpose(-1, -2) / HEAD_DIM**0.5 + mask
        return torch.softmax(scores, -1) @ v

    def forward(self, x, batch):
        b, n, _ = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, n, HEADS + 2 * KV_HEADS, HEAD_DIM)
        q, k, v = qkv.transpose(1, 2).split((HEADS, KV_HEADS, KV_HEADS), 1)
        q, k = rope(q, batch.cos, batch.sin), rope(k, batch.cos, batch.sin)
        if batch.lengths:
            parts = zip(*(t.split(batch.lengths, 2) for t in (q, k, v)), batch.masks)
            h = torch.cat([self.attend(*part) for part in parts], 2)
        else:
            h = self.attend(q, k, v, batch.mask)
        x = x + self.out(h.transpose(1, 2).reshape(b, n, -1))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, HIDDEN)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = Norm()

    def forward(self, batch):
        x = self.embed(batch.tokens)
        for layer in self.layers:
            x = layer(x, batch)
        logits = self.norm(x) @ self.embed.weight.t()
        return F.cross_entropy(
            logits.flatten(0, 1).float(), batch.targets.flatten(),
            ignore_index=-100, reduction="sum")


def causal(n):
    return torch.full((n, n), float("-inf")).triu(1)


class Batch:
    """A micro-batch, laid out in one of three ways."""

    def __init__(self, sequences, layout):
        self.lengths, self.masks, self.mask = None, None, None
        if layout == "padded":
            longest = max(map(len, sequences))
            rows = [s + [0] * (longest - len(s)) for s in sequences]
            wanted = [s[1:] + [-100] * (longest - len(s) + 1) for s in sequences]
            positions = torch.arange(longest)
            self.mask = causal(longest)
        else:
            rows = [sum(sequences, [])]
            wanted = [sum((s[1:] + [-100] for s in sequences), [])]
            positions = torch.cat([torch.arange(len(s)) for s in sequences])
            masks = [causal(len(s)) for s in sequences]
            if layout == "by sequence":
                self.lengths, self.masks = [len(s) for s in sequences], masks
            else:
                self.mask = torch.full((len(rows[0]),) * 2, float("-inf"))
                at = 0
                for m in masks:
                    self.mask[at:at + len(m), at:at + len(m)] = m
                    at += len(m)
        self.tokens, self.targets = torch.tensor(rows), torch.tensor(wanted)
        rate = 10000.0 ** (-torch.arange(HEAD_DIM // 2) / (HEAD_DIM / 2))
        angle = torch.outer(positions.float(), rate).repeat(1, 2)
        self.cos, self.sin = angle.cos(), angle.sin()


def sequences():
    generator = torch.Generator().manual_seed(1)
    out, tokens, i = [], 0, 0
    while tokens < STEP_TOKENS:
        n = 96 + i * 37 % 160
        out.append(torch.randint(VOCAB, (n,), generator=generator).tolist())
        tokens, i = tokens + n, i + 1
    return out


def pack(all_sequences):
    """Longest first, each into the emptiest micro-batch."""
    count = -(-sum(map(len, all_sequences)) // MICRO_TOKENS)
    count = -(-count // 4) * 4
    batches = [[] for _ in range(count)]
    for s in sorted(all_sequences, key=len, reverse=True):
        min(batches, key=lambda b: sum(map(len, b))).append(s)
    return batches


def torch_speed(layout, bf16, seconds):
    torch.manual_seed(1)
    model = Llama()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3, betas=(0.9, 0.95),
                                  weight_decay=0.1)
    packed = pack(sequences())
    tokens = sum(len(s) for b in packed for s in b)
    batches = [Batch(b, layout) for b in packed]

    def step():
        optimizer.zero_grad()
        for batch in batches:
            with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
                loss = model(batch)
            (loss / tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    step()  # warm
    start, steps = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        step()
        steps += 1
    return steps * tokens / (time.perf_counter() - start)


def our_speed(program, seconds):
    out = subprocess.run(
        [program, "--benchmark_filter=^Sft", "--benchmark_format=json",
         f"--benchmark_min_time={seconds}"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(out)["benchmarks"][0]["items_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the train_benchmark to compare")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4, help="of a turn")
    parser.add_argument("--json", help="write the figures there, too")
    flags = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    ways = [(layout, bf16) for bf16 in (True, False)
            for layout in ("packed", "by sequence", "padded")]
    quick = {way: torch_speed(*way, 2) for way in ways}
    best = max(quick, key=quick.get)
    named = {f"{layout}, {'bf16' if bf16 else 'fp32'}": round(speed)
             for (layout, bf16), speed in quick.items()}
    print(f"PyTorch {torch.__version__}, tokens/s: "
          + "; ".join(f"{k} {v}" for k, v in named.items()))
    ours, theirs = [], []
    for turn in range(flags.turns):
        ours.append(our_speed(flags.program, flags.seconds))
        theirs.append(torch_speed(*best, flags.seconds))
        print(f"turn {turn + 1}: espalier {ours[-1]:.0f}, PyTorch "
              f"{theirs[-1]:.0f} tokens/s", flush=True)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"medians: {statistics.median(ours):.0f} and "
          f"{statistics.median(theirs):.0f}: {ratio:.2f} times")
    if flags.json:
        with open(flags.json, "w", encoding="utf-8") as handle:
            json.dump({"date": time.strftime("%Y-%m-%d"),
                       "processor": platform.processor() or platform.machine(),
                       "pytorch": torch.__version__,
                       "ways": named,
                       "espalier": [round(v) for v in ours],
                       "peer": [round(v) for v in theirs],
                       "ratio": round(ratio, 2)}, handle, indent=1)
            handle.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
