"""A small made-up language model over the tokens of models/zoo/stories, for
scripted_server.py: log-probs that are a function of the line so far."""

import functools
import json
import math
import os
import random
import re
import zlib

FOR_EVER = 10**9


class Bpe:
    """The tokenizer of models/zoo/stories: byte-level BPE."""

    WORDS = re.compile(r"[0-9]|\n| ?[A-Za-z]+|[^0-9A-Za-z\n]")

    def __init__(self, folder):
        path = os.path.join(folder, "tokenizer.json")
        with open(path, encoding="utf-8") as handle:
            data = json.load(handle)
        plain = (list(range(33, 127)) + list(range(161, 173)) +
                 list(range(174, 256)))
        names, more = {}, 256
        for byte in range(256):
            names[byte] = chr(byte if byte in plain else more)
            more += byte not in plain
        self.names = names
        bytes_of = {name: byte for byte, name in names.items()}
        self.vocab = data["model"]["vocab"]
        merges = [tuple(m.split(" ") if isinstance(m, str) else m)
                  for m in data["model"]["merges"]]
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.bytes = {i: bytes(bytes_of[c] for c in text)
                      for text, i in self.vocab.items()}
        self.end = data["added_tokens"][0]["id"]
        self.bytes.update((token["id"], b"") for token in data["added_tokens"])
        self.size = len(self.bytes)

    def encode(self, text):
        out = []
        for word in self.WORDS.findall(text):
            parts = [self.names[b] for b in word.encode("utf-8")]
            while len(parts) > 1:
                pairs = [self.ranks.get(p, FOR_EVER)
                         for p in zip(parts, parts[1:])]
                best = min(pairs)
                if best == FOR_EVER:
                    break
                at = pairs.index(best)
                parts[at:at + 2] = [parts[at] + parts[at + 1]]
            out.extend(self.vocab[p] for p in parts)
        return out


