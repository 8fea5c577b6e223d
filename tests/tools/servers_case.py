"""What the tests of models behind servers share."""

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

from espalier_program_test import ROOT, STORIES, ZOO, ProgramTest, run
from made_up_model import MadeUpModel
from scripted_server import ScriptedServer

LONG = bool(os.environ.get("ESPALIER_LONG"))
LLAMA = os.environ.get("ESPALIER_LLAMA_SERVER")
KEY = "sk-4f1d7c0a9b8e"
MODEL = MadeUpModel(STORIES)
# A reward model that answers with one of two tokens at a mark.
FORMAT = """summary: "a mark after each step"
only_by_name: true
layout: TEXT
question_suffix: "\\n"
tag: "!"
between: "\\n"
read: AT_TAG
squash: SOFTMAX
label: 0
range: PROBABILITY
"""
BY_TEXT = FORMAT + 'choice: "+"\nchoice: "-"\n'
# Bytes of a character, whose log-probs llama-server does not list.
BY_BYTES = FORMAT + "".join(f"choice_id: {t}\n" for t in MODEL.inside)


def environment(**variables):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("ESPALIER_API") and k != "SSL_CERT_FILE"}
    return dict(env, ESPALIER_ZOO=ZOO, **variables)


class LlamaServerCase:
    """Of a LongTest: that it runs with a real llama-server, and which."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not LLAMA:
            print("figure: not run: ESPALIER_LLAMA_SERVER names no llama-server")
            raise unittest.SkipTest("ESPALIER_LLAMA_SERVER is not set")
        said = subprocess.run([LLAMA, "--version"], check=True, text=True,
                              capture_output=True)
        print("figure: llama-server", re.search(
            "version: (.*)", said.stdout + said.stderr)[1])


class ServersTest(ProgramTest):

    def serve(self, kind="vllm", **options):
        if "weights" not in options:
            options["model"] = MODEL
        server = ScriptedServer(kind, STORIES, **options)
        self.addCleanup(server.close)
        return server

    def serve_llama(self):
        """The URL of a llama-server of the story model, in fp32."""
        gguf = self.path("stories.gguf")
        subprocess.run([sys.executable,
                        os.path.join(ROOT, "tools", "write_gguf.py"), STORIES,
                        gguf, "--type", "f32"], check=True,
                       capture_output=True)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        with open(self.path("llama.log"), "wb") as log:
            llama = subprocess.Popen(
                [LLAMA, "-m", gguf, "--port", str(port), "-c", "8192", "-np",
                 "8", "-t", "1", "--no-warmup"], stdout=log,
                stderr=subprocess.STDOUT)
        self.addCleanup(llama.wait)
        self.addCleanup(llama.kill)
        url = f"http://127.0.0.1:{port}"
        end = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(url + "/health", timeout=5):
                    return url
            except (urllib.error.URLError, OSError):
                self.assertLess(time.monotonic(), end, "llama-server is away")
                self.assertIsNone(llama.poll(), "llama-server ended")
                time.sleep(0.05)

    def ask(self, command, model, *more, limit=4, **variables):
        if isinstance(model, ScriptedServer):
            model = model.url
        return run(command, "--model", model, "--tokenizer", STORIES,
                   "--set", "stories:easy", "--limit", str(limit),
                   "--budget-tokens", "300", "--response-tokens", "60", *more,
                   env=environment(**variables))

    def eval(self, model, methods, *more, errors=False, **options):
        """The results of a run that went well. `errors`: searches may fail."""
        done = self.ask("eval", model, "--methods", methods, "--seed", "1",
                        "--json", "-", *more, **options)
        # 1 if every search failed.
        self.assertIn(done.returncode, (0, 1) if errors else (0,), done.stderr)
        results = json.loads(done.stdout)["results"]
        for result in results:
            if not errors:
                self.assertEqual(result["errors"], [])
            del result["seconds"]
        return results

    def generate(self, out, model, *more, search="greedy", **options):
        return self.ask("generate", model, "--out", self.path(out), "--search",
                        search, *more, **options)

    def searches(self, name):
        with sqlite3.connect(f"file:{self.path(name)}?mode=ro",
                             uri=True) as db:
            return db.execute(
                "SELECT p.name, s.seed, s.state, s.answer, s.tokens, s.error, "
                "t.tree, t.log FROM searches s JOIN problems p "
                "USING(problem_id) LEFT JOIN trees t USING(search_id) "
                "ORDER BY 1, 2").fetchall()

    def one_error(self, done, *words):
        """A failure that is said once, soon and clearly."""
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 6, done.stderr)
