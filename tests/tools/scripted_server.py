"""An HTTP server that speaks as llama-server, vLLM or SGLang do, or OpenAI's
completions with texts ("openai"), with a small made-up language model behind
it, and that can misbehave on request.

    server = ScriptedServer("vllm", STORIES)
    server.faults.latency = 0.1          # seconds per call
    ... espalier solve --model server.url ...
    server.seen.most_at_once             # calls answered at the same time
    server.close()

The model: the log-probs of the next token are a function of the line so far
and of the letter of the line before, so that the text is lines such as
"c 53+17=60" and then "= 42" and the end token. All three kinds of servers
share it: what they make of one prompt is the same at temperature 0.

Written after the sources of the servers that models/remote/dialect.h names;
what these do strangely is done here as well, with a comment."""

import dataclasses
import http.server
import json
import random
import select
import socket
import ssl
import threading
import time

from made_up_model import FOR_EVER, MadeUpModel

# Those that take and return token ids.
KINDS = ("llama-server", "vllm", "sglang")



@dataclasses.dataclass
class Faults:
    """What goes wrong. Counts are of the next calls that generate or score;
    the one that a program sends first, to try the server, is left out."""
    latency: float = 0         # seconds before the answer to a call
    slow_body: float = 0       # seconds over which the body is sent
    busy: int = 0              # answered 429
    retry_after: object = None  # with it
    errors: int = 0            # answered 500
    refused: int = 0           # answered 400
    refused_after: int = FOR_EVER  # from so many calls on, answered 400
    overloaded: int = 0        # answered 503
    malformed: int = 0         # JSON that ends early
    no_ids: int = 0            # replies without token ids
    wrong_n: int = 0           # a sample too few (llama-server: no sample)
    bad_logprob: int = 0       # a log-prob of 5
    cut: int = 0               # the connection ends in the middle of a body
    closed: int = 0            # the connection ends without an answer
    die_after: int = FOR_EVER  # the server ends after so many calls
    slots: int = FOR_EVER      # more calls at a time are answered 429
    echo_key: bool = False     # errors repeat the key that was sent
    message: object = None     # of 400, instead of its own: a text, or bytes
    key: str = ""              # wanted as a bearer token
    busy_probe: int = 0        # the first requests of any kind: 429
    no_logprobs: bool = False  # never any
    adds_token: bool = False   # to each prompt, as where an id begins all texts
    tells_weights: bool = False  # vLLM names its weights
    # Of "openai", which otherwise does as OpenAI does.
    one_sample: bool = False   # n is ignored
    no_n: bool = False         # n is answered 500, as llama.cpp does
    keeps_stops: bool = False  # in the text
    tells_stops: bool = False  # as TGI: finish_reason "stop_sequence"
    tells_all: bool = False    # log-probs of the stop and the end as well
    halves: bool = False       # its tokens are single bytes
    chat_form: bool = False    # log-probs as the chat API has them
    strict: bool = False       # refuses what it does not know


@dataclasses.dataclass
class Seen:
    requests: int = 0      # of every kind
    calls: int = 0         # that generate or score, without the first try
    answered: int = 0      # of them, with 200
    generations: int = 0   # samples sent
    at_once: int = 0
    most_at_once: int = 0
    cancelled: int = 0     # by the program before their answer
    prompts: list = dataclasses.field(default_factory=list)
    times: list = dataclasses.field(default_factory=list)  # of the calls
    bodies: list = dataclasses.field(default_factory=list)
    paths: list = dataclasses.field(default_factory=list)
    headers: list = dataclasses.field(default_factory=list)


class Broken(Exception):
    """Ends the connection."""


