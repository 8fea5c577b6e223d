"""A scripted server that computes the head of a made-up reward model, as vLLM
or SGLang do.

    server = PoolingServer("vllm", FOLDER, encode, labels=2, shape="tag",
                           tag=514)
    server.wrong.append("busy")  # what happens to the next calls

The outputs at a position are a function of the token ids up to there, and not
of the text: whoever sends other ids gets other scores. Replies have the shapes
of vLLM's vllm/entrypoints/pooling (/pooling, /classify) and of SGLang's
/classify."""

import json
import math
import zlib

from scripted_server import Answer, ScriptedServer

# What a call may meet on purpose.
WRONG = ("busy", "away", "errors", "gone", "null", "nan", "rows", "labels",
         "text", "two", "malformed", "outside")


def logits(ids, labels):
    """The outputs at the end of `ids`: between -3 and 3."""
    text = " ".join(map(str, ids)).encode()
    return [zlib.crc32(text, label) / 2**32 * 6 - 3 for label in range(labels)]


def softmax(values):
    weights = [math.exp(value) for value in values]
    return [weight / sum(weights) for weight in weights]


def logistic(value):
    return 1 / (1 + math.exp(-value))


class PoolingServer(ScriptedServer):
    """`encode`: the tokenizer. `shape`: what task token_classify gives: "tag"
    (a row per `tag`) or "token"; "last": only classify is there. `off`: the
    field that leaves the server's function out; None: no field does, and
    `raw`: it has none. `paths`: those of its endpoints."""

    def __init__(self, kind, folder, encode, *, labels=1, shape="token",
                 tag=-1, off="use_activation", raw=False,
                 paths=("/pooling", "/classify"), **options):
        self.encode = encode
        self.labels = labels
        self.shape = shape
        self.tag = tag
        self.off = off
        self.raw = raw
        self.paths = paths
        self.wrong = []   # of the next calls after `skip` ones
        self.skip = 0
        self.texts = []   # the ids of each call
        self.asked = []
        super().__init__(kind, folder, **options)

    def tokenize(self, asked):
        if self.tokenizer == "own":
            return {"tokens": self.encode(asked["prompt"])}
        return super().tokenize(asked)

    def answer(self, handler, body):
        path = handler.path
        if path in ("/v1/completions", "/generate"):
            raise self.error(404, "Not Found")
        if path not in ("/pooling", "/classify"):
            return super().answer(handler, body)
        self.check_key(path, handler.headers.get("Authorization", ""))
        if path not in self.paths or (self.kind == "sglang" and
                                      path == "/pooling"):
            raise self.error(404, "Not Found")
        asked = json.loads(body)
        ids = asked["input_ids" if self.kind == "sglang" else "input"]
        if not ids or not all(isinstance(token, int) for token in ids):
            raise self.error(400, "expected token ids")
        if len(ids) > self.context:
            raise self.error(400, "longer than the context")
        with self.lock:
            self.seen.requests += 1
            self.texts.append(tuple(ids))
            self.asked.append((path, asked))
            wrong = None
            if self.skip > 0:
                self.skip -= 1
            elif self.wrong:
                wrong = self.wrong.pop(0)
        if wrong == "busy":
            raise self.busy()
        if wrong == "away":
            raise Answer(503, {"message": "down until tomorrow"},
                         (("Retry-After", 90000),))
        if wrong == "errors":
            raise self.error(500, "something broke")
        if wrong == "gone":
            raise self.error(404, "Not Found")
        rows = self.rows(path, asked, ids)
        if wrong == "null":
            rows[-1][-1] = None
        if wrong == "nan":
            rows[-1][-1] = math.nan
        if wrong == "rows":
            rows = rows + rows
        if wrong == "labels":
            rows = [row + row for row in rows]
        if wrong == "outside":
            rows = [[value + 7 for value in row] for row in rows]
        reply = self.reply(path, asked, ids, rows)
        if wrong == "text":
            reply["data"][0]["data"] = "AAAA"
        if wrong == "two":
            reply["data"] *= 2
        if wrong == "malformed":
            return json.dumps(reply).encode()[:-9]
        return reply

    def rows(self, path, asked, ids):
        task = asked.get("task")
        token_wise = path == "/pooling" and task != "classify"
        if token_wise and self.shape == "last":
            if task == "token_classify":
                raise self.error(400, f"Unsupported task: {task!r}")
            token_wise = False
        elif not token_wise and self.shape != "last":
            raise self.error(400, "Unsupported task: 'classify'")
        ends = ([i + 1 for i, token in enumerate(ids)
                 if self.shape == "token" or token == self.tag]
                if token_wise else [len(ids)])
        rows = [logits(ids[:end], self.labels) for end in ends]
        if self.raw or (self.off and asked.get(self.off) is False):
            return rows
        return [softmax(row) if self.labels > 1 else [logistic(row[0])]
                for row in rows]

    def reply(self, path, asked, ids, rows):
        if self.kind == "sglang":
            return {"embedding": rows[0],
                    "meta_info": {"id": "1", "prompt_tokens": len(ids),
                                  "cached_tokens": 0, "e2e_latency": 0.01}}
        if asked["model"] not in self.models:
            raise Answer(404, {"error": {"message": "no such model"}})
        usage = {"prompt_tokens": len(ids), "total_tokens": len(ids),
                 "completion_tokens": 0, "prompt_tokens_details": None}
        if path == "/classify":
            data = {"index": 0, "label": "LABEL_0", "probs": rows[0],
                    "num_classes": self.labels}
        else:
            flat = self.shape == "last"
            data = {"index": 0, "object": "pooling",
                    "data": rows[0] if flat else rows}
        return {"id": "pool-1", "object": "list", "created": 1,
                "model": asked["model"], "data": [data], "usage": usage}