class MadeUpModel:
    """ln p of the next token: a few likely ones, made from a hash of what
    stands before, and all others with less than 1e-5 each."""

    def __init__(self, folder, weights=0):
        self.bpe = Bpe(folder)
        self.size = self.bpe.size
        self.weights = weights  # another number: another model
        byte = {chr(b): self.bpe.vocab[self.bpe.names[b]] for b in range(128)}
        self.byte = byte
        self.newline = byte["\n"]
        self.inside = [self.bpe.vocab[self.bpe.names[b]] for b in (0xd0, 0xb8)]
        self.digits = [byte[c] for c in "0123456789"]
        # No two tokens are equally likely.
        self.rest = [-13.0 - 1e-3 * i for i in range(self.size)]
        self.likely = functools.lru_cache(maxsize=100000)(self._likely)

    def state(self, tokens):
        """What the next token depends on."""
        line, before = [], None
        for i in range(len(tokens) - 1, max(-1, len(tokens) - 24), -1):
            if tokens[i] == self.newline:
                for j in range(i - 1, max(-1, i - 24), -1):
                    if tokens[j] == self.newline:
                        break
                    before = tokens[j]
                break
            line.append(tokens[i])
        return tuple(reversed(line)), before

    def _likely(self, state):
        """{token: logit}, the others have self.rest."""
        line, before = state
        noise = random.Random(
            zlib.crc32(repr((state, self.weights)).encode("ascii")))
        byte = self.byte
        if not line:
            if before == byte["="]:
                return {self.bpe.end: 6.0, byte["="]: 0.5}
            letters = "abcdef"
            at = letters.find(self.text(before)) if before is not None else -1
            out = {byte["="]: noise.uniform(-2, 0) + 1.2 * at}
            for i, c in enumerate(letters):
                out[byte[c]] = noise.uniform(0, 1) + (4.0 if i == at + 1
                                                      else -3.0)
            return out
        if len(line) == 1 and line[0] != byte["!"]:
            return {byte[" "]: 8.0, byte["+"]: noise.uniform(-2, -1)}
        if line[-1] == byte["!"]:
            # The verdict of a reward format; the last two are bytes of "и".
            return {t: noise.uniform(-3, 3)
                    for t in (byte["+"], byte["-"], *self.inside)}
        written = [self.text(t) for t in line]
        digits = {d: noise.uniform(0, 2.5) for d in self.digits}
        if written[-1] in (" ", "+", "-", "*", "="):
            return digits
        if len(written) > 2 and written[-2].isdigit():
            digits = {d: v - 4 for d, v in digits.items()}
        answer = written[0] == "="
        if answer or "=" in written:
            digits[self.newline] = noise.uniform(0, 2) + 2
        elif any(c in written for c in "+-*"):
            digits[byte["="]] = noise.uniform(0, 2) + 2
        else:
            for c in "+-*":
                digits[byte[c]] = noise.uniform(0, 2)
            digits[self.newline] = noise.uniform(-3, 0)
        if len(line) > 16:
            digits[self.newline] = 9.0
        return digits

    def text(self, token):
        return self.bpe.bytes[token].decode("utf-8", "replace")

    def logits(self, tokens):
        return self.likely(self.state(tokens))

    @functools.cached_property
    def mass(self):
        return math.fsum(map(math.exp, self.rest))

    def log_sum(self, logits):
        mass = self.mass - math.fsum(math.exp(self.rest[t]) for t in logits)
        return math.log(math.fsum(map(math.exp, logits.values())) + mass)

    def logprob(self, tokens, token):
        logits = self.logits(tokens)
        return logits.get(token, self.rest[token]) - self.log_sum(logits)

    def all(self, tokens, temperature=1.0):
        """(ln p, token) of every token, most likely first."""
        logits = self.logits(tokens)
        values = [logits.get(t, self.rest[t]) / temperature
                  for t in range(self.size)]
        total = math.log(math.fsum(map(math.exp, values)))
        return sorted(((v - total, t) for t, v in enumerate(values)),
                      key=lambda pair: (-pair[0], pair[1]))

    def top(self, tokens, count, temperature=1.0):
        """The first `count` of `all`."""
        logits = self.logits(tokens)
        if count > len(logits) or temperature != 1:
            return self.all(tokens, temperature)[:count]
        total = self.log_sum(logits)
        best = sorted(logits.items(), key=lambda pair: (-pair[1], pair[0]))
        return [(v - total, t) for t, v in best[:count]]

    def draw(self, tokens, rng, temperature, bias, top_k=0, top_p=1.0,
             min_p=0.0):
        logits = self.logits(tokens)
        if bias:
            logits = dict(logits)
            for token, more in bias.items():
                logits[token] = logits.get(token, self.rest[token]) + more
        best = max(logits.values())
        if temperature <= 0:
            return min(t for t, v in logits.items() if v == best)
        # The unlikely ones are never drawn.
        pairs = sorted(((math.exp((v - best) / temperature), t)
                        for t, v in logits.items()), reverse=True)
        if top_k > 0:
            pairs = pairs[:top_k]
        total = sum(p for p, _ in pairs)
        kept, passed = [], 0.0
        for p, t in pairs:
            if (passed >= top_p * total and kept) or p < min_p * pairs[0][0]:
                break
            kept.append((p, t))
            passed += p
        at = rng.random() * passed
        for p, t in kept:
            at -= p
            if at < 0:
                return t
        return kept[-1][1]

    def sample(self, prompt, limit, stops, rng, **how):
        """(tokens, why, stop): why is "end", "stop" or "length"."""
        tokens, text = list(prompt), b""
        stops = [s.encode("utf-8") for s in stops]
        for _ in range(limit):
            token = self.draw(tokens, rng, **how)
            tokens.append(token)
            if token == self.bpe.end:
                return tokens[len(prompt):], "end", None
            text += self.bpe.bytes[token]
            for stop in stops:
                if stop in text:
                    return tokens[len(prompt):], "stop", stop.decode("utf-8")
        return tokens[len(prompt):], "length", None
