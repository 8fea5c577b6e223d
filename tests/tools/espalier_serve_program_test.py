"""espalier serve, end to end: answers, streams and refusals.

ESPALIER_PROGRAM names the program (ctest sets it), ESPALIER_OPENAI_CLIENT a
folder with node_modules/openai, without which its test is skipped."""

import json
import os
import re
import socket
import subprocess
import time
import unittest

import espalier_readme_program_test as readme
from espalier_program_test import PROGRAM, SLOW, STORY, ZOO, run
from serve_case import (CHAT, ENDLESS, KEY_NAME, SAMPLE, SEARCH, TEXT, WHILE,
                        ServeTest, chat_body, events, story, user)

OPENAI = os.environ.get("ESPALIER_OPENAI_CLIENT")


class AnswerTest(ServeTest):

    def test_models(self):
        self.assertRegex(self.server.line, r"^serving stories at http://\S+/v1 "
                         r"\(method auto, budget 2048 tokens\)\n$")
        models = self.right(self.server.get("/v1/models"))
        self.assertEqual(models["object"], "list")
        self.assertEqual(models["data"][0]["id"], "stories")
        for model in models["data"]:
            self.assertEqual(model["object"], "model")
        one = self.right(self.server.get("/v1/models/stories"))
        self.assertEqual(one, models["data"][0])
        self.fault(self.server.get("/v1/models/storys"), 404, "stories",
                   code="model_not_found")

    def test_health_and_metrics(self):
        self.right(self.server.chat())
        self.server.get("/nothing")
        health = self.server.get("/health")
        self.assertEqual(self.right(health), {"status": "ok"})
        reply = self.server.get("/metrics")
        self.assertRegex(reply.headers["Content-Type"], "^text/plain")
        self.prometheus(reply.body.decode("ascii"))
        found = self.server.metrics()
        for key in ('requests_total{endpoint="chat",code="200"}',
                    'requests_total{endpoint="health",code="200"}',
                    'requests_total{endpoint="other",code="404"}',
                    "connections", "search_tokens_total",
                    "response_tokens_total", "search_seconds_count"):
            self.assertGreaterEqual(found["espalier_" + key], 1, key)
        for key in ("requests_cancelled_total", "searches_running",
                    "searches_waiting"):
            self.assertEqual(found["espalier_" + key], 0)

    def prometheus(self, text):
        types, seen, buckets = {}, {}, []
        self.assertTrue(text.endswith("\n"))
        for line in text.splitlines():
            if line.startswith("# HELP "):
                continue
            if line.startswith("# TYPE "):
                name, kind = line.split()[2:]
                self.assertNotIn(name, types)
                self.assertIn(kind, ("counter", "gauge", "histogram"))
                types[name] = kind
                continue
            found = SAMPLE.fullmatch(line)
            self.assertTrue(found, line)
            name, labels, value = found.groups()
            base = re.sub("_(bucket|sum|count)$", "", name)
            kind = types.get(base, types.get(name))
            self.assertTrue(kind, line)
            self.assertEqual(name.endswith("_total"), kind == "counter", line)
            self.assertNotIn(name + str(labels), seen)
            seen[name + str(labels)] = value
            if name.endswith("_bucket"):
                buckets.append((float(labels.split('"')[1]), float(value)))
        self.assertEqual(buckets, sorted(buckets))
        self.assertEqual(sorted(b[1] for b in buckets), [b[1] for b in buckets])
        self.assertEqual(buckets[-1], (float("inf"), float(
            seen["espalier_search_seconds_countNone"])))

    def test_answers_are_those_of_solve(self):
        for method, budget in (("greedy", 300), ("beam:width=2", 600),
                               ("majority", 500), ("puct", 1500),
                               ("preset=rest_mcts_star", 900)):
            option = (("--preset", method[7:]) if method.startswith("preset=")
                      else ("--search", method))
            done = run("solve", STORY, "--json", "-", *option, "--seed", "5",
                       "--budget-tokens", str(budget))
            self.assertEqual(done.returncode, 0, done.stderr)
            solved = json.loads(done.stdout)
            row = self.right(self.server.chat(
                seed=5, model=method, search={"budget": budget}))
            with self.subTest(method):
                self.same(row, solved)
                if method != "greedy":
                    self.assertEqual(row["search"]["answer"], "54")

    def same(self, row, solved):
        self.assertEqual(row["object"], "chat.completion")
        self.assertRegex(row["id"], "^chatcmpl-.")
        self.assertLess(abs(row["created"] - time.time()), 60)
        choice, = row["choices"]
        self.assertEqual(choice, {
            "index": 0, "logprobs": None, "finish_reason": "stop", "message":
            {"role": "assistant", "content": solved["response"]}})
        search = row["search"]
        self.assertEqual(set(search), SEARCH)
        for key in ("configuration", "answer", "score", "stage", "stop_reason",
                    "model_calls", "nodes", "reward_tokens",
                    "verdict_tokens"):
            self.assertEqual(search[key], solved[key], key)
        self.assertEqual(search["seed"], 5)
        self.assertEqual(row["usage"]["search_tokens"], solved["tokens"])

    def test_usage_counts_tokens(self):
        for model, longest in (("greedy", 8), ("greedy", 300),
                               ("majority@4x", 12), ("puct@900", 200)):
            for name in ("max_tokens", "max_completion_tokens"):
                row = self.right(self.server.chat(model=model,
                                                  **{name: longest}))
                usage, choice = row["usage"], row["choices"][0]
                self.assertEqual(row["model"], model)
                self.assertEqual(usage["total_tokens"], usage["prompt_tokens"]
                                 + usage["completion_tokens"])
                self.assertGreater(usage["prompt_tokens"], 10)
                self.assertLessEqual(usage["completion_tokens"], longest)
                self.assertGreaterEqual(usage["search_tokens"],
                                        usage["completion_tokens"])
                self.assertEqual(choice["finish_reason"],
                                 "length" if longest < 20 else "stop")

    def test_a_response_that_is_too_long_is_cut(self):
        full = self.content(self.server.chat())
        for longest in (12, 20, 30):
            row = self.right(self.server.chat(max_tokens=longest))
            choice, = row["choices"]
            text = choice["message"]["content"]
            self.assertEqual(choice["finish_reason"], "length")
            self.assertTrue(full.startswith(text), text)
            self.assertNotIn(text, ("", full))
            self.assertGreater(row["usage"]["completion_tokens"], longest // 2)
            content, last, _ = self.order(self.server.stream(
                max_tokens=longest))
            self.assertEqual(content, text)
            self.assertEqual(last["choices"][0]["finish_reason"], "length")

    def test_where_method_and_budget_come_from(self):
        majority = {"method": "majority"}
        for path, fields, budget in (
                ("", {"model": "majority@700"}, 700),
                ("", {"model": "stories/majority@700"}, 700),
                ("", {"model": "majority"}, 2048),
                ("", {"model": "majority:n=0@4x", "max_tokens": 120}, 480),
                ("", {"model": "majority@4x", "max_completion_tokens": 120},
                 480),
                ("", {"model": "stories", "search": majority}, 2048),
                ("", {"model": "beam@900", "search": majority}, 900),
                ("", {"model": "majority@900", "search": {"budget": 500}}, 500),
                ("", {"model": "beam@900", "max_tokens": 100, "search":
                      dict(majority, budget="6x")}, 600),
                ("/majority@600", {"model": "stories"}, 600),
                ("/majority%40600", {"model": "beam@900"}, 600),
                ("/majority%3An%3D0@5x", {"max_tokens": 100}, 500),
                ("/majority:n=0", {"model": "beam@900"}, 900),
                ("/majority", {"model": "stories", "search":
                               {"method": "beam", "budget": 500}}, 500),
                ("/majority@400", {"model": "greedy@900", "search":
                                   {"method": "beam", "budget": 600}}, 400)):
            with self.subTest(path=path, fields=fields):
                reply = self.server.chat(path=path + CHAT, **fields)
                method, tokens = self.used(reply)
                self.assertEqual(method, "majority")
                self.assertLessEqual(tokens, budget)
                self.assertGreater(tokens, budget - 100)
                self.assertEqual(reply.json["model"],
                                 fields.get("model", "greedy"))

    def test_methods_with_options_and_presets(self):
        for path, model, method in (
                ("", "beam:width=2@4x", "beam"), ("", "guided", "guided"),
                ("", "preset=rest_mcts_star@600", "mcts_star"),
                ("/preset=rest_mcts_star@600", "beam", "mcts_star"),
                ("/beam:width=2@600", "stories", "beam")):
            reply = self.server.chat(path=path + CHAT, model=model,
                                     max_tokens=100)
            self.assertEqual(self.used(reply)[0], method)
        self.assertIn("width=3", self.right(self.server.chat(
            search={"method": "beam:width=3"}))["search"]["configuration"])

    def test_seeds(self):
        first, again, *others = [self.content(self.server.chat(
            model="sample", temperature=2, seed=seed)) for seed in
            (1, 1, 2, 3, 4)]
        self.assertEqual(first, again)
        self.assertGreater(len({first, *others}), 1)

    def test_sampling(self):
        greedy = self.content(self.server.chat())
        for fields in ({"temperature": 0}, {"temperature": 2, "top_p": 1e-6},
                       {"temperature": 2, "search": {"top_k": 1}},
                       {"temperature": 2, "search": {"min_p": 1}}):
            self.assertEqual(greedy, self.content(self.server.chat(
                model="sample", seed=3, **fields)), fields)
        for model, ignored in (("greedy", ["temperature"]), ("sample", [])):
            row = self.right(self.server.chat(model=model, temperature=0.7))
            self.assertEqual(row["search"]["ignored"], ignored)
        row = self.right(self.server.chat(model="sample:temperature=0",
                                          temperature=2))
        self.assertEqual(row["choices"][0]["message"]["content"], greedy)

    def test_stops(self):
        greedy = self.content(self.server.chat())
        word = greedy[len(greedy) // 2:][:3]
        for stop in (word, [word], ["nowhere", word]):
            row = self.right(self.server.chat(stop=stop))
            choice, = row["choices"]
            self.assertEqual(choice["message"]["content"],
                             greedy.split(word)[0])
            self.assertEqual(choice["finish_reason"], "stop")

    def test_stops_across_steps(self):
        """Steps are lines. Nothing beyond a stop is streamed."""
        greedy = self.content(self.server.chat())
        lines = greedy.splitlines(keepends=True)
        self.assertGreater(len(lines), 2)
        stop = lines[0][-2:] + lines[1][:3]
        before = greedy.split(stop)[0]
        whole = self.right(self.server.chat(stop=[stop, "nowhere"]))
        choice, = whole["choices"]
        self.assertEqual(choice["message"]["content"], before)
        self.assertEqual(choice["finish_reason"], "stop")
        self.assertEqual(whole["search"]["answer"], "")
        found = list(events(self.server.begin(
            stop=stop, stream=True).getresponse()))
        content, last, _ = self.order(found)
        self.assertEqual(content, before)
        self.assertEqual(last["choices"][0]["finish_reason"], "stop")
        shown = "".join(
            event["choices"][0]["delta"].get("reasoning_content") or ""
            for event in found if isinstance(event, dict))
        self.assertTrue(before.startswith(shown), shown)
        text = self.right(self.server.ask("POST", TEXT, {
            "model": "greedy", "prompt": STORY + "\n", "stop": stop}))
        self.assertNotIn(stop, text["choices"][0]["text"])

    def test_whole_numbers_as_floats(self):
        whole = self.right(self.server.chat(n=1.0, max_tokens=200.0, seed=3.0))
        self.assertEqual(whole["search"]["seed"], 3)

    def test_limits_of_a_search(self):
        def search(**fields):
            return self.right(self.server.chat(model=ENDLESS,
                                               search=fields))["search"]
        for name, count in (("model_calls", 9), ("simulations", 4),
                            ("nodes", 40)):
            found = search(**{"max_" + name: count})
            self.assertLessEqual(found[name], count + (name == "nodes"))
            self.assertGreater(found[name], 0)
        start = time.monotonic()
        seconds = 2 if SLOW else 0.2
        self.assertNotEqual(search(max_seconds=seconds)["answer"], "")
        self.assertLess(time.monotonic() - start, 20 if SLOW else 3)
        row = search(max_nodes=40, tree=True)
        self.assertEqual(set(row), SEARCH | {"tree"})
        self.assertEqual(len(row["tree"]), row["nodes"])

    def test_what_other_clients_send_besides(self):
        plain = self.content(self.server.chat())
        parts = [{"type": "text", "text": STORY[:30]},
                 {"type": "text", "text": STORY[30:]}]
        for fields in ({"n": 1, "user": "me", "store": False, "best_of": 1},
                       {"logprobs": False, "presence_penalty": 0,
                        "frequency_penalty": 0.0, "unheard_of": {"a": [1]}},
                       {"response_format": {"type": "text"}},
                       {"messages": user(parts)}):
            self.assertEqual(plain, self.content(self.server.chat(**fields)))

    def test_completions(self):
        for fields in ({}, {"max_tokens": 20}):
            body = dict(fields, model="greedy", prompt=self.prompt())
            row = self.right(self.server.ask("POST", TEXT, body))
            chat = self.right(self.server.chat(**fields))
            self.assertEqual(row["object"], "text_completion")
            theirs = chat["choices"][0]
            self.assertEqual(row["choices"], [{
                "text": theirs["message"]["content"], "index": 0,
                "logprobs": None, "finish_reason": theirs["finish_reason"]}])
            self.assertEqual(row["usage"], chat["usage"])
            self.assertEqual(set(row["search"]), SEARCH)
        reply = self.server.ask("POST", "/majority@400" + TEXT, body)
        self.assertEqual(self.used(reply)[0], "majority")

    def test_bodies_in_chunks_and_requests_in_a_row(self):
        body = json.dumps(chat_body(STORY, {})).encode()
        connection = self.server.connect()
        head = {"Expect": "100-continue"}
        for pieces, headers in (([body[:9], body[9:]], {}), (body, head)):
            connection.request("POST", CHAT, pieces, headers)
            self.assertIn("23", self.content(self.server.finish(connection)))
        health = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
        last = health.replace(b"Host: a", b"Host: a\r\nConnection: close")
        with socket.create_connection(connection.sock.getpeername(),
                                      20) as one:
            one.sendall(health * 3 + last)
            with one.makefile("rb") as read:
                found = read.read()
        self.assertEqual(found.count(b"HTTP/1.1 200 "), 4)
        connection.close()


class StreamTest(ServeTest):
    flags = ("--ping-seconds", "0.05", "--live", "1")

    def test_a_stream_says_what_the_whole_reply_says(self):
        for model in ("greedy", "beam@600", WHILE):
            whole = self.right(self.server.chat(model=model, seed=4))
            for usage in (False, True):
                options = {"stream_options": {"include_usage": usage}}
                content, last, counts = self.order(self.server.stream(
                    model=model, seed=4, **options), usage)
                self.assertEqual(content,
                                 whole["choices"][0]["message"]["content"])
                if usage:
                    self.assertEqual(counts["usage"], whole["usage"])
                for row in (last, whole):
                    row["search"].pop("seconds", None)
                self.assertEqual(last["search"], whole["search"])
                self.assertEqual(last["choices"][0]["finish_reason"], "stop")

    def test_a_stream_begins_before_the_search_ends(self):
        connection = self.server.begin(model=WHILE, stream=True)
        response = connection.getresponse()
        self.assertRegex(response.headers["Content-Type"],
                         "^text/event-stream")
        found, times = [], []
        for event in events(response):
            found.append(event)
            times.append(time.monotonic())
        self.order(found)
        self.assertLess(times[0], times[-1] - 0.1)
        connection.close()

    def test_pings_while_nothing_is_sent(self):
        first = self.server.begin(model=WHILE)
        self.server.until_running()
        second = self.server.begin(stream=True)  # waits for the first
        response = second.getresponse()
        found = list(events(response))
        self.order(found)
        self.assertGreater(found.count(None), 2)
        self.right(self.server.finish(first))
        first.close()
        second.close()

    def test_completions_stream(self):
        body = {"model": "beam@600", "prompt": STORY, "seed": 2}
        whole = self.right(self.server.ask("POST", TEXT, body))
        connection = self.server.connect()
        connection.request("POST", TEXT, json.dumps(dict(
            body, stream=True, stream_options={"include_usage": True})))
        *found, usage, done = [event for event in
                               events(connection.getresponse()) if event]
        self.assertEqual((done, usage["choices"]), ("[DONE]", []))
        self.assertEqual(usage["usage"], whole["usage"])
        self.assertEqual({row["object"] for row in found},
                         {"text_completion"})
        choices = [row["choices"][0] for row in found]
        self.assertEqual("".join(one["text"] for one in choices),
                         whole["choices"][0]["text"])
        self.assertEqual([one["finish_reason"] for one in choices],
                         [None] * (len(found) - 1) + ["stop"])
        self.assertEqual(set(found[-1]["search"]), SEARCH)
        connection.close()

    def test_errors_before_the_stream_are_plain_replies(self):
        self.fault(self.server.chat(stream=True, n=2), 400, "n")
        self.fault(self.server.chat(stream=True, model="bem"), 404, "beam")


class RefusedTest(ServeTest):
    flags = ("--max-body", "300000")

    def test_fields(self):
        image = [{"type": "image_url", "image_url": {"url": "data:,"}}]
        turns = user(STORY) + [{"role": "assistant", "content": "54"}]
        wrong = {
            "model": (3, [], {}),
            "max_tokens": ("9", 1.5, -1, 0, True, [], 1e30),
            "max_completion_tokens": ("9", -1, 0), "seed": ("x", 1.5, []),
            "temperature": ("hot", -1, []), "top_p": ("x", -1, 2, {}),
            "stop": (3, {}, [3], ["a", "b", "c", "d", "e"]),
            "stream": ("yes", 1, []), "n": (2, "1", 0, -1),
            "stream_options": (3, "x", {"include_usage": "yes"}),
            "tools": ([{"type": "function", "function": {"name": "f"}}], 3),
            "functions": ([{"name": "f"}],), "logprobs": (True, 3),
            "logit_bias": ({"5": 1},), "presence_penalty": (1, "x"),
            "frequency_penalty": (-0.5,),
            "response_format": ({"type": "json_object"}, 3),
            "search": (3, "beam", [], True),
            "messages": ([], {}, "x", 3, None, [3], [{}], [None],
                         [{"role": "user"}], [{"role": 3, "content": "x"}],
                         [{"role": "wizard", "content": STORY}], user(3),
                         user(image), user(None), user([3]), user({}), turns,
                         user(STORY) * 2, turns + user(STORY),
                         [{"role": "system", "content": "Be brief."}],
                         [{"role": "tool", "content": "x"}] + user(STORY))}
        for name, values in wrong.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    self.fault(self.server.chat(**{name: value}), 400,
                               *([name] if name != "messages" else []))

    def test_fields_of_search(self):
        wrong = {
            "method": (3, [], "bem"), "tree": ("yes", 1),
            "budget": ({}, [], "x", "x4", "-2x", "0x", "0", 0, -5, 65537, 1e30,
                       1.5, "99999999999999999999", True),
            "max_seconds": ("x", -1), "top_k": ("x", -1, 1.5),
            "min_p": (3, -1, "x"), "max_model_calls": ("x", -1, 1.5),
            "max_simulations": ("x", -1), "max_nodes": ("x", -1),
            "max_verdict_tokens": ("x", -1, [])}
        for name, values in wrong.items():
            for value in values:
                reply = self.server.chat(search={name: value})
                with self.subTest(name=name, value=value):
                    self.fault(reply, 400)
        self.fault(self.server.chat(search={"budgte": 5}), 400, "budgte",
                   *wrong)

    def test_methods_and_budgets(self):
        for model, words in (
                ("beam:widht=2", ("width",)), ("beam:width=0", ("width",)),
                ("beam@0", ()), ("beam@-5", ()), ("beam@65537", ("65536",)),
                ("beam@4x", ("max_tokens",)), ("beam@x", ()), ("beam@", ()),
                ("beam@99999999999999999999", ())):
            for path in ("", "/" + model):
                with self.subTest(model=model, path=path):
                    self.fault(self.server.chat(
                        path=path + CHAT, model="greedy" if path else model),
                        400, *words)
        for model, near in (("bem@600", "beam"), ("storys", "stories"),
                            ("gpt-4o", ""), ("a/b/c", "")):
            self.fault(self.server.chat(model=model), 404, near,
                       code="model_not_found")
        for fields in ({"max_tokens": 60000, "model": "beam@4x"},
                       {"max_tokens": 2**62, "search": {"budget": "4x"}}):
            self.fault(self.server.chat(**fields), 400)
        self.fault(self.server.chat("What is 17 * 23?"), 400,
                   code="foreign_question")

    def test_fields_of_completions(self):
        for fields in ({}, {"prompt": 3}, {"prompt": ["a", "b"]},
                       {"prompt": [[1, 2]]}, {"prompt": {}},
                       {"prompt": STORY, "best_of": 2},
                       {"prompt": STORY, "echo": True},
                       {"prompt": STORY, "suffix": "x"},
                       {"prompt": STORY, "logprobs": 3}, {"prompt": ""}):
            with self.subTest(fields=fields):
                self.fault(self.server.ask("POST", TEXT, dict(
                    fields, model="greedy")), 400)

    def test_bodies(self):
        body = json.dumps(chat_body(STORY, {})).encode()
        for bad in (b"", b"{", b"nonsense", b"[]", b'"a"', b"3", b"null",
                    body + b"x", body[:-1], b"\x00" * 99, b"\xff\xfe",
                    body.replace(b"Ann", b"\xff\xfe"), b"[" * 200000,
                    b'{"a":' * 40000, body.replace(b"Ann", b"\\ud800"),
                    b'{"messages": ' + b"[" * 100000 + b"]" * 100000 + b"}"):
            with self.subTest(body=bad[:20]):
                self.fault(self.server.ask("POST", CHAT, bad), 400)
        # A deep value that is ignored.
        deep = body[:-1] + b', "a": ' + b"[" * 90000 + b"]" * 90000 + b"}"
        self.assertIn(self.server.ask("POST", CHAT, deep).status, (200, 400))

    def test_bodies_that_are_too_large(self):
        large = json.dumps(chat_body("x" * 300000, {})).encode()
        self.fault(self.server.ask("POST", CHAT, large), 413)
        head = f"POST {CHAT} HTTP/1.1\r\nHost: a\r\n".encode()
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
        for data in (head + b"Content-Length: 99999999999\r\n\r\n",
                     chunked + chunk * 6, chunked + b"ffffffff\r\nxx",
                     chunked + b"7fffffffffffffff\r\nxx"):
            self.assertEqual(self.server.raw(data), 413, data[:120])

    def test_long_names_are_refused_soon(self):
        for model in ("b" * 250000, "a/" * 100000, "preset=" + "x" * 200000,
                      "beam:" + "x" * 200000, "beam:width=" + "9" * 200000):
            start = time.monotonic()
            reply = self.server.chat(model=model)
            with self.subTest(model=model[:12]):
                self.assertIn(reply.status, (400, 404))
                self.assertLess(len(reply.body), 5000)
                self.assertLess(time.monotonic() - start, 20 if SLOW else 1)

    def test_broken_http(self):
        head = f"POST {CHAT} HTTP/1.1\r\nHost: a\r\n".encode()
        length = b"Content-Length: "
        for data, statuses in (
                (head + b"\r\n", (400, 411)),
                (head + length + b"-5\r\n\r\n", (400,)),
                (head + length + b"x\r\n\r\n", (400,)),
                (head + length + b"5x\r\n\r\n", (400,)),
                (head + length + b"18446744073709551621\r\n\r\n", (400, 413)),
                (head + length + b"2\r\n" + length + b"3\r\n\r\n{} ", (400,)),
                (head + length + b"2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
                 (400,)),
                (head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", (400,)),
                (head + b"Transfer-Encoding: gzip\r\n\r\n", (400, 501)),
                (head + b"no colon\r\n\r\n", (400,)),
                (head + b"X: " + b"x" * 100000 + b"\r\n\r\n", (400, 413, 431)),
                (head + b"X: y\r\n" * 20000 + b"\r\n", (400, 413, 431)),
                (b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\n\r\n",
                 (400, 404, 413, 414, 431)),
                (b"HELLO\r\n\r\n", (400,)), (b"GET\r\n\r\n", (400,)),
                (b"GET /health HTTP/9.9\r\n\r\n", (400, 505)),
                (b"GET /health\r\n\r\n", (400,)),
                (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", (400, None)),
                (b"\x00" * 200 + b"\r\n\r\n", (400, None))):
            with self.subTest(data=data[:90]):
                self.assertIn(self.server.raw(data), statuses)

    def test_paths(self):
        for method, path in (
                ("GET", "/"), ("GET", "/v1"), ("POST", "/v1/embeddings"),
                ("GET", "/health/x"), ("POST", "/beam/v1/embeddings"),
                ("GET", "/%00"), ("GET", "/../etc/passwd"), ("GET", "/%zz")):
            reply = self.server.ask(method, path, {} if method == "POST"
                                    else None)
            with self.subTest(path=path):
                if "%" in path:
                    self.assertIn(reply.status, (400, 404))
                else:
                    self.fault(reply, 404)
        for method, path in (("GET", CHAT), ("GET", TEXT), ("DELETE", CHAT),
                             ("POST", "/v1/models"), ("POST", "/health"),
                             ("PUT", "/v1/models/stories"),
                             ("DELETE", "/metrics"),
                             ("GET", "/beam@600" + CHAT)):
            with self.subTest(method=method, path=path):
                self.fault(self.server.ask(method, path), 405)
        self.fault(self.server.chat(path="/bem" + CHAT), 404, "beam")
        # The methods named are those that answer: omega_prm only labels.
        unknown = self.server.chat(path="/nonsense" + CHAT)
        self.fault(unknown, 404, "METHOD@BUDGET")
        listed = [m["id"] for m in self.right(
            self.server.get("/v1/models"))["data"][1:]]
        named = unknown.json["error"]["message"].split("one of auto, ")[1]
        self.assertEqual(named.split(", "), listed)
        self.assertNotIn("omega_prm", listed)
        for path, fields in (("/omega_pr" + CHAT, {}),
                             (CHAT, {"search": {"method": "omega_pr"}})):
            reply = self.server.chat(path=path, **fields)
            self.assertNotIn("omega_prm", reply.json["error"]["message"])
        self.fault(self.server.get("/nonsense/v1/models"), 404, "METHOD@BUDGET")
        self.right(self.server.get("/beam:width=2@600/v1/models"))


class KeyTest(ServeTest):
    key = "sk-serve-0f3b77c1d2"
    variables = {KEY_NAME: key}

    def test_a_key(self):
        wrong = [{}] + [{"Authorization": one} for one in (
            "Bearer " + self.key[:-1] + "9", "Bearer " + self.key + "0",
            "Bearer " + self.key[:-1], "Bearer ", "Bearer", self.key,
            "Basic " + self.key, "Bearer x" + self.key, "Bearer " + "x" * 999)]
        found = b""
        for headers in wrong:
            for reply in (self.server.chat(headers=headers),
                          self.server.chat(path="/beam@600" + CHAT,
                                           headers=headers),
                          self.server.get("/v1/models", headers=headers),
                          self.server.ask("POST", TEXT, b"{", headers)):
                self.fault(reply, 401)
                found += reply.body + bytes(reply.headers)
        good = {"Authorization": "Bearer " + self.key}
        reply = self.server.chat(headers=good)
        self.assertIn("23", self.content(reply))
        self.right(self.server.get("/v1/models", headers=good))
        found += reply.body + bytes(reply.headers)
        for path in ("/health", "/metrics"):
            found += self.server.get(path).body
        found += self.server.get("/v1/models/x", headers=good).body
        self.assertNotIn(self.key.encode(), found)

    def test_the_key_is_written_nowhere(self):
        server = self.serve(**self.variables)
        server.chat(headers={"Authorization": "Bearer " + self.key})
        server.raw(b"Authorization: Bearer " + self.key.encode() + b"\r\n\r\n")
        self.assertNotIn(self.key, server.end())


class FlagsTest(ServeTest):
    flags = ("--name", "mine", "--force", "--search", "majority", "--budget",
             "4x", "--max-budget", "900", "--seed", "9")

    def test_defaults_of_requests(self):
        self.assertRegex(self.server.line, "^serving mine at .*majority.*4x")
        models = self.right(self.server.get("/v1/models"))
        self.assertEqual(models["data"][0]["id"], "mine")
        self.fault(self.server.chat(model="mine"), 400, "max_tokens")
        self.fault(self.server.chat(model="beam@901"), 400, "900")
        reply = self.server.chat(model="mine", max_tokens=100)
        method, tokens = self.used(reply)
        self.assertEqual((method, reply.json["search"]["seed"]),
                         ("majority", 9))
        self.assertLessEqual(tokens, 400)
        self.right(self.server.chat("What is 17 * 23?", max_tokens=30))

    def attempt(self, *flags):
        return subprocess.run(
            [PROGRAM, "serve", *flags], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=False,
            env=dict(os.environ, ESPALIER_ZOO=ZOO))

    def test_wrong_flags(self):
        for flags in (("--listen", "nowhere"), ("--listen", "127.0.0.1:99999"),
                      ("--budget", "0"), ("--budget", "4y"), ("--live", "-1"),
                      ("--queue", "-1"), ("--search", "bem"),
                      ("--max-body", "x"), ("--connections", "0"),
                      ("--drain-seconds", "-1"), ("--ping-seconds", "x"),
                      ("--task", "storys"), ("--nothing",)):
            done = self.attempt(*flags)
            with self.subTest(flags=flags):
                self.assertEqual(done.returncode, 2, done.stderr)
                self.refused(done, flags[-1].strip("-"))

    def test_a_port_in_use(self):
        place = f"127.0.0.1:{self.server.port}"
        done = self.attempt("--listen", place)
        self.assertEqual(done.returncode, 1)
        self.refused(done, place)

    def test_a_chat_model_takes_turns(self):
        folder = self.copy_of_model()
        readme.ReadmeTest.give_chat_template(folder)
        server = self.serve("--model", folder, "--prompt", "instruct")
        turns = ([{"role": "developer", "content": "Be brief."}] + user("Hi")
                 + [{"role": "assistant", "content": "Hello."}] + user(STORY))
        for messages in (turns, turns[1:], turns[3:]):
            self.right(server.chat(model="greedy@60", messages=messages))
        for messages in (turns[:3], turns[1:2] * 2, turns[:1],
                         turns[1:2] + turns, turns[2:]):
            self.fault(server.chat(messages=messages), 400)


SCRIPT = """
const OpenAI = require("openai");
const [, , baseURL, content, prompt] = process.argv;
const client = new OpenAI({baseURL, apiKey: "none", maxRetries: 0});
const messages = [{role: "user", content}];
const ask = {model: "beam@900", messages, seed: 3, search: {budget: 600}};
(async () => {
  const out = {text: ""};
  out.models = (await client.models.list()).data.map((m) => m.id);
  out.model = (await client.models.retrieve("stories")).id;
  out.chat = await client.chat.completions.create(ask);
  const stream = await client.chat.completions.create(
      {...ask, stream: true, stream_options: {include_usage: true}});
  for await (const chunk of stream) {
    out.text += chunk.choices[0]?.delta?.content ?? "";
    out.usage = chunk.usage ?? out.usage;
  }
  out.completion = await client.completions.create(
      {model: "stories/greedy", prompt});
  out.greedy = await client.chat.completions.create(
      {model: "greedy", messages});
  try {
    await client.chat.completions.create({...ask, model: "bem@600"});
  } catch (e) {
    out.error = [e.constructor.name, e.status, e.code, e.message];
  }
  console.log(JSON.stringify(out));
})();
"""


@unittest.skipUnless(OPENAI, "ESPALIER_OPENAI_CLIENT names no folder")
class OpenAiClientTest(ServeTest):

    def test_the_public_client(self):
        done = subprocess.run(
            ["node", self.path("ask.js", SCRIPT),
             f"http://127.0.0.1:{self.server.port}/v1", STORY,
             self.prompt()],
            env=dict(os.environ, NODE_PATH=os.path.join(
                OPENAI, "node_modules")), capture_output=True, text=True,
            timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual((out["models"][0], out["model"]), ("stories",) * 2)
        chat = out["chat"]
        self.assertLessEqual(chat["usage"]["search_tokens"], 600)
        text = chat["choices"][0]["message"]["content"]
        self.assertEqual(out["text"], text)
        self.assertEqual(out["completion"]["choices"][0]["text"],
                         out["greedy"]["choices"][0]["message"]["content"])
        self.assertEqual(out["usage"], chat["usage"])
        kind, status, code, message = out["error"]
        self.assertEqual((kind, status, code),
                         ("NotFoundError", 404, "model_not_found"))
        self.assertIn("beam", message)


if __name__ == "__main__":
    unittest.main()
