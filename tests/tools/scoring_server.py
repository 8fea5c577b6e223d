"""A scripted server that tells how likely tokens are to come next after given
texts, as vLLM's /generative_scoring and SGLang's /v1/score do, or pools their
logits.

    server = ScoringServer("vllm", FOLDER, encode, mark=33)
    server.faults.pooled = "tags"

Log-probs are a function of the token ids up to there. Endpoints are those of
the kind of server and `faults`; shapes are those of vLLM's
vllm/entrypoints/generate/generative_scoring/serving.py and
vllm/entrypoints/pooling, and of SGLang's ScoringResponse."""

import dataclasses
import json
import math

from pooling_server import logits, softmax
from scripted_server import ScriptedServer

# The logits of all tokens but the choices, together, are as one token's.
REST = 4.0


def value(ids, token):
    """The logit of `token` after `ids`."""
    return logits(list(ids) + [token], 1)[0]


@dataclasses.dataclass
class Scoring:
    completions: str = ""   # "told", "capped", "biased", "" (not there)
    scores: bool = True     # the endpoint for scores
    between: bool = False   # a token between query and items
    pooled: str = ""        # "tags", "tokens", "whole", "hidden"
    wrong: list = dataclasses.field(default_factory=list)
    skip: int = 0           # calls before the wrong ones


class ScoringServer(ScriptedServer):

    def __init__(self, kind, folder, encode, *, mark, choices, **options):
        self.encode = encode
        self.mark = mark
        self.choices = choices
        self.scoring = Scoring(**{k: options.pop(k) for k in list(options)
                                  if hasattr(Scoring, k) or k == "wrong"})
        self.asked = []   # (path, body)
        super().__init__(kind, folder, **options)

    def tokenize(self, asked):
        return {"tokens": self.encode(asked["prompt"])}

    def answer(self, handler, body):
        path = handler.path
        if body is None or path == "/tokenize":
            return super().answer(handler, body)
        self.check_key(path, handler.headers.get("Authorization", ""))
        asked = json.loads(body)
        how = self.scoring
        with self.lock:
            self.asked.append((path, asked))
        if path in ("/v1/completions", "/generate"):
            return self.complete(asked)
        wrong = None
        with self.lock:
            if how.skip > 0:
                how.skip -= 1
            elif how.wrong:
                wrong = how.wrong.pop(0)
        if wrong == "errors":
            raise self.error(500, "something broke")
        if path == "/pooling" and how.pooled and self.kind == "vllm":
            return self.pool(asked)
        if how.scores and path == {"vllm": "/generative_scoring",
                                   "sglang": "/v1/score"}[self.kind]:
            return self.score(asked, wrong)
        raise self.error(404, "Not Found")

    def logprob(self, ids, token):
        """Of one of the choices after `ids`, among all tokens."""
        return value(ids, token) - math.log(math.exp(REST) + sum(
            math.exp(value(ids, t)) for t in self.choices))

    def complete(self, asked):
        how = self.scoring.completions
        if not how or self.kind != "vllm":
            raise self.error(404, "Not Found")
        prompt = asked["prompt"]
        if asked.get("logprobs", 0) > 0 and how == "capped":
            raise self.error(400, "Requested sample logprobs of 1, which is "
                             "greater than max allowed: 0")
        token = next(iter(map(int, asked.get("logit_bias", {}))), self.choices[0])
        told = -1e-6 if how == "biased" else self.logprob(prompt, token)
        name = f"token_id:{token}"
        return {"choices": [{
            "index": 0, "text": "?", "token_ids": [token],
            "finish_reason": "length", "stop_reason": None,
            "logprobs": {"tokens": [name], "token_logprobs": [told],
                         "top_logprobs": [{name: told}]}}],
                "usage": {"prompt_tokens": len(prompt)}}

    def score(self, asked, wrong):
        query, items = asked["query"], asked["items"]
        for ids in (query, *items):
            if not all(isinstance(token, int) for token in ids):
                raise self.error(400, "expected token ids")
        rows = []
        for item in items:
            ids = query + [7] * self.scoring.between + item
            all_of = [self.logprob(ids, t) for t in asked["label_token_ids"]]
            rows.append(softmax(all_of) if asked["apply_softmax"]
                        else [math.exp(p) for p in all_of])
        if wrong == "count":
            rows = rows[:-1]
        if wrong == "null":
            rows[-1][0] = None
        if wrong == "nan":
            rows[-1][0] = math.nan
        if wrong == "text":
            rows[-1][0] = "0.5"
        if wrong == "outside":
            rows[-1][0] = 7.0
        if self.kind == "sglang":
            reply = {"scores": rows, "model": self.models[0],
                     "usage": None, "object": "scoring"}
        else:
            reply = {"id": "generative-scoring-1", "object": "list",
                     "created": 1, "model": asked["model"],
                     "data": [{"index": i, "object": "score", "score": row[0]}
                              for i, row in enumerate(rows)],
                     "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
        if wrong == "malformed":
            return json.dumps(reply).encode()[:-9]
        return reply

    def pool(self, asked):
        ids, how = asked["input"], self.scoring.pooled
        whole = asked.get("task") == "classify"
        if how == ("hidden" if whole else "whole"):
            raise self.error(400, f"Unsupported task: {asked.get('task')!r}")
        ends = [i + 1 for i, token in enumerate(ids)
                if how == "tokens" or token == self.mark]
        if whole:
            ends = [len(ids)]
        rows = [[value(ids[:end], t) for t in self.choices] for end in ends]
        if how == "hidden":
            rows = [[0.5 - x for x in row] for row in rows]
        if asked.get("use_activation", True):
            rows = [softmax(row) for row in rows]
        return {"id": "pool-1", "object": "list", "created": 1,
                "model": asked["model"],
                "data": [{"index": 0, "object": "pooling",
                          "data": rows[0] if whole else rows}],
                "usage": {"prompt_tokens": len(ids)}}
