"""Searches models behind servers: scripted ones that misbehave on request
(scripted_server.py), and a real llama-server.

ESPALIER_PROGRAM names the program (ctest sets it), ESPALIER_LLAMA_SERVER a
llama-server, without which its test is skipped. ESPALIER_QUICK shortens that
test. ESPALIER_LONG adds those that wait until the program gives a server up,
two minutes."""

import collections
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

from espalier_generate_program_test import content
from espalier_program_test import PROGRAM, ROOT, STORIES, ZOO, ProgramTest, run
from scripted_server import FOR_EVER, KINDS, MadeUpModel, ScriptedServer

QUICK = bool(os.environ.get("ESPALIER_QUICK"))
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


class ServersTest(ProgramTest):

    def serve(self, kind="vllm", **options):
        if "weights" not in options:
            options["model"] = MODEL
        server = ScriptedServer(kind, STORIES, **options)
        self.addCleanup(server.close)
        return server

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
        self.assertEqual(done.returncode, 0, done.stderr)
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


class DialectTest(ServersTest):

    def test_greedy_is_the_same_behind_each_kind(self):
        found = {}
        for kind in KINDS:
            server = self.serve(kind)
            results = self.eval(server, "greedy,majority:n=4", limit=8)
            found[kind] = json.dumps(results[0])
            self.assertTrue(all(results[0]["answers"]), results[0])
            self.assertGreater(len(set(results[1]["answers"])), 1)
            self.assertEqual(len(results[1]["answers"]), 8)
        self.assertEqual(found["vllm"], found["llama-server"])
        self.assertEqual(found["vllm"], found["sglang"])

    def test_trees_with_their_log_probs_are_the_same(self):
        """Seeds mean the same to the three as long as each call asks for one
        sample. At another temperature than 1 SGLang reports other log-probs,
        which are read again."""
        for search in ("greedy", "majority:n=2", "majority:n=2:temperature=0.7",
                       "deepconf:n=3"):
            found = {}
            for kind in KINDS:
                name = f"{kind}-{search}.db"
                done = self.generate(name, self.serve(kind), search=search,
                                     limit=2)
                self.assertEqual(done.returncode, 0, done.stderr)
                found[kind] = self.searches(name)
                self.assertEqual([row[5] for row in found[kind]], [None] * 2)
            self.assertEqual(found["vllm"], found["llama-server"], search)
            self.assertEqual(found["vllm"], found["sglang"], search)

    def test_samples_of_one_call_differ(self):
        """SGLang gives all samples of a call the call's seed if it is started
        with --enable-deterministic-inference."""
        for kind in KINDS:
            server = self.serve(kind)
            form = self.path("mark.textproto", BY_TEXT)
            done = self.generate(f"{kind}.db", server, "--reward-model",
                                 server.url, "--reward-format", form,
                                 search="beam:branch=4")
            self.assertEqual(done.returncode, 0, done.stderr)
            asked = run("db", "sql", self.path(f"{kind}.db"),
                        "SELECT max(c) FROM (SELECT count(*) AS c FROM "
                        "searches s JOIN tree_nodes(s.search_id) n "
                        "GROUP BY s.search_id, n.parent)")
            self.assertEqual(asked.returncode, 0, asked.stderr)
            found = int(asked.stdout.split()[-1])
            self.assertGreater(found, 2, f"{kind}: {asked.stdout}")

    def test_a_reward_model_behind_a_server(self):
        for name, text in (("text", BY_TEXT), ("bytes", BY_BYTES)):
            form = self.path(f"{name}.textproto", text)
            found = {}
            for kind in KINDS:
                policy, reward = self.serve(kind), self.serve(kind)
                results = self.eval(
                    policy, "best_of_n:n=4", "--reward-model", reward.url,
                    "--reward-format", form, limit=3)
                self.assertGreater(reward.seen.calls, 0)
                found[kind] = json.dumps(results)
            self.assertEqual(found["vllm"], found["llama-server"], name)
            self.assertEqual(found["vllm"], found["sglang"], name)

    def test_without_log_probs_a_server_is_refused(self):
        for kind in KINDS:
            server = self.serve(kind)
            server.faults.no_logprobs = True
            done = self.ask("eval", server, "--methods", "greedy", "--json",
                            "-")
            with self.subTest(kind):
                self.one_error(done, server.url, "log-probs")
                self.assertEqual(server.seen.calls, 0)

    def test_servers_without_tokenize_are_taken(self):
        for kind in KINDS:
            server = self.serve(kind, tokenizer="none")
            self.assertTrue(self.eval(server, "greedy", limit=1))

    def test_a_name_chooses_the_model(self):
        server = self.serve("vllm", models=("base", "made-up", "other"))
        self.eval(server.url + "#other", "greedy", limit=1)
        self.assertEqual({body["model"] for body in server.seen.bodies},
                         {"other"})
        # The API's own path may be part of the URL.
        self.eval(server.url + "/v1#base", "greedy", limit=1)


    def test_paths_before_the_api(self):
        for kind in KINDS:
            server = self.serve(kind, prefix="/proxy/one")
            self.eval(server.url, "greedy", limit=1)
            self.eval(server.url + "/v1/", "greedy", limit=1)
            self.assertTrue(all(path.startswith("/proxy/one/")
                                for path in server.seen.paths))

    def test_a_context_that_fills_up(self):
        """Nothing is sent that the server would refuse, and what becomes of
        texts without room is the same. At 0.7 those of SGLang are scored once
        more."""
        for methods in ("greedy", "majority:n=2:temperature=0.7"):
            found = {}
            for kind in KINDS:
                server = self.serve(kind, context=85)
                with self.subTest(kind=kind, methods=methods):
                    found[kind] = self.eval(server, methods, errors=True)
                    self.assertEqual(server.seen.answered, server.seen.calls,
                                     found[kind][0]["errors"])
                    self.assertEqual(found[kind], found["llama-server"])


