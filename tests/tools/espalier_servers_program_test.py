"""Searches models behind servers: scripted ones (scripted_server.py) and a real
llama-server.

ESPALIER_PROGRAM names the program (ctest sets it). ESPALIER_LONG=1 asks for the
tests of a real llama-server, which ESPALIER_LLAMA_SERVER names; without it they
are skipped."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import unittest

import espalier_readme_program_test as readme
from espalier_generate_program_test import content
from espalier_program_test import PROGRAM, STORIES, run
from made_up_model import FOR_EVER
from scripted_server import KINDS, ScriptedServer
from serve_case import Served
from servers_case import (BY_BYTES, BY_TEXT, LONG, LlamaServerCase,
                          ServersTest, environment)


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

    def test_a_server_that_adds_tokens_of_its_own_is_refused(self):
        for kind in KINDS:
            server = self.serve(kind)
            server.faults.adds_token = True
            done = self.ask("eval", server, "--methods", "greedy", "--json",
                            "-")
            with self.subTest(kind):
                self.one_error(done, server.url, "adds some of its own")
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
        said, errors = process.communicate(timeout=120)
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
        said, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, said + errors)
        self.assertLess(time.monotonic() - start, 40)
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
                    process.communicate(timeout=60)
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
        said, errors = process.communicate(timeout=120)
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

    def test_nothing_is_asked_where_nothing_is_left(self):
        for kind in ("vllm", "llama-server", "sglang", "openai"):
            with self.subTest(kind):
                server = self.serve(kind)
                url = server.url + "#made-up"
                file = f"{kind}.db"
                done = self.generate(file, url, "--json", "-", limit=2)
                self.assertEqual(done.returncode, 0, done.stderr)
                before = self.searches(file)
                server.close()
                again = self.generate(file, url, "--resume", "--json", "-",
                                      "--server-attempts", "1", limit=2)
                self.assertEqual(again.returncode, 0, again.stderr)
                first, second = (json.loads(one.stdout)
                                 for one in (done, again))
                for key in ("searches", "done", "failed", "graded", "solved"):
                    self.assertEqual(second[key], first[key])
                self.assertEqual(self.searches(file), before)
                # Another model, no name of one, or more searches: it is asked.
                for model, limit in ((server.url + "#other", 2),
                                     (server.url, 2), (url, 3)):
                    asked = self.generate(file, model, "--resume",
                                          "--server-attempts", "1",
                                          limit=limit)
                    self.one_error(asked, server.url)
                with sqlite3.connect(self.path(file)) as db:
                    db.execute("UPDATE searches SET state='failed' WHERE "
                               "search_id=1")
                self.one_error(self.generate(
                    file, url, "--resume", "--server-attempts", "1", limit=2),
                    server.url)

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
        with self.subTest("an error where the run is watched"):
            self.one_error(done, "4 of 4 searches failed", "not this request",
                           "--resume")

    def test_what_failed_is_tried_again_by_resume(self):
        """From what had been recorded: as if nothing had failed."""
        def search(name, server, *more):
            return self.generate(
                name, server, "--reward-model", server.url, "--reward-format",
                self.path("mark.textproto", BY_TEXT), "--live", "2", *more,
                search="beam:width=2:branch=2")
        first = self.serve("vllm")
        whole = search("whole.db", first)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertNotIn("failed", whole.stdout + whole.stderr)
        server = self.serve("vllm")
        server.faults.refused_after = 12
        done = search("run.db", server)
        failed = [row for row in self.searches("run.db") if row[2] == "failed"]
        self.assertGreater(len(failed), 1)
        # Some had begun.
        self.assertGreater(sum(row[7] is not None for row in failed), 0)
        self.assertIn(f"{len(failed)} of 4 searches failed, the first because",
                      done.stderr)
        server.faults.refused_after = 10 ** 9
        calls = server.seen.calls
        again = search("run.db", server, "--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertNotIn("failed", again.stdout + again.stderr)
        self.assertEqual(self.searches("run.db"), self.searches("whole.db"))
        # What had been answered was not asked for again.
        self.assertGreater(server.seen.calls, calls)
        self.assertLess(server.seen.calls - calls, first.seen.calls)
        self.assertEqual(run("replay", self.path("run.db")).returncode, 0)

    def test_tokens_computed_and_needed_are_shown(self):
        server = self.serve("vllm")
        done = self.generate("run.db", server, "--json", self.path("g.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("g.json"), encoding="utf-8") as handle:
            said = json.load(handle)
        self.assertGreater(said["tokens_needed"], 0)
        self.assertIn(f"tokens computed / needed: {said['tokens_computed']} / "
                      f"{said['tokens_needed']} (", done.stdout)

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
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertNotIn("\x1b", done.stderr)
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
        self.assertLess(time.monotonic() - start, 18, done.stderr)
        self.assertGreater(server.seen.calls, 0)
        self.until(lambda: server.seen.cancelled == server.seen.calls, 30)


class SpeculationTest(ServersTest):

    def search(self, method, ahead, tokens):
        """The results, and the seconds of the search itself."""
        policy, reward = self.serve(), self.serve()
        for server in (policy, reward):
            server.faults.latency = 0.1
        done = self.ask(
            "eval", policy, "--methods", method, "--seed", "1", "--json", "-",
            "--reward-model", reward.url, "--reward-format",
            self.path("mark.textproto", BY_TEXT), "--speculate", str(ahead),
            "--budget-tokens", str(tokens), limit=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)["results"][0]
        self.assertEqual(result["errors"], [])
        return result

    def test_a_search_waits_less_for_the_same_tree(self):
        """The made-up reward knows nothing of what is likely."""
        for method, ahead, tokens in (("beam:width=2:branch=4", 4, 600),
                                      ("puct:branch=4", 2, 600)):
            plain = self.search(method, 0, tokens)
            early = self.search(method, ahead, tokens)
            faster = plain.pop("seconds") / early.pop("seconds")
            more = early.pop("speculated_tokens")
            self.assertEqual(plain.pop("speculated_tokens"), 0)
            self.assertEqual(early, plain)
            spent = 1 + more / plain["tokens_per_problem"]
            print(f"figure: --speculate {ahead}, {method}: {faster:.2f} times "
                  f"as fast for {spent:.2f} times the tokens")
            self.assertGreater(more, 0)
            self.assertLessEqual(spent, 4)
            self.assertGreater(faster, 1.1)


    def test_generate_counts_what_it_did_not_use(self):
        policy, reward = self.serve(), self.serve()
        for server in (policy, reward):
            server.faults.latency = 0.02
        for ahead in ("0", "4"):
            done = self.generate(
                f"{ahead}.db", policy, "--reward-model", reward.url,
                "--reward-format", self.path("mark.textproto", BY_TEXT),
                "--speculate", ahead, "--json", "-", limit=1,
                search="beam:width=2:branch=4")
            self.assertEqual(done.returncode, 0, done.stderr)
            row = json.loads(done.stdout)
            self.assertEqual(row["speculated_tokens"] > 0, ahead != "0")
            words = (f"{row['tokens']} tokens sampled "
                     f"({row['speculated_tokens']} more ahead and not used)")
            self.assertEqual(words in done.stderr, ahead != "0", done.stderr)
        self.assertEqual(content(self.path("0.db")), content(self.path("4.db")))


class ServedTest(ServersTest):

    def test_serve_offers_the_name_that_the_server_tells(self):
        server = self.serve("vllm", models=("acme/tiny-1",))
        for url, more, name in (
                (server.url, (), "acme/tiny-1"),
                (server.url + "#acme/tiny-1", (), "acme/tiny-1"),
                (server.url, ("--name", "mine"), "mine")):
            served = Served("--model", url, "--tokenizer", STORIES, "--task",
                            "stories", *more)
            self.addCleanup(served.kill)
            models = served.get("/v1/models").json["data"]
            self.assertEqual(models[0]["id"], name)
            reply = served.chat(model=name + "/greedy@100")
            self.assertEqual(reply.status, 200, reply.body)
            served.end()


class TextTest(ServersTest):

    def test_complete_and_score_read_servers(self):
        """Greedy tokens, and log-probs of a given text, as the model has
        them."""
        for kind in KINDS:
            server = self.serve(kind)
            where = ("--model", server.url, "--tokenizer", STORIES)
            done = run("complete", *where, "--text", "Ann has 3 shells.\n",
                       "--temperature", "0", "--max-tokens", "8", "--json",
                       env=environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            written = json.loads(done.stdout)
            model = server.model
            tokens = model.bpe.encode("Ann has 3 shells.\n")
            for token, logprob in zip(written["tokens"], written["logprobs"],
                                      strict=True):
                best = model.top(tokens, 1)[0]
                self.assertEqual(token, best[1])
                self.assertAlmostEqual(logprob, best[0], places=3)
                tokens.append(token)
            done = run("score", *where, "--text", "a 3+4=7\n= 7\n", "--json",
                       env=environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            ids = model.bpe.encode("a 3+4=7\n= 7\n")
            expected = sum(model.logprob(ids[:i], ids[i])
                           for i in range(1, len(ids)))
            self.assertAlmostEqual(json.loads(done.stdout)["logprob"], expected,
                                   places=2)


class GuideTest(ServersTest):

    def test_commands_of_the_guide(self):
        home = self.path("home")
        folder = os.path.join(home, "models", "Qwen3-1.7B")
        shutil.copytree(STORIES, folder)
        readme.ReadmeTest.give_chat_template(folder)
        os.makedirs(os.path.join(home, "build"))
        os.symlink(PROGRAM, os.path.join(home, "build", "espalier"))
        for name in ("gsm8k_test.jsonl", "gsm8k_train.jsonl"):
            with open(os.path.join(home, name), "w",
                      encoding="utf-8") as handle:
                handle.write(json.dumps({"question": "What is 1 + 2?",
                                         "answer": "1+2=3\n#### 3"}) + "\n")
        server = ScriptedServer("vllm", folder, models=("qwen3",))
        self.addCleanup(server.close)
        count = 0
        for command in readme.commands("docs/guide/servers.md"):
            if "--reward-model" in command:
                continue  # espalier_server_faults_program_test runs such
            command = re.sub(r"http://[a-z0-9]+:[0-9]+", server.url,
                             command)
            done = subprocess.run(
                ["bash", "-c", command], cwd=home, check=False, text=True,
                env=environment(HOME=home), capture_output=True, timeout=120)
            self.assertEqual(done.returncode, 0, command + done.stderr)
            self.assertNotEqual(done.stdout, "", command)
            count += 1
        self.assertEqual(count, 4)


@unittest.skipUnless(LONG, "takes minutes")
class LongTest(LlamaServerCase, ServersTest):
    """A real llama-server with the story model, against this engine."""

    def test_greedy_texts_are_those_of_the_engine(self):
        """Except where the best two tokens are equally likely to 1e-3."""
        limit = 200
        url = self.serve_llama()
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
        ours, theirs = self.steps("ours.db"), self.steps("theirs.db")
        self.assertEqual((len(ours), set(ours)), (limit, set(theirs)))
        most, steps, ties = 0, 0, 0
        for name, rows in ours.items():
            texts = ["".join(row["text"] for row in one)
                     for one in (rows, theirs[name])]
            if texts[0] != texts[1]:
                self.assertLess(self.gap(name, *texts), 1e-3, texts)
                ties += 1
                continue
            for one, other in zip(rows, theirs[name], strict=True):
                most = max(most, abs(one["logprob"] - other["logprob"]))
                steps += 1
        print(f"\nfigure: greedy texts equal on {limit - ties} of {limit} "
              f"problems, {ties} differ at a tie; log-probs of {steps} steps "
              f"by {most:.4f} at most")
        self.assertLess(most, 1e-2)
        self.assertLess(ties, limit / 20)
        # That a tie is told from other differences.
        name, rows = next(iter(ours.items()))
        text = "".join(row["text"] for row in rows)
        self.assertGreater(self.gap(name, text, "?" + text[1:]), 1e-3)

    def gap(self, name, ours, theirs):
        """By how much more likely ours is where the two begin to differ."""
        shown = run("solve", "--show-prompt", "--json", "-", "--set",
                    "stories:middle", "--index", name.rsplit("/", 1)[1])
        self.assertEqual(shown.returncode, 0, shown.stderr)
        same = len(os.path.commonprefix([ours, theirs]))
        logprobs = []
        for text in (ours, theirs):
            done = run("score", "--model", STORIES, "--weights", "fp32",
                       "--text", json.loads(shown.stdout)["prompt"] +
                       text[:same + 1], "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            logprobs.append(json.loads(done.stdout)["logprob"])
        return logprobs[0] - logprobs[1]

    def steps(self, name):
        done = run("db", "sql", self.path(name),
                   "SELECT p.name, n.text, n.logprob FROM searches s JOIN "
                   "problems p USING(problem_id) JOIN tree_nodes(s.search_id) "
                   "n ORDER BY p.name, n.node", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        for line in done.stdout.splitlines():
            row = json.loads(line)
            found.setdefault(row["name"], []).append(row)
        return found

    def test_every_method_runs_and_replays(self):
        """With rewards by the same server. Those that read hidden states are
        refused by name."""
        url = self.serve_llama()
        form = self.path("mark.textproto", BY_TEXT)
        methods = json.loads(run("methods", "--json", "-").stdout)["methods"]
        refused, searched = [], []
        for method in methods:
            name = method["name"]
            with self.subTest(name):
                done = self.generate(
                    f"{name}.db", url, "--reward-model", url,
                    "--reward-tokenizer", STORIES, "--reward-format", form,
                    "--live", "8", search=name, limit=2)
                if done.returncode != 0 and "hidden" in done.stderr:
                    refused.append(name)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual([row[5] for row in
                                  self.searches(f"{name}.db")], [None] * 2)
                again = run("replay", self.path(f"{name}.db"))
                self.assertEqual(again.returncode, 0, again.stdout)
                self.assertIn("2 identical", again.stdout)
                searched.append(name)
        print(f"\nfigure: {len(searched)} of {len(methods)} methods searched "
              f"and replayed bit for bit; refused for hidden states: "
              f"{', '.join(refused) or 'none'}")
        self.assertEqual(len(searched) + len(refused), len(methods))
        self.assertGreater(len(searched), 30)


if __name__ == "__main__":
    unittest.main()