class Answer(Exception):
    def __init__(self, status, body, headers=()):
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    @property
    def owner(self):
        return self.server.owner

    def setup(self):
        super().setup()
        with self.owner.lock:
            self.owner.connections.add(self.connection)

    def finish(self):
        with self.owner.lock:
            self.owner.connections.discard(self.connection)
        try:
            super().finish()
        except OSError:
            pass

    def handle(self):
        try:
            super().handle()
        except (OSError, Broken, ValueError):
            self.close_connection = True

    def do_GET(self):
        self.serve(None)

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        self.serve(self.rfile.read(length))

    def serve(self, body):
        headers = ()
        try:
            status, reply = 200, self.owner.answer(self, body)
        except Answer as answer:
            status, reply, headers = answer.status, answer.body, answer.headers
        data = (reply if isinstance(reply, bytes)
                else json.dumps(reply).encode("utf-8"))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, str(value))
        self.end_headers()
        cut = getattr(self, "cut", False)
        slow = getattr(self, "slow", 0)
        self.cut, self.slow = False, 0
        if cut:
            self.wfile.write(data[:len(data) // 2])
            self.wfile.flush()
            raise Broken()
        if slow:
            parts = 5
            for i in range(parts):
                self.wfile.write(data[len(data) * i // parts:
                                      len(data) * (i + 1) // parts])
                self.wfile.flush()
                time.sleep(slow / parts)
        else:
            self.wfile.write(data)
            self.wfile.flush()

    def wait(self, seconds):
        """Raises Broken if the program goes away meanwhile."""
        ready, _, _ = select.select([self.connection], [], [], seconds)
        if ready and not isinstance(self.connection, ssl.SSLSocket):
            with self.owner.lock:
                self.owner.seen.cancelled += 1
            raise Broken()


class HttpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass

    def shutdown_request(self, request):
        try:
            super().shutdown_request(request)
        except OSError:
            pass


class ScriptedServer:
    """`tokenizer`: "own", "other", or "none" (no /tokenize). `models`: the
    names that it offers. `certificate`: (certificate, key) for https.
    `deterministic`: SGLang's mode in which seeds count; elsewhere it ignores
    them. `prefix`: of all its paths, such as "/proxy"."""

    def __init__(self, kind, folder, *, model=None, port=0, tokenizer="own",
                 models=("made-up",), weights=0, certificate=None,
                 context=2048, deterministic=True, prefix=""):
        self.kind = kind
        self.model = model or MadeUpModel(folder, weights)
        self.tokenizer = tokenizer
        self.models = list(models)
        self.context = context
        self.certificate = certificate
        self.deterministic = deterministic
        self.prefix = prefix
        self.faults = Faults()
        self.seen = Seen()
        self.lock = threading.Lock()
        self.connections = set()
        self.first_try = self.model.bpe.encode("1 + 1 =")
        if kind == "openai":
            self.first_try = "1 + 1 ="
        self.http = None
        self.port = port
        self.start()

    def start(self):
        """Begins to listen, again at the same port after `close`."""
        while True:
            # Below the ports of outgoing connections, which could take it.
            port = self.port or random.randrange(20000, 32000)
            try:
                self.http = HttpServer(("127.0.0.1", port), Handler)
                break
            except OSError:
                if self.port:
                    raise
        self.http.owner = self
        self.port = port
        scheme = "http"
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
            self.http.socket = context.wrap_socket(self.http.socket,
                                                   server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.port}{self.prefix}"
        threading.Thread(target=self.http.serve_forever,
                         kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self):
        """Refuses connections from now on and ends those that are there."""
        with self.lock:
            server, self.http = self.http, None
            connections = list(self.connections)
        if server is None:
            return
        # First no new ones: a program that reconnects at once is refused.
        server.socket.close()
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        server.shutdown()

    # What is asked.

    def answer(self, handler, body):
        path = handler.path
        with self.lock:
            self.seen.requests += 1
            self.seen.paths.append(path)
            self.seen.headers.append(dict(handler.headers))
            busy = self.faults.busy_probe > 0
            self.faults.busy_probe -= busy
        if busy:
            raise self.busy()
        if not path.startswith(self.prefix):
            raise self.error(404, "Not Found")
        path = path[len(self.prefix):]
        self.check_key(path, handler.headers.get("Authorization", ""))
        asked = None
        if body is not None:
            try:
                asked = json.loads(body)
            except ValueError:
                raise self.error(400, "no JSON") from None
        if path == "/tokenize":
            return self.tokenize(asked)
        kinds = {"llama-server": self.llama_server, "vllm": self.vllm,
                 "sglang": self.sglang, "openai": self.openai}
        call = {"llama-server": "/completion", "vllm": "/v1/completions",
                "sglang": "/generate",
                "openai": "/v1/completions"}[self.kind]
        if asked is None or path != call:
            return kinds[self.kind](path, asked)
        prompt = asked["input_ids" if self.kind == "sglang" else "prompt"]
        if self.kind == "openai":
            if not isinstance(prompt, str) or not prompt:
                raise self.error(400, "expected a text")
            if prompt == self.first_try:
                return self.generate(asked, prompt)
            return self.call(handler, asked, prompt)
        if (not isinstance(prompt, list) or
                not all(isinstance(t, int) for t in prompt)):
            raise self.error(400, "expected token ids")
        if not prompt or max(prompt) >= self.model.size or min(prompt) < 0:
            raise self.error(400, "token id out of range")
        if len(prompt) >= self.context:
            raise self.error(400, "the prompt is longer than the context")
        if prompt == self.first_try:
            return self.generate(asked, prompt)
        return self.call(handler, asked, prompt)

    def call(self, handler, asked, prompt):
        """A call that may fail on purpose."""
        now = time.monotonic()
        with self.lock:
            seen, faults = self.seen, self.faults
            seen.calls += 1
            seen.prompts.append(tuple(prompt))
            seen.bodies.append(asked)
            seen.times.append(now)
            seen.at_once += 1
            seen.most_at_once = max(seen.most_at_once, seen.at_once)
            dead = seen.calls > faults.die_after
            wrong = None
            for name in ("busy", "errors", "refused", "overloaded", "malformed",
                         "no_ids", "wrong_n", "bad_logprob", "cut", "closed"):
                if getattr(faults, name) > 0 and not dead:
                    setattr(faults, name, getattr(faults, name) - 1)
                    wrong = name
                    break
            if seen.calls > faults.refused_after and not dead:
                wrong = "refused"
            if seen.at_once > faults.slots:
                wrong = wrong or "busy"
        try:
            if dead:
                threading.Thread(target=self.close, daemon=True).start()
                raise Broken()
            if faults.latency:
                handler.wait(faults.latency)
            if wrong == "busy":
                raise self.busy()
            if wrong == "errors":
                raise self.error(500, "something broke")
            if wrong == "refused":
                if isinstance(faults.message, bytes):
                    raise Answer(400, faults.message)
                raise self.error(400, faults.message or "not this request" + (
                    ", " + handler.headers.get("Authorization", "")
                    if faults.echo_key else ""))
            if wrong == "overloaded":
                raise self.error(503, "overloaded")
            if wrong == "closed":
                raise Broken()
            reply = self.generate(asked, prompt)
            reply = self.spoil(reply, wrong)
            handler.cut = wrong == "cut"
            handler.slow = faults.slow_body
            with self.lock:
                self.seen.answered += 1
            return reply
        finally:
            with self.lock:
                self.seen.at_once -= 1

    def spoil(self, reply, wrong):
        if wrong == "malformed":
            return json.dumps(reply).encode("utf-8")[:-7]
        if wrong == "wrong_n":
            if self.kind in ("vllm", "openai"):
                reply["choices"] = reply["choices"][:-1]
            elif isinstance(reply, list):
                reply = reply[:-1]
            else:
                reply = {}
        if wrong == "no_ids":
            for one in (reply["choices"] if self.kind in ("vllm", "openai") else
                        reply if isinstance(reply, list) else [reply]):
                one.pop("tokens", None)
                one.pop("token_ids", None)
                one.pop("logprobs", None)
                one.pop("meta_info", None)
                one.pop("text", None)
        if wrong == "bad_logprob":
            if self.kind in ("vllm", "openai"):
                reply["choices"][0]["logprobs"]["token_logprobs"][:1] = [5.0]
            elif self.kind == "sglang":
                one = reply[0] if isinstance(reply, list) else reply
                one["meta_info"]["output_token_logprobs"][0][0] = 5.0
            else:
                for entry in reply["completion_probabilities"][:1]:
                    entry["logprob"] = 5.0
        return reply

    def generate(self, asked, prompt):
        return {"llama-server": self.llama_completion,
                "vllm": self.vllm_completion,
                "sglang": self.sglang_generate,
                "openai": self.openai_completion}[self.kind](asked, prompt)

    def check_key(self, path, sent):
        if not self.faults.key:
            return
        # As each server: what can be asked without the key.
        free = {"llama-server": path in ("/health", "/v1/health", "/models",
                                         "/v1/models"),
                "vllm": not path.startswith("/v1"),
                "sglang": path.startswith("/health"),
                "openai": not path.startswith("/v1")}[self.kind]
        if not free and sent != f"Bearer {self.faults.key}":
            raise self.error(401, "Invalid API Key")

    def error(self, status, message):
        if self.kind == "llama-server":
            body = {"error": {"code": status, "message": message,
                              "type": "server_error"}}
        elif self.kind == "vllm":
            body = ({"error": {"message": message, "type": "Error",
                               "param": None, "code": status}}
                    if status != 404 else {"detail": "Not Found"})
        else:
            body = ({"error": {"message": message}} if status != 404
                    else {"detail": "Not Found"})
        return Answer(status, body)

    def busy(self):
        answer = self.error(429, "too many requests")
        if self.faults.retry_after is not None:
            answer.headers = (("Retry-After", self.faults.retry_after),)
        return answer

    def tokenize(self, asked):
        if self.tokenizer == "none" or asked is None:
            raise self.error(404, "Not Found")
        text = asked["content" if self.kind == "llama-server" else "prompt"]
        tokens = self.model.bpe.encode(text)
        if self.tokenizer == "other":
            tokens = [(t + 7) % self.model.size for t in tokens[:-1]]
        if self.kind == "llama-server":
            return {"tokens": tokens}
        return {"tokens": tokens, "count": len(tokens),
                "max_model_len": self.context}

    # llama-server.

    def llama_server(self, path, asked):
        if path == "/props" and asked is None:
            return {"default_generation_settings": {"id": 0,
                                                    "n_ctx": self.context,
                                                    "params": {}},
                    "total_slots": 8, "model_path": "/models/made-up.gguf",
                    "chat_template": "", "build_info": "b0-scripted"}
        if path == "/v1/models" and asked is None:
            return {"object": "list", "data": [
                {"id": name, "object": "model", "owned_by": "llamacpp",
                 "meta": {"vocab_type": 2, "n_vocab": self.model.size,
                          "n_ctx_train": self.context, "n_embd": 8,
                          "n_params": 1000 + self.model.weights,
                          "size": 4000}}
                for name in self.models]}
        raise self.error(404, "File Not Found")

    def llama_completion(self, asked, prompt):
        if asked.get("stream"):
            raise self.error(400, "no streams here")
        model = self.model
        bias = {int(t): float(b) for t, b in asked.get("logit_bias", [])}
        # The server draws at random below 0xFFFFFFFF; n is ignored.
        rng = random.Random(asked.get("seed", 0))
        tokens, why, stop = model.sample(
            prompt, min(asked["n_predict"], self.context - len(prompt)),
            asked.get("stop", []), rng, bias=bias,
            temperature=asked.get("temperature", 0.8),
            top_k=asked.get("top_k", 40), top_p=asked.get("top_p", 0.95),
            min_p=asked.get("min_p", 0.05))
        entries, text, at = [], b"", list(prompt)
        for token in tokens:
            text += model.bpe.bytes[token]
            whole = True
            try:
                text.decode("utf-8")
            except UnicodeDecodeError as error:
                # Only the end of a character is missing.
                whole = error.reason != "unexpected end of data"
            # Tokens inside a character get no entry.
            if whole:
                top = model.top(at, asked.get("n_probs", 0))
                entries.append({
                    "id": token, "token": model.text(token),
                    "bytes": list(model.bpe.bytes[token]),
                    "logprob": model.logprob(at, token),
                    "top_logprobs": [
                        {"id": t, "token": model.text(t),
                         "bytes": list(model.bpe.bytes[t]), "logprob": p}
                        for p, t in top]})
            at.append(token)
        content = text.decode("utf-8", "replace")
        if why == "stop":
            content = content[:content.index(stop)]
            # As many entries fall away as the stop alone has tokens.
            away = min(len(entries), len(model.bpe.encode(stop)))
            entries = entries[:len(entries) - away]
        # What the first call of a prompt computed is kept.
        with self.lock:
            known = getattr(self, "known", set())
            cached = len(prompt) - 1 if tuple(prompt) in known else 0
            known.add(tuple(prompt))
            self.known = known
            self.seen.generations += 1
        reply = {
            "index": 0, "content": content, "tokens": tokens, "id_slot": 0,
            "stop": True, "model": self.models[0],
            "tokens_predicted": len(tokens),
            "tokens_evaluated": len(prompt) + self.faults.adds_token,
            "prompt": "", "has_new_line": "\n" in content, "truncated": False,
            "stop_type": {"end": "eos", "stop": "word", "length": "limit"}[why],
            "stopping_word": stop or "",
            "tokens_cached": len(prompt) + len(tokens) - 1,
            "timings": {"cache_n": cached, "prompt_n": len(prompt) - cached,
                        "predicted_n": len(tokens)}}
        if not asked.get("return_tokens"):
            reply["tokens"] = []
        if asked.get("n_probs", 0) > 0 and not self.faults.no_logprobs:
            reply["completion_probabilities"] = entries
        return reply

    # vLLM.

    def vllm(self, path, asked):
        if path == "/version" and asked is None:
            return {"version": "0.11.0"}
        if path == "/weight_info" and self.faults.tells_weights:
            return {"weight_version": f"w{self.model.weights}"}
        if path == "/v1/models" and asked is None:
            return {"object": "list", "data": [
                {"id": name, "object": "model", "owned_by": "vllm",
                 "root": name, "parent": None, "max_model_len": self.context}
                for name in self.models]}
        raise self.error(404, "Not Found")

    def vllm_completion(self, asked, prompt):
        model = self.model
        if asked["model"] not in self.models:
            raise Answer(404, {"error": {
                "message": f"The model `{asked['model']}` does not exist.",
                "type": "NotFoundError", "param": "model", "code": 404}})
        if asked.get("logprobs") is not None and asked["logprobs"] > 20:
            raise self.error(400, "Requested sample logprobs of "
                             f"{asked['logprobs']}, which is greater than max "
                             "allowed: 20")
        if len(prompt) + asked.get("max_tokens", 16) > self.context:
            raise self.error(400, "This model's maximum context length is "
                             f"{self.context} tokens")
        bias = {int(t): max(-100.0, min(100.0, float(b)))
                for t, b in asked.get("logit_bias", {}).items()}
        choices, written = [], 0
        for index in range(asked.get("n", 1)):
            rng = random.Random(asked["seed"] + index
                                if asked.get("seed") is not None else None)
            tokens, why, stop = model.sample(
                prompt, asked.get("max_tokens", 16), asked.get("stop", []),
                rng, bias=bias, temperature=asked.get("temperature", 1.0),
                top_k=max(0, asked.get("top_k", 0)),
                top_p=asked.get("top_p", 1.0), min_p=asked.get("min_p", 0.0))
            written += len(tokens)
            text = b"".join(model.bpe.bytes[t] for t in tokens).decode(
                "utf-8", "replace")
            if why == "stop":
                end = text.index(stop)
                if asked.get("include_stop_str_in_output"):
                    end += len(stop)
                text = text[:end]
            choice = {"index": index, "text": text, "logprobs": None,
                      "finish_reason": "length" if why == "length" else "stop",
                      "stop_reason": stop, "token_ids": None,
                      "prompt_token_ids": None, "prompt_logprobs": None}
            if asked.get("return_token_ids"):
                choice["token_ids"] = tokens
                choice["prompt_token_ids"] = list(prompt)
            told = not self.faults.no_logprobs
            if asked.get("logprobs") is not None and told:
                choice["logprobs"] = self.vllm_logprobs(asked, prompt, tokens)
            if self.faults.tells_weights:
                choice["weight_versions"] = [
                    {"version": f"w{model.weights}", "start": 0,
                     "end": len(tokens)}]
            if asked.get("prompt_logprobs") is not None:
                choice["prompt_logprobs"] = self.vllm_prompt_logprobs(
                    asked["prompt_logprobs"], prompt)
            choices.append(choice)
        # The last may come first.
        choices.reverse()
        with self.lock:
            known = getattr(self, "known", set())
            cached = (len(prompt) // 16 * 16
                      if tuple(prompt) in known and
                      asked.get("prompt_logprobs") is None else 0)
            known.add(tuple(prompt))
            self.known = known
            self.seen.generations += len(choices)
        return {"id": "cmpl-1", "object": "text_completion", "created": 1,
                "model": asked["model"], "choices": choices,
                "usage": {"prompt_tokens":
                          len(prompt) + self.faults.adds_token,
                          "total_tokens": len(prompt) + written,
                          "completion_tokens": written,
                          "prompt_tokens_details": {"cached_tokens": cached}}}

    def vllm_logprobs(self, asked, prompt, tokens):
        def name(token):
            return (f"token_id:{token}"
                    if asked.get("return_tokens_as_token_ids")
                    else self.model.text(token))
        at, values, tops = list(prompt), [], []
        for token in tokens:
            own = self.model.logprob(at, token)
            values.append(max(own, -9999.0))
            top = {name(token): own}  # the drawn one first
            for p, t in self.model.top(at, asked["logprobs"]):
                top[name(t)] = p
            tops.append(top)
            at.append(token)
        return {"text_offset": [0] * len(tokens), "token_logprobs": values,
                "tokens": [name(t) for t in tokens], "top_logprobs": tops}

    def vllm_prompt_logprobs(self, count, prompt):
        out = [None]
        for i in range(1, len(prompt)):
            order = self.model.all(prompt[:i])
            entry = {}
            for rank, (p, t) in enumerate(order, 1):
                if rank <= count or t == prompt[i]:
                    entry[str(t)] = {"logprob": p, "rank": rank,
                                     "decoded_token": self.model.text(t)}
            out.append(entry)
        return out

    # SGLang.

    def sglang(self, path, asked):
        if path == "/get_model_info" and asked is None:
            return {"model_path": self.models[0],
                    "tokenizer_path": self.models[0], "is_generation": True,
                    "weight_version": f"w{self.model.weights}"}
        if path == "/v1/models" and asked is None:
            return {"object": "list", "data": [
                {"id": name, "object": "model", "owned_by": "sglang",
                 "root": name, "max_model_len": self.context}
                for name in self.models]}
        raise self.error(404, "Not Found")

    def sglang_generate(self, asked, prompt):
        model, how = self.model, asked.get("sampling_params", {})
        temperature = how.get("temperature", 1.0)
        # Log-probs are those of the sampler's temperature; 0 counts as 1.
        scale = temperature if temperature > 0 else 1.0
        limit = how.get("max_new_tokens", 128)
        if len(prompt) + limit > self.context:
            raise self.error(400, "Requested token count exceeds the model's "
                             f"maximum context length of {self.context} tokens")
        replies = []
        for index in range(how.get("n", 1)):
            # Every sample of a call gets the call's seed, as in the real one.
            seed = how.get("sampling_seed", 42) if self.deterministic else None
            tokens, why, stop = model.sample(
                prompt, limit, how.get("stop") or [], random.Random(seed),
                bias={int(t): float(b)
                      for t, b in (how.get("logit_bias") or {}).items()},
                temperature=temperature, top_k=max(0, how.get("top_k", -1)),
                top_p=how.get("top_p", 1.0), min_p=how.get("min_p", 0.0))
            text = b"".join(model.bpe.bytes[t] for t in tokens).decode(
                "utf-8", "replace")
            if why == "stop" and not how.get("no_stop_trim"):
                text = text[:text.index(stop)]
            reason = {"end": {"type": "stop", "matched": model.bpe.end},
                      "stop": {"type": "stop", "matched": stop},
                      "length": {"type": "length", "length": limit}}[why]
            info = {"id": f"r{index}", "finish_reason": reason,
                    "prompt_tokens": len(prompt) + self.faults.adds_token,
                    "weight_version": f"w{model.weights}",
                    "completion_tokens": len(tokens), "cached_tokens": 0,
                    "e2e_latency": 0.01}
            if asked.get("return_logprob") and not self.faults.no_logprobs:
                self.sglang_logprobs(asked, prompt, tokens, scale, info)
            replies.append({"text": text, "output_ids": tokens,
                            "meta_info": info})
        with self.lock:
            self.seen.generations += len(replies)
        return replies[0] if how.get("n", 1) == 1 else replies

    def sglang_logprobs(self, asked, prompt, tokens, scale, info):
        model, count = self.model, asked.get("top_logprobs_num", 0)

        def row(at, token):
            own = (model.logprob(at, token) if scale == 1 else
                   next(p for p, t in model.all(at, scale) if t == token))
            top = [[p, t, None] for p, t in model.top(at, count, scale)]
            return [own, token, None], top or None

        rows = []
        at = list(prompt)
        for token in tokens:
            rows.append(row(at, token))
            at.append(token)
        info["output_token_logprobs"] = [r[0] for r in rows]
        info["output_top_logprobs"] = [r[1] for r in rows]
        start = asked.get("logprob_start_len", -1)
        given, tops = [], []
        if start >= 0:
            scale = 1.0
            given, tops = [[None, prompt[start], None]], [None]
            for i in range(start + 1, len(prompt)):
                one, top = row(prompt[:i], prompt[i])
                given.append(one)
                tops.append(top)
        info["input_token_logprobs"] = given
        info["input_top_logprobs"] = tops

    # OpenAI's completions.

    def openai(self, path, asked):
        if path == "/v1/models" and asked is None:
            return {"object": "list", "data": [
                {"id": name, "object": "model", "owned_by": "me"}
                for name in self.models]}
        raise self.error(404, "Not Found")

    def openai_completion(self, asked, text):
        model, faults = self.model, self.faults
        if asked["model"] not in self.models:
            raise self.error(404, "no such model")
        known = {"model", "prompt", "max_tokens", "temperature", "top_p", "seed",
                 "stream", "n", "logprobs", "stop"}
        if faults.strict and not known.issuperset(asked):
            raise self.error(400, "Unrecognized request argument supplied: " +
                             ", ".join(sorted(set(asked) - known)))
        if faults.no_n and "n" in asked:
            raise self.error(500, "Only one completion choice is allowed")
        if len(asked.get("stop") or []) > 4:
            raise self.error(400, "at most 4 stops")
        if faults.no_logprobs and faults.strict and "logprobs" in asked:
            raise self.error(400, "no logprobs here")
        prompt = model.bpe.encode(text)
        choices, written = [], 0
        for index in range(1 if faults.one_sample else asked.get("n", 1)):
            rng = random.Random(asked["seed"] + index)
            tokens, why, stop = model.sample(
                prompt, asked["max_tokens"], asked.get("stop") or [], rng,
                bias={}, temperature=asked["temperature"],
                top_k=asked.get("top_k", 0), top_p=asked.get("top_p", 1.0),
                min_p=asked.get("min_p", 0.0))
            written += len(tokens)
            out = b"".join(model.bpe.bytes[t] for t in tokens).decode(
                "utf-8", "replace")
            if why == "stop" and not faults.keeps_stops:
                out = out[:out.index(stop)]
            reason = "length" if why == "length" else "stop"
            if faults.tells_stops and why != "length":
                reason = "stop_sequence" if why == "stop" else "eos_token"
            choice = {"index": index, "text": out, "logprobs": None,
                      "finish_reason": reason}
            if asked.get("logprobs") is not None and not faults.no_logprobs:
                choice["logprobs"] = self.openai_logprobs(prompt, tokens, out)
            choices.append(choice)
        choices.reverse()
        with self.lock:
            self.seen.generations += len(choices)
        return {"id": "cmpl-1", "object": "text_completion", "created": 1,
                "model": asked["model"], "choices": choices,
                "usage": {"prompt_tokens": len(prompt),
                          "total_tokens": len(prompt) + written,
                          "completion_tokens": written}}

    def openai_logprobs(self, prompt, tokens, text):
        model, at, pieces, size = self.model, list(prompt), [], 0
        for token in tokens:
            own = model.logprob(at, token)
            at.append(token)
            name = (model.text(token) if token != model.bpe.end
                    else "<|the end|>")
            told = size < len(text) or self.faults.tells_all
            size += len(name)
            if not told:
                continue
            if self.faults.halves:
                pieces.extend((c, own / len(name)) for c in name)
            else:
                pieces.append((name, own))
        if self.faults.chat_form:
            return {"content": [{"token": name, "logprob": p,
                                 "top_logprobs": []} for name, p in pieces]}
        return {"tokens": [name for name, _ in pieces],
                "token_logprobs": [p for _, p in pieces],
                "top_logprobs": None, "text_offset": [0] * len(pieces)}
