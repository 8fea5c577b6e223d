"""Servers that misbehave, keys, and wrong input.

ESPALIER_PROGRAM names the program (ctest sets it). ESPALIER_LONG adds tests
that wait until the program gives a server up, two minutes."""

import collections
import email.utils
import json
import os
import shutil
import socket
import subprocess
import time
import unittest

from espalier_program_test import PROGRAM, STORIES, run
from made_up_model import FOR_EVER, MadeUpModel
from scripted_server import KINDS, Broken
from servers_case import KEY, LONG, MODEL, ServersTest, environment


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
        said, errors = process.communicate(timeout=60)
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
        self.assertLess(second - first, 30)

    def test_retry_after_may_be_a_date(self):
        """The server writes its own Date beside it. Dates are whole seconds:
        up to one is lost."""
        server = self.serve()
        server.faults.busy = 1
        end = time.monotonic() + 4
        server.faults.retry_after = email.utils.formatdate(time.time() + 4,
                                                           usegmt=True)
        self.eval(server, "greedy", limit=1)
        self.assertGreaterEqual(server.seen.times[1], end - 1)
        self.assertLess(server.seen.times[1], end + 30)

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
            self.assertLess(wait, 3 * least + 20)

    def test_attempts_and_the_wait_for_each_are_options(self):
        for kind in KINDS:
            server = self.serve(kind)
            server.faults.latency = 30
            start = time.monotonic()
            done = self.ask("eval", server, "--methods", "greedy", "--json",
                            "-", "--server-attempts", "2", "--server-timeout",
                            "0.3", limit=1)
            with self.subTest(kind):
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertLess(time.monotonic() - start, 20)
                self.assertIn(server.url, done.stderr)
                self.assertIn("for 0.3 s", done.stderr)
                self.assertIn("after 2 attempts", done.stderr)
                self.assertEqual(server.seen.calls, 2)

    def test_slow_servers_are_waited_for(self):
        server = self.serve()
        server.faults.latency = 0.5
        self.eval(server, "greedy", "--server-timeout", "10", limit=1)
        self.assertEqual(server.seen.calls, server.seen.answered)

    def test_attempts_and_waits_out_of_range(self):
        server = self.serve()
        for flag, value in (("--server-attempts", "0"),
                            ("--server-attempts", "1001"),
                            ("--server-attempts", "2.5"),
                            ("--server-timeout", "0"),
                            ("--server-timeout", "-1"),
                            ("--server-timeout", "nan"),
                            ("--server-timeout", "1e9")):
            done = self.ask("eval", server, "--methods", "greedy", flag, value)
            with self.subTest(flag=flag, value=value):
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(flag, done.stderr)
        self.assertEqual(server.seen.requests, 0)

    def test_other_weights_during_a_run_are_said(self):
        """SGLang tells its weights with every reply."""
        self.change_weights(self.serve("sglang", weights=0))

    def test_weights_that_vllm_tells_are_read(self):
        server = self.serve(weights=0)
        server.faults.tells_weights = True
        self.change_weights(server)

    def test_weights_of_a_llama_server_that_was_away_are_asked_for(self):
        """Its replies do not tell them."""
        server = self.serve("llama-server", weights=0)
        server.faults.latency = 0.05  # the run goes on after the loss
        calls = server.seen.calls
        whole = server.call

        def call(*args):
            if server.seen.calls == calls + 6 and not server.model.weights:
                server.model = MadeUpModel(STORIES, 1)
                raise Broken()
            return whole(*args)
        server.call = call
        done = self.generate("run.db", server, "--json",
                             self.path("totals.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("weights are now 1001 parameters", done.stderr)
        self.assertEqual(done.stderr.count("weights are now"), 1)
        with open(self.path("totals.json"), encoding="utf-8") as handle:
            self.assertEqual(
                [w.split()[0] for w in json.load(handle)["server_weights"]],
                ["1000", "1001"])

    def change_weights(self, server):
        done = self.generate("first.db", server, "--json",
                             self.path("first.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("weights", done.stderr)
        with open(self.path("first.json"), encoding="utf-8") as handle:
            self.assertEqual(json.load(handle)["server_weights"], ["w0"])
        # A reader of the run finds them.
        asked = run("db", "sql", self.path("first.db"), "SELECT "
                    "json_extract(config, '$.server_weights') FROM runs")
        self.assertIn("w0", asked.stdout, asked.stderr)
        calls = server.seen.calls
        other = MadeUpModel(STORIES, 1)
        whole = server.call

        def call(*args):
            if server.seen.calls == calls + 6:
                server.model = other
            return whole(*args)
        server.call = call
        done = self.generate("run.db", server, "--json",
                             self.path("totals.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("weights are now w1, before w0", done.stderr)
        self.assertEqual(done.stderr.count("weights are now"), 1)
        with open(self.path("totals.json"), encoding="utf-8") as handle:
            self.assertEqual(json.load(handle)["server_weights"], ["w0", "w1"])
        # Nothing goes on with these where the others were recorded.
        again = self.generate("first.db", server, "--resume")
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("w1", again.stderr)

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
        self.assertGreaterEqual(server.seen.most_at_once, 6)
        self.assertLess(time.monotonic() - start, 60)

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

    def test_each_server_is_told_its_own_key(self):
        keys = KEY, "sk-of-the-second"
        servers = [self.serve() for _ in keys]
        for server, key in zip(servers, keys):
            server.faults.key = key
        variables = {"ESPALIER_API_KEY": keys[0],
                     f"ESPALIER_API_KEY_127_0_0_1_{servers[1].port}": keys[1]}
        url = ",".join(server.url for server in servers)
        done = self.generate("run.db", url, limit=8, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.nowhere(done, *keys)
        for server, key in zip(servers, keys):
            self.assertGreater(server.seen.calls, 0)
            self.assertEqual({h.get("Authorization")
                              for h in server.seen.headers}, {f"Bearer {key}"})
        # Nobody's key is sent where the host's own is empty.
        variables["ESPALIER_API_KEY_127_0_0_1"] = ""
        done = self.ask("eval", servers[0], "--methods", "greedy", "--json",
                        "-", **variables)
        self.one_error(done, servers[0].url, "ESPALIER_API_KEY_127_0_0_1")

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
        said, errors = process.communicate(timeout=120)
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
                self.assertLess(time.monotonic() - start, 60)
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
        self.assertLess(time.monotonic() - start, 60)
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
                    (("--reward-format", "reasoneval"), "head"),
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

    def certificate(self, subject="127.0.0.1", other="IP:127.0.0.1"):
        if not self.openssl:
            self.skipTest("no openssl command")
        names = self.path("cert.pem"), self.path("key.pem")
        made = subprocess.run(
            [self.openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes",
             "-keyout", names[1], "-out", names[0], "-days", "2", "-subj",
             f"/CN={subject}", "-addext", f"subjectAltName={other}"],
            capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        return names

    def certificate_until(self, end):
        if not self.openssl:
            self.skipTest("no openssl command")
        folder = self.path(end)
        os.mkdir(folder)
        for name, text in (("index.txt", ""), ("serial", "01\n"), ("ca.cnf", (
                "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\n"
                "new_certs_dir=.\nserial=serial\ndefault_md=sha256\npolicy=p\n"
                "[p]\ncommonName=supplied\n"
                "[names]\nsubjectAltName=IP:127.0.0.1\n"))):
            with open(os.path.join(folder, name), "w",
                      encoding="ascii") as handle:
                handle.write(text)
        for command in (
                "req -new -newkey rsa:2048 -nodes -keyout key.pem -out one.csr "
                "-subj /CN=127.0.0.1",
                "ca -batch -selfsign -keyfile key.pem -in one.csr -out "
                "cert.pem -notext -startdate 20240101000000Z -enddate "
                f"{end} -config ca.cnf -extensions names"):
            made = subprocess.run([self.openssl, *command.split()], cwd=folder,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(made.returncode, 0, made.stderr)
        return tuple(os.path.join(folder, name)
                     for name in ("cert.pem", "key.pem"))

    def test_an_expired_certificate(self):
        names = self.certificate_until("20240201000000Z")
        server = self.serve(certificate=names)
        self.refused_soon(server.url, server.url, "certificate",
                          ESPALIER_API_KEY=KEY, SSL_CERT_FILE=names[0])
        self.assertEqual(server.seen.requests, 0, "the key was sent")
        names = self.certificate_until("20990201000000Z")
        self.eval(self.serve(certificate=names), "greedy", limit=1,
                  SSL_CERT_FILE=names[0])

    def test_certificates_are_checked(self):
        names = self.certificate()
        server = self.serve(certificate=names)
        self.refused_soon(server.url, server.url, "certificate",
                          ESPALIER_API_KEY=KEY)
        self.assertEqual(server.seen.requests, 0, "the key was sent")
        # As curl: a name is looked for among those of the extension, and * is
        # no host.
        for subject, other in (("127.0.0.1", "IP:127.0.0.2"),
                               ("*.*.*.*", "DNS:other.example"),
                               ("*", "DNS:*"), ("localhost", "DNS:a.example")):
            for host in ("127.0.0.1", "localhost"):
                with self.subTest(subject=subject, host=host):
                    wrong = self.certificate(subject, other)
                    away = self.serve(certificate=wrong)
                    self.refused_soon(
                        away.url.replace("127.0.0.1", host), "certificate",
                        ESPALIER_API_KEY=KEY, SSL_CERT_FILE=wrong[0])
                    self.assertEqual(away.seen.requests, 0)
        names = self.certificate()
        server = self.serve(certificate=names)
        # An authority of the user's own is one.
        self.eval(server, "greedy", limit=1, SSL_CERT_FILE=names[0])


@unittest.skipUnless(LONG, "ESPALIER_LONG is not set")
class LongTest(ServersTest):

    # What its error says of each fault.
    FAULTS = {"malformed": "JSON", "wrong_n": "reply",
              "bad_logprob": "log-prob", "errors": "500",
              "die_after": "connect"}
    # Replies that cannot be read are asked for less often.
    ATTEMPTS = {"malformed": 4, "wrong_n": 4, "bad_logprob": 4}

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
                self.assertIn(f"after {self.ATTEMPTS.get(fault, 10)} attempts",
                              errors)
                self.assertEqual(process.returncode, 1, said + errors)
                self.assertFalse(any(row[2] == "failed" for row in kept))
                self.assertEqual(states, ["done"] * problems)
                self.assertIn("--resume", errors)


if __name__ == "__main__":
    unittest.main()
