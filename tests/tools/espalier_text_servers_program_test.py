"""Searches models behind servers that speak texts, without token ids: scripted
ones, and a llama-server of which only OpenAI's API is shown.

ESPALIER_PROGRAM names the program (ctest sets it). ESPALIER_LONG=1 asks for the
test of a real llama-server, which ESPALIER_LLAMA_SERVER names; without it it is
skipped."""

import http.server
import json
import re
import threading
import unittest
import urllib.error
import urllib.request

from espalier_program_test import STORIES, run
from made_up_model import FOR_EVER
from servers_case import (BY_TEXT, LONG, MODEL, LlamaServerCase, ServersTest,
                          environment)


class TextServersTest(ServersTest):

    def texts(self, **faults):
        server = self.serve("openai")
        for name, value in faults.items():
            setattr(server.faults, name, value)
        return server

    def results(self, server, methods, *more, **options):
        """The results, and what the program adds about texts."""
        done = self.ask("eval", server, "--methods", methods, "--seed", "1",
                        "--json", "-", *more, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        for result in said["results"]:
            self.assertEqual(result["errors"], [])
            del result["seconds"]
        return said["results"], said, done.stderr

    def test_greedy_is_that_of_servers_with_ids(self):
        """Whatever the server tells of ends and stops."""
        expected = self.eval(self.serve("vllm"), "greedy", limit=8)
        for faults in ({}, {"keeps_stops": True}, {"tells_stops": True},
                       {"tells_all": True}, {"no_logprobs": True},
                       {"no_logprobs": True, "strict": True},
                       {"one_sample": True}, {"no_n": True},
                       {"halves": True},
                       {"chat_form": True, "strict": True}):
            server = self.texts(**faults)
            with self.subTest(faults):
                found, said, errors = self.results(server, "greedy", limit=8)
                self.assertEqual(found, expected)
                self.assertIn("tokenised here", errors)
                self.assertIn(server.url, errors)
                self.assertGreater(said["texts_encoded"], 8)
                self.assertEqual(said["texts_missed"], 0)
                self.assertIn(f"0 of {said['texts_encoded']} texts", errors)

    def test_an_end_that_is_not_told_takes_one_more_call(self):
        plain, told = self.texts(), self.texts(tells_stops=True)
        for server in (plain, told):
            self.eval(server, "greedy", limit=2)
        self.assertEqual(plain.seen.calls, 2 * told.seen.calls)
        asked = [body for body in plain.seen.bodies if "stop" not in body]
        self.assertEqual(len(asked), told.seen.calls)
        self.assertEqual({body["max_tokens"] for body in asked}, {1})

    def test_log_probs_are_those_of_the_tokens(self):
        """Where the server tells them all; the sum where its tokens are
        others."""
        rows = {}
        for name, server in (("ids", self.serve("vllm")),
                             ("texts", self.texts(tells_all=True)),
                             ("asked", self.texts()),
                             ("halves", self.texts(tells_all=True,
                                                   halves=True))):
            done = self.generate(f"{name}.db", server, search="greedy",
                                 limit=2)
            self.assertEqual(done.returncode, 0, done.stderr)
            asked = run("db", "sql", self.path(f"{name}.db"), "--json",
                        "SELECT n.text, n.logprob FROM searches s JOIN "
                        "tree_nodes(s.search_id) n ORDER BY s.search_id, "
                        "n.node")
            self.assertEqual(asked.returncode, 0, asked.stderr)
            rows[name] = [json.loads(line) for line
                          in asked.stdout.splitlines()]
        self.assertGreater(len(rows["ids"]), 4)
        for name in ("texts", "asked", "halves"):
            for one, other in zip(rows[name], rows["ids"], strict=True):
                self.assertEqual(one["text"], other["text"])
                self.assertAlmostEqual(one["logprob"], other["logprob"],
                                       places=4, msg=name)

    def test_samples_of_one_call(self):
        server, single = self.texts(), self.texts(one_sample=True)
        reward, form = self.serve(), self.path("mark.textproto", BY_TEXT)
        for i, one in enumerate((server, single)):
            done = self.generate(f"{i}.db", one, "--reward-model", reward.url,
                                 "--reward-format", form,
                                 search="beam:branch=4")
            self.assertEqual(done.returncode, 0, done.stderr)
            asked = run("db", "sql", self.path(f"{i}.db"),
                        "SELECT max(c) FROM (SELECT count(*) AS c FROM "
                        "searches s JOIN tree_nodes(s.search_id) n "
                        "GROUP BY s.search_id, n.parent)")
            self.assertGreater(int(asked.stdout.split()[-1]), 2, asked.stderr)
        self.assertEqual({body.get("n", 1) for body in single.seen.bodies},
                         {1})
        self.assertEqual(max(body.get("n", 1) for body in server.seen.bodies),
                         4)
        self.assertLess(server.seen.calls, single.seen.calls)

    def test_methods_that_read_no_log_probs_need_none(self):
        """Every other method is refused by name, before it asks anything."""
        form = self.path("mark.textproto", BY_TEXT)
        reward = self.serve("vllm")
        done = run("methods", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [one["name"] for one in json.loads(done.stdout)["methods"]]
        self.assertGreater(len(names), 30)
        refused = []
        for name in names:
            server = self.texts(no_logprobs=True)
            more = ("--reward-model", reward.url, "--reward-format", form)
            done = self.ask("eval", server, "--methods", name, "--seed", "1",
                            "--json", "-", *more, limit=2)
            with self.subTest(name):
                if done.returncode != 0:
                    if "log-prob" not in done.stderr:
                        continue  # needs a verifier, models, references
                    refused.append(name)
                    self.one_error(done, name, "log-probs")
                    self.assertEqual(server.seen.calls, 0)
                    continue
                told = self.eval(self.texts(), name, *more, limit=2)
                found = json.loads(done.stdout)["results"]
                del found[0]["seconds"]
                self.assertEqual(found, told)
        self.assertEqual(
            refused, ["best_first", "confidence", "deepconf", "frontier",
                      "gumbel", "mur", "phi", "puct"])

    def test_options_decide_whether_log_probs_are_read(self):
        form = self.path("mark.textproto", BY_TEXT)
        reward = self.serve("vllm")
        server = self.texts(no_logprobs=True)
        for method, refused in (("best_first:score=reward", False),
                                ("guided", False),
                                ("guided:likelihood=1", True),
                                ("segments", False),
                                ("segments:share=mean", True),
                                ("segments:fallback=lowest", True)):
            done = self.ask("eval", server, "--methods", method, "--json", "-",
                            "--reward-model", reward.url, "--reward-format",
                            form, limit=1)
            with self.subTest(method):
                self.assertEqual(done.returncode, int(refused), done.stderr)

    def test_likely_tokens_are_not_told(self):
        server = self.texts()
        done = self.ask("eval", server, "--methods", "deepconf", "--json", "-")
        self.one_error(done, "deepconf", "most likely tokens")
        self.assertEqual(server.seen.calls, 0)

    def test_given_texts_cannot_be_scored(self):
        policy, server = self.serve("vllm"), self.texts()
        done = self.ask("eval", policy, "--methods", "best_of_n:n=2",
                        "--reward-model", server.url, "--reward-format",
                        self.path("mark.textproto", BY_TEXT), "--json", "-")
        self.one_error(done, server.url, "cannot score")
        done = run("score", "--model", server.url, "--tokenizer", STORIES,
                   "--text", "a 3+4=7\n", env=environment())
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot score", done.stderr)
        self.assertEqual(server.seen.calls + policy.seen.calls, 0)

    def test_a_run_is_resumed_and_replayed(self):
        for name, faults in (("told", {}), ("untold", {"no_logprobs": True})):
            server = self.texts(**faults)
            file = f"{name}.db"
            done = self.generate(file, server, "--live", "2", search="greedy",
                                 limit=4)
            self.assertEqual(done.returncode, 0, done.stderr)
            whole = self.searches(file)
            part = f"{name}-part.db"
            server.faults.retry_after = 3600
            calls, whole_call = server.seen.calls, server.call

            def call(*args):
                if server.seen.calls > 1.5 * calls:
                    server.faults.busy = FOR_EVER
                return whole_call(*args)
            server.call = call
            cut = self.generate(part, server, "--live", "2", limit=4)
            self.assertEqual(cut.returncode, 1, cut.stdout)
            self.assertIn("--resume", cut.stderr)
            server.call = whole_call
            server.faults.busy = 0
            again = self.generate(part, server, "--live", "2", "--resume",
                                  limit=4)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(self.searches(part), whole)
            server.close()
            for one in (file, part):
                replayed = run("replay", self.path(one))
                self.assertEqual(replayed.returncode, 0, replayed.stderr)

    def test_a_run_does_not_mix_what_servers_return(self):
        """Ids, texts, and texts without log-probs, of the same model."""
        servers = {"ids": self.serve("vllm"), "texts": self.texts(),
                   "bare": self.texts(no_logprobs=True)}
        told = {"texts": "texts", "bare": "texts without log-probs"}
        for first in servers:
            done = self.generate(f"{first}.db", servers[first], limit=2)
            self.assertEqual(done.returncode, 0, done.stderr)
            before = self.searches(f"{first}.db")
            for second in servers:
                with self.subTest(first=first, second=second):
                    calls = servers[second].seen.calls
                    again = self.generate(f"{first}.db", servers[second],
                                          "--resume", limit=2)
                    if second == first:
                        self.assertEqual(again.returncode, 0, again.stderr)
                        continue
                    self.one_error(again, "server_replies",
                                   *filter(None, (told.get(first),
                                                  told.get(second))))
                    self.assertEqual(self.searches(f"{first}.db"), before)
                    self.assertLess(servers[second].seen.calls, calls + 4)

    def test_a_text_with_other_tokens_is_counted(self):
        """The prompt ends inside a word, which the server's text goes on."""
        server = self.texts()
        server.openai_completion = lambda asked, text: {
            "choices": [{"index": i, "text": "lls", "finish_reason": "length",
                         "logprobs": {"tokens": ["ll", "s"],
                                      "token_logprobs": [-1.0, -0.5]}}
                        for i in range(asked.get("n", 1))]}
        whole = MODEL.bpe.encode("Ann has 3 shells")
        begun = MODEL.bpe.encode("Ann has 3 she")
        self.assertNotEqual(whole[:len(begun)], begun)
        done = run("complete", "--model", server.url, "--tokenizer", STORIES,
                   "--text", "Ann has 3 she", "--max-tokens", "8", "--json",
                   env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 1 texts", done.stderr)
        written = json.loads(done.stdout)
        self.assertEqual(written["text"], "lls")
        self.assertEqual(written["tokens"], MODEL.bpe.encode("lls"))
        self.assertAlmostEqual(sum(written["logprobs"]), -1.5, places=4)

    def test_solve_shows_such_texts_with_its_results(self):
        done = self.ask("solve", self.texts(), "--search", "majority:n=2",
                        "--json", "-", limit=3)
        self.assertEqual(done.returncode, 0, done.stderr)
        missed, encoded = re.search(r"(\d+) of (\d+) texts did not",
                                    done.stderr).groups()
        last = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((last["texts_missed"], last["texts_encoded"]),
                         (int(missed), int(encoded)))
        done = self.ask("solve", self.texts(), "--search", "majority:n=2",
                        limit=3)
        self.assertIn(f"{missed} of {encoded} texts so far", done.stdout)

    def test_stops_beyond_what_the_api_takes(self):
        server = self.texts()
        more = []
        for stop in ("q", "r", "s", "t", "="):
            more += ["--stop", stop]
        done = run("complete", "--model", server.url, "--tokenizer", STORIES,
                   "--text", "a 3", "--temperature", "0", "--max-tokens", "30",
                   "--json", *more, env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("=", json.loads(done.stdout)["text"])

    def test_what_goes_wrong_for_a_while_changes_nothing(self):
        expected = self.eval(self.texts(), "majority:n=2", limit=4)
        server = self.texts()
        for fault in ("busy", "errors", "malformed", "no_ids", "wrong_n",
                      "bad_logprob", "cut", "closed"):
            setattr(server.faults, fault, 1)
        self.assertEqual(self.eval(server, "majority:n=2", limit=4), expected)

    def test_filters_are_sent_only_where_asked_for(self):
        server = self.texts(strict=True)
        self.eval(server, "majority:n=2", "--top-p", "0.9", limit=1)
        found = self.eval(server, "majority:n=2", "--top-k", "3", limit=1,
                          errors=True)
        self.assertIn("top_k", found[0]["errors"][0])


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes on what is below /v1."""
    protocol_version = "HTTP/1.1"
    target = ""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.pass_on(None)

    def do_POST(self):
        self.pass_on(self.rfile.read(int(self.headers["Content-Length"])))

    def pass_on(self, body):
        status, data = 404, b"{}"
        if self.path.startswith("/v1/"):
            asked = urllib.request.Request(
                self.target + self.path, data=body,
                headers={"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(asked, timeout=60) as reply:
                    status, data = 200, reply.read()
            except urllib.error.HTTPError as error:
                status, data = error.code, error.read()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


@unittest.skipUnless(LONG, "takes minutes")
class LongTest(LlamaServerCase, ServersTest):

    def test_texts_are_as_good_as_ids(self):
        url = self.serve_llama()
        handler = type("Here", (Proxy,), {"target": url})
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.addCleanup(proxy.server_close)
        self.addCleanup(proxy.shutdown)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        texts = f"http://127.0.0.1:{proxy.server_address[1]}"
        found = {}
        for name, where in (("ids", url), ("texts", texts)):
            done = self.generate(f"{name}.db", where, "--live", "8",
                                 search="greedy", limit=20)
            self.assertEqual(done.returncode, 0, done.stderr)
            asked = run("db", "sql", self.path(f"{name}.db"), "--json",
                        "SELECT p.name, n.text, n.logprob FROM searches s "
                        "JOIN problems p USING(problem_id) JOIN "
                        "tree_nodes(s.search_id) n ORDER BY p.name, n.node")
            self.assertEqual(asked.returncode, 0, asked.stderr)
            found[name] = [json.loads(line)
                           for line in asked.stdout.splitlines()]
        self.assertGreater(len(found["ids"]), 60)
        for one, other in zip(found["texts"], found["ids"], strict=True):
            self.assertEqual(one["text"], other["text"])
            self.assertAlmostEqual(one["logprob"], other["logprob"], delta=1e-2)
        most = max(abs(one["logprob"] - other["logprob"])
                   for one, other in zip(found["texts"], found["ids"]))
        print(f"\nfigure: texts and ids give the same {len(found['ids'])} steps, "
              f"log-probs differ by {most:.4f} at most")


if __name__ == "__main__":
    unittest.main()