class RunTest(ServersTest):

    def test_a_run_is_replayed_without_a_server(self):
        server = self.serve("vllm")
        done = self.generate("run.db", server, search="majority:n=3")
        self.assertEqual(done.returncode, 0, done.stderr)
        server.close()
        replayed = run("replay", self.path("run.db"))
        self.assertEqual(replayed.returncode, 0, replayed.stderr)
        info = run("db", "info", self.path("run.db"))
        self.assertEqual(info.returncode, 0, info.stderr)
        self.assertIn("majority", info.stdout)
        model = run("db", "sql", self.path("run.db"),
                    "SELECT model FROM runs")
        self.assertIn(server.url, model.stdout)
        nodes = run("db", "sql", self.path("run.db"),
                    "SELECT count(*) FROM tree_nodes(1)")
        self.assertEqual(nodes.returncode, 0, nodes.stderr)

    def whole(self, kind="vllm"):
        """A server, and how many calls an undisturbed run takes."""
        server = self.serve(kind)
        whole = self.generate("whole.db", server, "--live", "2",
                              search="majority:n=2", limit=8)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        return server, server.seen.calls

    def resumed(self, server):
        again = self.generate("run.db", server, "--live", "2", "--resume",
                              search="majority:n=2", limit=8)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.searches("run.db"), self.searches("whole.db"))
        self.assertEqual(len({row[0] for row in self.searches("run.db")}), 8)
        self.assertEqual(content(self.path("run.db")),
                         content(self.path("whole.db")))
        self.assertEqual(run("replay", self.path("run.db")).returncode, 0)

    def test_a_server_that_gives_up_ends_the_run_which_can_be_resumed(self):
        """A long Retry-After is given up at once."""
        server, calls = self.whole("vllm")
        server.faults.latency = 0.02
        process = self.start("run.db", server)
        self.until(lambda: server.seen.calls > 1.5 * calls)
        server.faults.retry_after = 3600
        server.faults.busy = FOR_EVER
        said, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1, said + errors)
        self.assertIn(server.url, errors)
        self.assertIn("429", errors)
        with self.subTest("what to do then"):
            self.assertIn("--resume", errors)
        kept = self.searches("run.db")
        self.assertTrue(any(row[2] == "done" for row in kept))
        self.assertFalse(any(row[2] == "failed" for row in kept))
        server.faults.busy = 0
        server.faults.latency = 0
        before = server.seen.calls
        self.resumed(server)
        self.assertLess(server.seen.calls - before, calls)

    def start(self, out, server, *more):
        process = subprocess.Popen(
            [PROGRAM, "generate", "--model", server.url, "--tokenizer",
             STORIES, "--set", "stories:easy", "--limit", "8",
             "--budget-tokens", "300", "--response-tokens", "60", "--out",
             self.path(out), "--search", "majority:n=2", "--live", "2", *more],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.addCleanup(process.kill)
        return process

    def until(self, happened, seconds=20):
        end = time.monotonic() + seconds
        while not happened():
            self.assertLess(time.monotonic(), end, "nothing happened")
            time.sleep(0.005)

    def test_ctrl_c_while_the_server_is_away(self):
        server, calls = self.whole("vllm")
        server.faults.latency = 0.02
        process = self.start("run.db", server)
        self.until(lambda: server.seen.calls > 1.4 * calls)
        server.close()
        time.sleep(1)
        self.assertIsNone(process.poll(), "it waits for the server")
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said + errors)
        self.assertLess(time.monotonic() - start, 5)
        self.assertIn("--resume", errors)
        server.faults.latency = 0
        server.start()
        self.resumed(server)

    def test_ctrl_c_while_the_server_says_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            for command, more in (
                    ("generate", ("--out", self.path("run.db"))),
                    ("solve", ()), ("eval", ("--methods", "greedy"))):
                process = subprocess.Popen(
                    [PROGRAM, command, "--model",
                     f"http://127.0.0.1:{silent.getsockname()[1]}",
                     "--tokenizer", STORIES, "--set", "stories:easy",
                     "--limit", "1", *more], env=environment(),
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                silent.accept()
                process.send_signal(signal.SIGINT)
                with self.subTest(command):
                    process.communicate(timeout=8)
                    self.assertNotEqual(process.returncode, 0)
        self.assertFalse(os.path.exists(self.path("run.db")))

    def test_a_pause_of_the_server_is_waited_for(self):
        server, calls = self.whole("sglang")
        server.faults.latency = 0.01
        process = self.start("run.db", server)
        self.until(lambda: server.seen.calls > 1.4 * calls)
        server.close()
        time.sleep(0.6)
        server.start()
        said, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said + errors)
        self.assertEqual(self.searches("run.db"), self.searches("whole.db"))

    def test_a_run_goes_on_at_another_address(self):
        first = self.serve("llama-server")
        done = self.generate("run.db", first.url + "#made-up", limit=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        first.close()
        second = self.serve("llama-server")
        again = self.generate("run.db", second.url + "#made-up", "--resume",
                              limit=2)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(len(self.searches("run.db")), 2)

    def test_a_run_does_not_go_on_with_another_model(self):
        """Also where the URL names none, the run is of one model."""
        server = self.serve("vllm")
        done = self.generate("run.db", server, limit=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        server.models = ["another"]
        again = self.generate("run.db", server, "--resume", limit=2)
        self.assertNotEqual(again.returncode, 0, again.stdout)
        self.assertIn("model", again.stderr)

    def test_searches_that_a_server_refuses_fail_with_its_reason(self):
        server = self.serve("vllm")
        server.faults.refused = FOR_EVER
        done = self.generate("run.db", server)
        self.assertEqual([row[2] for row in self.searches("run.db")],
                         ["failed"] * 4)
        for row in self.searches("run.db"):
            self.assertIn("not this request", row[5])
            self.assertIn(server.url, row[5])
        with self.subTest("said where the run is watched"):
            self.assertIn("not this request", done.stdout + done.stderr)

    def test_what_a_server_says_is_cut_between_characters(self):
        for i, message in enumerate((
                "xy" + "\u4f60" * 500, b"\xff\xfe" * 300,
                b"[" * 100000, b'{"error": {"message": {"a": 1}}}',
                "\x1b[31mred\x1b[0m\nline")):
            server = self.serve("vllm")
            server.faults.refused = FOR_EVER
            server.faults.message = message
            with self.subTest(message=message[:5]):
                results = self.eval(server, "greedy", limit=1, errors=True)
                said = results[0]["errors"][0]
                self.assertIn("answered 400", said)
                self.assertLess(len(said), 700)
                self.assertNotIn("\x1b", said)
                done = self.generate(f"{i}.db", server, limit=1)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("answered 400", self.searches(f"{i}.db")[0][5])

    def test_a_question_fails_with_the_servers_reason(self):
        server = self.serve("llama-server")
        server.faults.refused = FOR_EVER
        done = self.ask("solve", server, "--search", "greedy", limit=1)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("not this request", done.stderr)
        self.assertIn(server.url, done.stderr)

    def test_the_end_of_a_search_closes_its_calls(self):
        server = self.serve("vllm")
        server.faults.latency = 20
        start = time.monotonic()
        done = self.ask("solve", server, "--search", "greedy", "--max-seconds",
                        "1", limit=1)
        self.assertLess(time.monotonic() - start, 6, done.stderr)
        self.assertGreater(server.seen.calls, 0)
        self.until(lambda: server.seen.cancelled == server.seen.calls, 5)


class PoolTest(ServersTest):

    def servers(self, count, kind="vllm"):
        servers = [self.serve(kind) for _ in range(count)]
        return servers, ",".join(s.url for s in servers)

    def test_each_problem_stays_with_one_server(self):
        for kind in ("vllm", "llama-server"):
            servers, url = self.servers(3, kind)
            self.eval(url, "majority:n=3", limit=12)
            where = collections.defaultdict(set)
            question = MODEL.bpe.encode("?")[0]
            for i, server in enumerate(servers):
                self.assertGreater(server.seen.calls, 0, "a server is idle")
                for prompt in server.seen.prompts:
                    end = prompt.index(question)
                    where[prompt[:end]].add(i)
            self.assertEqual(len(where), 12)
            self.assertEqual({len(w) for w in where.values()}, {1})

    def test_a_server_that_dies_is_replaced_by_the_others(self):
        for count in (2, 3):
            expected = self.eval(self.serve(), "majority:n=2", limit=12)
            servers, url = self.servers(count)
            servers[1].faults.die_after = 20
            self.assertEqual(self.eval(url, "majority:n=2", limit=12),
                             expected)
            self.assertGreater(servers[1].seen.calls, 20)

    def test_a_server_behind_a_broken_proxy_is_replaced(self):
        """One that answers 500 to everything helps no more than one that is
        away; nobody waits two minutes for it."""
        expected = self.eval(self.serve(), "greedy", limit=6)
        servers, url = self.servers(2)
        servers[1].faults.errors = FOR_EVER
        process = subprocess.Popen(
            [PROGRAM, "eval", "--model", url, "--tokenizer", STORIES, "--set",
             "stories:easy", "--limit", "6", "--budget-tokens", "300",
             "--response-tokens", "60", "--seed", "1", "--methods", "greedy",
             "--json", "-"], env=environment(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        said, errors = process.communicate(timeout=8)
        self.assertEqual(process.returncode, 0, errors)
        results = json.loads(said)["results"]
        for result in results:
            del result["seconds"]
        self.assertEqual(results, expected)

    def test_errors_name_the_server_that_answered(self):
        servers, url = self.servers(2)
        servers[0].faults.refused = FOR_EVER
        servers[1].faults.die_after = 0
        results = self.eval(url, "greedy", errors=True)
        self.assertEqual(len(results[0]["errors"]), 4)
        for error in results[0]["errors"]:
            self.assertIn("answered 400", error)
            self.assertIn(servers[0].url, error)

    def test_one_that_is_down_from_the_beginning(self):
        servers, url = self.servers(2)
        servers[1].close()
        done = self.ask("eval", url, "--methods", "greedy", "--json", "-")
        self.one_error(done, servers[1].url, "connect")

    def test_servers_of_different_models_are_refused(self):
        for other in ({"weights": 1}, {"kind": "vllm"},
                      {"models": ("another",)}):
            options = {"kind": "llama-server", **other}
            first = self.serve("llama-server")
            second = self.serve(**options)
            done = self.ask("eval", f"{first.url},{second.url}", "--methods",
                            "greedy", "--json", "-")
            self.one_error(done, first.url, second.url, "the same")
            self.assertEqual(first.seen.calls + second.seen.calls, 0)

    def test_retry_after_is_waited_for(self):
        server = self.serve()
        server.faults.busy = 1
        server.faults.retry_after = 2
        self.eval(server, "greedy", limit=1)
        first, second = server.seen.times[:2]
        self.assertEqual(server.seen.bodies[0], server.seen.bodies[1])
        self.assertGreaterEqual(second - first, 2)
        self.assertLess(second - first, 4)

    def test_what_goes_wrong_for_a_while_changes_nothing(self):
        for kind in KINDS:
            expected = self.eval(self.serve(kind), "majority:n=2", limit=8)
            server = self.serve(kind)
            for fault in ("busy", "errors", "overloaded", "malformed",
                          "no_ids", "wrong_n", "bad_logprob", "cut",
                          "closed"):
                setattr(server.faults, fault, 1)
            self.assertEqual(
                self.eval(server, "majority:n=2", limit=8), expected, kind)
            self.assertEqual(server.seen.answered + 4, server.seen.calls)

    def test_a_call_is_tried_several_times(self):
        server = self.serve("sglang")
        server.faults.errors = 2
        self.eval(server, "greedy", limit=1)
        times = server.seen.times[:3]
        waits = [b - a for a, b in zip(times, times[1:])]
        for wait, least in zip(waits, (0.25, 0.5)):
            self.assertGreaterEqual(wait, least)
            self.assertLess(wait, 3 * least + 1)

    def test_a_body_may_come_slowly(self):
        expected = self.eval(self.serve(), "greedy", limit=2)
        server = self.serve()
        server.faults.slow_body = 0.1
        self.assertEqual(self.eval(server, "greedy", limit=2), expected)

    def test_many_calls_at_a_time(self):
        server = self.serve()
        server.faults.latency = 0.1
        start = time.monotonic()
        self.eval(server, "greedy", "--live", "16", limit=16)
        self.assertGreaterEqual(server.seen.most_at_once, 8)
        self.assertLess(time.monotonic() - start, 6)

    def test_a_server_of_few_slots_is_not_overrun(self):
        expected = self.eval(self.serve(), "greedy", "--live", "16", limit=16)
        server = self.serve()
        server.faults.latency = 0.03
        server.faults.slots = 3
        self.assertEqual(self.eval(server, "greedy", "--live", "16", limit=16),
                         expected)
        refused = server.seen.calls - server.seen.answered
        self.assertLess(refused, server.seen.answered)


class KeyTest(ServersTest):

    def nowhere(self, done, *secrets):
        """None of these is in what the program wrote."""
        for secret in secrets or (KEY,):
            if done is not None:
                self.assertNotIn(secret, done.stdout)
                self.assertNotIn(secret, done.stderr)
            for name in os.listdir(self.folder):
                path = self.path(name)
                if os.path.isfile(path):
                    with open(path, "rb") as handle:
                        self.assertFalse(secret.encode() in handle.read(),
                                         f"{secret} is in {name}")

    def test_the_key_is_sent_and_recorded_nowhere(self):
        for kind in KINDS:
            server = self.serve(kind)
            server.faults.key = KEY
            done = self.generate(f"{kind}.db", server, "--json",
                                 self.path("totals.json"), "--force",
                                 ESPALIER_API_KEY=KEY)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.nowhere(done)
            self.assertEqual({h.get("Authorization")
                              for h in server.seen.headers},
                             {f"Bearer {KEY}"})

    def test_a_wrong_key(self):
        for kind in KINDS:
            for variables in ({}, {"ESPALIER_API_KEY": ""},
                              {"ESPALIER_API_KEY": "sk-wrong-key"}):
                server = self.serve(kind)
                server.faults.key = KEY
                done = self.ask("eval", server, "--methods", "greedy",
                                "--json", "-", **variables)
                self.one_error(done, server.url, "ESPALIER_API_KEY")
                self.nowhere(done, "sk-wrong-key", KEY)
                self.assertEqual(server.seen.calls, 0)

    def test_a_key_that_ends_midway(self):
        server = self.serve("vllm")
        server.faults.key = KEY
        server.faults.latency = 0.02
        process = subprocess.Popen(
            [PROGRAM, "generate", "--model", server.url, "--tokenizer",
             STORIES, "--set", "stories:easy", "--limit", "8",
             "--budget-tokens", "300", "--response-tokens", "60", "--out",
             self.path("run.db"), "--search", "majority:n=4", "--live", "2"],
            env=environment(ESPALIER_API_KEY=KEY), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        end = time.monotonic() + 20
        while server.seen.calls < 20 and time.monotonic() < end:
            time.sleep(0.005)
        server.faults.key = "sk-another"
        said, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1, said + errors)
        self.assertIn("ESPALIER_API_KEY", errors)
        self.nowhere(None, KEY, "sk-another")
        with self.subTest("what to do then"):
            self.assertIn("--resume", errors)

    def test_servers_that_repeat_the_key(self):
        server = self.serve("vllm")
        server.faults.key = KEY
        server.faults.refused = FOR_EVER
        server.faults.echo_key = True
        done = self.generate("run.db", server, ESPALIER_API_KEY=KEY)
        self.nowhere(done)
        done = self.ask("eval", server, "--methods", "greedy", "--json", "-",
                        ESPALIER_API_KEY=KEY)
        self.nowhere(done)

    def test_a_key_with_a_line_end(self):
        """As `cat` of a file may leave it: taken without it, or refused in
        plain words; never sent as a header of its own."""
        for key in (KEY + "\n", KEY + "\r\nX-More: 1"):
            server = self.serve("vllm")
            server.faults.key = KEY
            start = time.monotonic()
            done = self.ask("eval", server, "--methods", "greedy", "--json",
                            "-", limit=1, ESPALIER_API_KEY=key)
            with self.subTest(key=key):
                self.assertLess(time.monotonic() - start, 10)
                self.nowhere(done)
                self.assertFalse(
                    any("X-More" in h for h in server.seen.headers))
                if done.returncode != 0:
                    self.one_error(done, "ESPALIER_API_KEY")

    def test_keys_in_urls_are_refused(self):
        port = self.serve().port
        for url in (f"http://me:{KEY}@127.0.0.1:{port}",
                    f"http://{KEY}@127.0.0.1:{port}",
                    f"http://127.0.0.1:{port}/v1?key={KEY}"):
            for command in ("eval", "generate"):
                more = (("--methods", "greedy") if command == "eval"
                        else ("--out", self.path("run.db")))
                done = self.ask(command, url, *more)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("ESPALIER_API_KEY", done.stderr)
                self.nowhere(done)
                self.assertFalse(os.path.exists(self.path("run.db")))


class WrongInputTest(ServersTest):

    def refused_soon(self, url, *words, more=("--methods", "greedy"),
                     command="eval", **variables):
        start = time.monotonic()
        done = self.ask(command, url, *more, **variables)
        self.assertLess(time.monotonic() - start, 15)
        self.refused(done, *words)
        return done

    def free_port(self):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    def test_no_server_there(self):
        url = f"http://127.0.0.1:{self.free_port()}"
        self.refused_soon(url, url, "server running")
        self.refused_soon("http://no-such-host.invalid:80",
                          "no-such-host.invalid")

    def test_urls_that_are_none(self):
        for url in ("http://", "http://:80", "http://a:port", "http://a:0",
                    "http://a:99999", "http://[::1", "http://a,",
                    "http://a#", "http://a b", "http://a,ftp://b",
                    "http://a:80,models/zoo/stories"):
            self.refused_soon(url, "expected")

    def test_models_by_name(self):
        server = self.serve(models=("small", "large"))
        self.refused_soon(server.url, "small, large", "URL#NAME", server.url)
        self.refused_soon(server.url + "#larg", '"large"', server.url)
        self.refused_soon(server.url + "#medium", "small", "large")
        empty = self.serve(models=())
        self.refused_soon(empty.url, "no model", empty.url)

    def test_the_tokenizer_is_named(self):
        server = self.serve()
        done = run("eval", "--model", server.url, "--set", "stories:easy",
                   "--limit", "1", "--methods", "greedy", env=environment())
        self.refused(done, "--tokenizer", server.url)

    def test_a_tokenizer_of_no_use_is_refused(self):
        """The model in this process has its own."""
        done = run("eval", "--model", STORIES, "--tokenizer", STORIES, "--set",
                   "stories:easy", "--limit", "1", "--methods", "greedy",
                   env=environment())
        self.refused(done, "--tokenizer")

    def test_another_tokenizer(self):
        for kind in KINDS:
            server = self.serve(kind, tokenizer="other")
            self.refused_soon(server.url, server.url, "tokenizer",
                              "--tokenizer")
            self.assertEqual(server.seen.calls, 0)

    def test_a_server_of_another_kind(self):
        server = self.serve()
        server.kind = "vllm"
        server.vllm = lambda path, asked: self.raise_404(server)
        self.refused_soon(server.url, server.url, "llama-server", "vLLM",
                          "SGLang")

    def raise_404(self, server):
        raise server.error(404, "Not Found")

    def test_a_server_that_is_busy_at_the_beginning(self):
        """Waited for, or said; not taken for one of another kind."""
        for kind in KINDS:
            server = self.serve(kind)
            server.faults.busy_probe = 1
            server.faults.retry_after = 1
            done = self.ask("eval", server, "--methods", "greedy", limit=1)
            with self.subTest(kind):
                self.assertNotIn("is not one of", done.stderr)
                if done.returncode != 0:
                    self.one_error(done, "429", server.url)

    def test_methods_without_their_reward_model_ask_nothing(self):
        for command, more in (
                ("eval", ("--methods", "best_of_n:n=4")),
                ("generate", ("--search", "beam", "--out",
                              self.path("run.db"))),
                ("solve", ("--search", "best_of_n:n=4"))):
            server = self.serve()
            # The length of a response is to be measured as well.
            done = run(command, "--model", server.url, "--tokenizer", STORIES,
                       "--set", "stories:easy", "--limit", "2", *more,
                       env=environment())
            with self.subTest(command):
                self.refused(done, "--reward-model")
                self.assertEqual(server.seen.calls, 0)

    def test_reward_models_that_cannot_be_read(self):
        policy, reward = self.serve(), self.serve()
        for server in (reward, policy):
            for more, word in (
                    ((), "--reward-format"),
                    (("--reward-format", "qwen_prm"), "head"),
                    (("--reward-format", "math_shepherd"), "tag"),
                    (("--reward-format", "no_such"), "no_such")):
                with self.subTest(more=more, own=server is policy):
                    done = self.refused_soon(
                        policy.url, word, more=(
                            "--methods", "best_of_n:n=2", "--reward-model",
                            server.url, *more))
                    self.assertEqual(policy.seen.calls + reward.seen.calls, 0,
                                     done.stderr)

    def test_what_only_local_models_have(self):
        server = self.serve()
        choices = [(("--weights", "bf16"), "--weights")]
        if os.path.exists(PROGRAM + "-learn"):
            choices.append((("--device", "torch-cpu"), "--device"))
        for more, word in choices:
            self.refused_soon(server.url, word,
                              more=("--methods", "greedy", *more))

    def test_https_where_the_server_speaks_http(self):
        server = self.serve()
        self.refused_soon(server.url.replace("http:", "https:"), "https",
                          str(server.port))

    def test_http_where_the_server_speaks_https(self):
        server = self.serve(certificate=self.certificate())
        self.refused_soon(server.url.replace("https:", "http:"),
                          str(server.port))

    @classmethod
    def setUpClass(cls):
        cls.openssl = shutil.which("openssl")

    def certificate(self):
        if not self.openssl:
            self.skipTest("no openssl command")
        names = self.path("cert.pem"), self.path("key.pem")
        made = subprocess.run(
            [self.openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes",
             "-keyout", names[1], "-out", names[0], "-days", "2", "-subj",
             "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
            capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        return names

    def test_certificates_are_checked(self):
        names = self.certificate()
        server = self.serve(certificate=names)
        self.refused_soon(server.url, server.url, "certificate",
                          ESPALIER_API_KEY=KEY)
        self.assertEqual(server.seen.requests, 0, "the key was sent")
        # An authority of the user's own is one.
        self.eval(server, "greedy", limit=1, SSL_CERT_FILE=names[0])


@unittest.skipUnless(LONG, "ESPALIER_LONG is not set")
class GiveUpTest(ServersTest):

    # What its error says of each fault.
    FAULTS = {"malformed": "JSON", "wrong_n": "reply",
              "bad_logprob": "log-prob", "errors": "500",
              "die_after": "connect"}

    def test_what_never_gets_better(self):
        """All at the same time: ten attempts take each two minutes."""
        started = []
        for kind, fault in [(k, f) for k in KINDS for f in self.FAULTS]:
            server = self.serve(kind)
            died = fault == "die_after"
            setattr(server.faults, fault, 30 if died else FOR_EVER)
            name, problems = f"{kind}-{fault}.db", 8 if died else 2
            process = subprocess.Popen(
                [PROGRAM, "generate", "--model", server.url, "--tokenizer",
                 STORIES, "--set", "stories:easy", "--limit", str(problems),
                 "--budget-tokens", "300", "--response-tokens", "60", "--out",
                 self.path(name), "--search", "greedy", "--live", "2"],
                env=environment(), text=True, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            started.append((kind, fault, server, name, problems, process))
        for kind, fault, server, name, problems, process in started:
            with self.subTest(kind=kind, fault=fault):
                said, errors = process.communicate(timeout=240)
                kept = self.searches(name)
                if fault == "die_after":
                    self.assertTrue(any(row[2] == "done" for row in kept))
                    server.faults.die_after = FOR_EVER
                    server.start()
                setattr(server.faults, fault,
                        FOR_EVER if fault == "die_after" else 0)
                again = self.generate(name, server, "--live", "2", "--resume",
                                      limit=problems)
                self.assertEqual(again.returncode, 0, again.stderr)
                states = [row[2] for row in self.searches(name)]
                # One clear error, and a run that can go on.
                self.assertIn(server.url, errors)
                self.assertIn(self.FAULTS[fault], errors)
                self.assertIn("10 attempts", errors)
                self.assertEqual(process.returncode, 1, said + errors)
                self.assertFalse(any(row[2] == "failed" for row in kept))
                self.assertEqual(states, ["done"] * problems)
                self.assertIn("--resume", errors)


@unittest.skipUnless(LLAMA, "ESPALIER_LLAMA_SERVER names no llama-server")
class LlamaServerTest(ServersTest):

    def test_greedy_texts_are_those_of_the_engine(self):
        limit = 40 if QUICK else 200
        gguf = self.path("stories.gguf")
        subprocess.run([sys.executable, os.path.join(ROOT, "tools",
                                                     "write_gguf.py"),
                        STORIES, gguf, "--type", "f32"], check=True,
                       capture_output=True)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        with open(self.path("llama.log"), "wb") as log:
            llama = subprocess.Popen(
                [LLAMA, "-m", gguf, "--port", str(port), "-c", "8192", "-np",
                 "8", "-t", "1", "--no-warmup"], stdout=log,
                stderr=subprocess.STDOUT)
        self.addCleanup(llama.wait)
        self.addCleanup(llama.kill)
        end = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(url + "/health", timeout=5):
                    break
            except (urllib.error.URLError, OSError):
                self.assertLess(time.monotonic(), end, "llama-server is away")
                self.assertIsNone(llama.poll(), "llama-server ended")
                time.sleep(0.05)
        for name, more in (("theirs.db", ("--model", url, "--tokenizer",
                                          STORIES)),
                           ("ours.db", ("--model", STORIES, "--weights",
                                        "fp32"))):
            done = run("generate", "--out", self.path(name), "--search",
                       "greedy", "--set", "stories:middle", "--limit",
                       str(limit), "--budget-tokens", "300",
                       "--response-tokens", "60", "--live", "8", *more,
                       env=environment())
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.texts("ours.db")), limit)
        self.assertEqual(self.texts("theirs.db"), self.texts("ours.db"))

    def texts(self, name):
        done = run("db", "sql", self.path(name),
                   "SELECT p.name, s.answer, group_concat(n.text, '') FROM "
                   "searches s JOIN problems p USING(problem_id) JOIN "
                   "tree_nodes(s.search_id) n GROUP BY s.search_id "
                   "ORDER BY p.name", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    unittest.main()
