"""What the tests of espalier serve share: a server, and its clients.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import dataclasses
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

from espalier_program_test import PROGRAM, STORY, ZOO, ProgramTest, run

KEY_NAME = "ESPALIER_SERVE_KEY"
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
# Longer than any test waits for it, and one that takes about a second.
ENDLESS, WHILE = "puct@60000", "puct@6000"
TYPES = {401: "authentication_error", 429: "rate_limit_error",
         500: "server_error", 503: "server_error"}
SEARCH = {"configuration", "answer", "score", "stage", "stop_reason",
          "model_calls", "simulations", "nodes", "reward_tokens",
          "verdict_tokens", "speculated_tokens", "seconds", "seed",
          "ignored"}
SAMPLE = re.compile(r'([a-z_]+)(\{(?:[a-z_]+="[^"\\]*",?)*\})? '
                    r"([0-9.e+-]+|\+Inf)")
PEOPLE = ("Ann", "Tom", "Mia", "Ben", "Eva", "Sam", "Lucy", "Max")


def story(i):
    """One of many questions, each with its own numbers."""
    name, first = PEOPLE[i % len(PEOPLE)], 11 + i
    return (f"{name} has {first} shells. {name} finds {31 + i} more. {name} "
            f"loses 10 shells. How many shells does {name} have now?")


def chat_body(content, fields):
    return {"model": "greedy", "messages": user(content), **fields}


def user(content):
    return [{"role": "user", "content": content}]


def strict(text):
    def refuse(constant):
        raise ValueError(constant + " is not JSON")
    return json.loads(text, parse_constant=refuse)


def until(happened, seconds=20):
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise AssertionError("nothing happened")
        time.sleep(0.002)


def events(response):
    """Those of a stream: JSON, "[DONE]", or None for a comment."""
    data = None
    for line in response:
        line = line.decode("utf-8").rstrip("\r\n")
        if line.startswith(":"):
            yield None
        elif line.startswith("data: ") and data is None:
            data = line[6:]
        elif not line:
            if data is not None:
                yield data if data == "[DONE]" else strict(data)
            data = None
        else:
            raise AssertionError("not a line of an event: " + line)
    if data is not None:
        raise AssertionError("ended within an event: " + data)


@dataclasses.dataclass
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self):
        return strict(self.body)


class Served:
    """A running `espalier serve` at a port of its own."""

    def __init__(self, *flags, **variables):
        self.log = tempfile.TemporaryFile()
        env = {k: v for k, v in os.environ.items() if k != KEY_NAME}
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--listen", "127.0.0.1:0", *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
            text=True, env=dict(env, ESPALIER_ZOO=ZOO, **variables))
        watch = threading.Timer(60, self.process.kill)
        watch.start()
        self.line = self.process.stdout.readline()
        watch.cancel()
        found = re.search(r" at http://127\.0\.0\.1:(\d+)/v1 ", self.line)
        if not found:
            self.kill()
            raise AssertionError("not served: " + self.line + self.said())
        self.port = int(found[1])

    def said(self):
        self.log.seek(0)
        return self.log.read().decode("utf-8")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def end(self, number=signal.SIGTERM, seconds=60):
        """Ends it in order. Returns all that it wrote."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=seconds)
        said = self.line + out + self.said()
        if self.process.returncode != 0 or "Sanitizer" in said:
            raise AssertionError(f"status {self.process.returncode}: {said}")
        return said

    def connect(self, timeout=120):
        return http.client.HTTPConnection("127.0.0.1", self.port,
                                          timeout=timeout)

    def ask(self, method, path, body=None, headers=(), over=None):
        connection = over or self.connect()
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body)
        connection.request(method, path, body, dict(headers))
        reply = self.finish(connection)
        if over is None:
            connection.close()
        return reply

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def chat(self, content=STORY, path=CHAT, headers=(), over=None, **fields):
        return self.ask("POST", path, chat_body(content, fields), headers,
                        over)

    def begin(self, content=STORY, path=CHAT, **fields):
        """A connection with a request, whose reply is read later or never."""
        connection = self.connect()
        connection.request("POST", path, json.dumps(chat_body(content,
                                                              fields)))
        return connection

    @staticmethod
    def finish(connection):
        response = connection.getresponse()
        return Reply(response.status, response.headers, response.read())

    def stream(self, content=STORY, path=CHAT, **fields):
        """All events of a streamed reply."""
        connection = self.begin(content, path, stream=True, **fields)
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(response.read())
        found = list(events(response))
        connection.close()
        return found

    def raw(self, data, seconds=20):
        """The status of the answer to these bytes; None: closed without."""
        with socket.create_connection(("127.0.0.1", self.port),
                                      seconds) as one:
            try:
                one.sendall(data)
            except OSError:
                pass  # refused before all was sent
            response = http.client.HTTPResponse(one)
            try:
                response.begin()
                response.read()
                return response.status
            except (http.client.HTTPException, ConnectionError):
                return None
            finally:
                response.close()

    def metrics(self, over=None):
        """The samples by name and labels."""
        text = self.get("/metrics", over=over).body.decode("ascii")
        return {name + (labels or ""): float(value) for name, labels, value in
                (SAMPLE.fullmatch(line).groups() for line in text.splitlines()
                 if not line.startswith("#"))}

    def metric(self, name):
        return self.metrics()["espalier_" + name]

    def until_running(self, count=1):
        until(lambda: self.metric("searches_running") == count)


class ServeTest(ProgramTest):
    """`flags`: of a server for all tests of a class."""
    flags = ()
    variables = {}

    @classmethod
    def setUpClass(cls):
        cls.server = Served(*cls.flags, **cls.variables)
        cls.addClassCleanup(cls.server.log.close)
        cls.addClassCleanup(cls.server.kill)
        cls.addClassCleanup(cls.server.end)

    def serve(self, *flags, **variables):
        server = Served(*flags, **variables)
        self.addCleanup(server.log.close)
        self.addCleanup(server.kill)
        return server

    def right(self, reply):
        self.assertEqual(reply.status, 200, reply.body)
        self.assertIn("application/json", reply.headers["Content-Type"])
        return reply.json

    def content(self, reply):
        choice, = self.right(reply)["choices"]
        return choice["message"]["content"]

    def used(self, reply):
        """The method, and all tokens of the search."""
        row = self.right(reply)
        return (row["search"]["configuration"].split(":")[0],
                row["usage"]["search_tokens"])

    def fault(self, reply, status, *words, code=None):
        self.assertEqual(reply.status, status, reply.body)
        self.assertIn("application/json", reply.headers["Content-Type"])
        self.assertEqual(set(reply.json), {"error"})
        error = reply.json["error"]
        self.assertEqual(set(error), {"message", "type", "param", "code"})
        self.assertEqual(error["type"],
                         TYPES.get(status, "invalid_request_error"))
        for word in words:
            self.assertIn(word, error["message"])
        self.assertTrue(error["message"])
        if code:
            self.assertEqual(error["code"], code)

    def prompt(self):
        """What the model reads when it is asked STORY."""
        done = run("solve", STORY, "--show-prompt", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["prompt"]

    def order(self, found, usage=False):
        """Checks the order of a chat's events. Returns the content, the last
        chunk with a choice, and that with the usage."""
        found = [event for event in found if event is not None]
        self.assertEqual(found.pop(), "[DONE]")
        counts = found.pop() if usage else None
        if usage:
            self.assertEqual(counts["choices"], [])
            self.assertIn("search_tokens", counts["usage"])
        kinds, content = "", ""
        for chunk in found:
            self.assertEqual(chunk["object"], "chat.completion.chunk")
            for key in ("id", "created", "model"):
                self.assertEqual(chunk[key], found[0][key])
            self.assertIsNone(chunk.get("usage"))
            choice, = chunk["choices"]
            kinds += self.kind(choice["delta"])
            ends = kinds[-1] == "f"
            self.assertEqual(choice["finish_reason"] is not None, ends)
            self.assertEqual("search" in chunk, ends)
            content += choice["delta"].get("content", "")
        self.assertRegex(kinds, "^ar*c+f$")
        return content, found[-1], counts

    def kind(self, delta):
        if "role" in delta:
            self.assertEqual(delta, {"role": "assistant", "content": ""})
            return "a"
        self.assertLessEqual(len(delta), 1, delta)
        for name, letter in (("reasoning_content", "r"), ("content", "c")):
            if name in delta:
                self.assertIsInstance(delta[name], str)
                return letter
        self.assertEqual(delta, {})
        return "f"
