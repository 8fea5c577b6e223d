"""Runs espalier with reward models that compare the log-probs of tokens, behind
servers that tell them in other ways than by generating. Scores, and the token
ids that are sent, are computed here from the format's layout.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import sqlite3
import unittest

from espalier_program_test import STORIES, ProgramTest, run
from made_up_model import Bpe
from pooling_server import softmax
from scoring_server import ScoringServer, value
from servers_case import BY_TEXT, FORMAT, KEY, environment

BPE = Bpe(STORIES)
MARK, PLUS, MINUS = (BPE.encode(c)[0] for c in "!+-")
SOLUTIONS = [
    ("Ann has 2 shells and finds 3. How many?",
     ["Ann has 2 shells.", "2 + 3 = 5", "The answer is 5."]),
    ("What is 17 + 25?", ["17 + 25 = 42"]),
    ("What is 9 - 4?", ["9 - 4 = 6", "So it is 6."]),
]
# The log-prob of one token, not compared with another's.
ONE = FORMAT.replace("squash: SOFTMAX\nlabel: 0\n", "squash: NONE\n") + (
    'choice: "+"\nlog_prob: 0.1\nlog_prob_base: -9\n')


def layout(question, steps):
    return BPE.encode(question + "\n" + "\n".join(s + "!" for s in steps))


def prefixes():
    """The ids up to each step of each solution."""
    return [[layout(question, steps[:n + 1]) for n in range(len(steps))]
            for question, steps in SOLUTIONS]


def wanted():
    return [[softmax([value(ids, PLUS), value(ids, MINUS)])[0] for ids in row]
            for row in prefixes()]


class ScoredRewardsTest(ProgramTest):

    def serve(self, kind="vllm", choices=(PLUS, MINUS), **options):
        server = ScoringServer(kind, STORIES, BPE.encode, mark=MARK,
                               choices=choices, **options)
        self.addCleanup(server.close)
        return server

    def form(self, text=BY_TEXT):
        return self.path("form.textproto", text)

    def measure(self, server, form=None, url=None, **variables):
        rows = [{"id": f"made-{i}", "problem": question, "steps": steps,
                 "label": -1, "final_answer_correct": True, "generator": "x"}
                for i, (question, steps) in enumerate(SOLUTIONS)]
        self.path("made.json", json.dumps(rows))
        return run("bench-reward", "--processbench", self.path("made.json"),
                   "--reward-model", url or server.url, "--reward-tokenizer",
                   STORIES, "--reward-format", form or self.form(), "--out",
                   self.path("out.jsonl"), "--force",
                   env=environment(**variables))

    def scores(self, server, *more, **options):
        done = self.measure(server, *more, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out.jsonl"), encoding="utf-8") as handle:
            rows = {row["id"]: row["scores"]
                    for row in map(json.loads, handle)}
        return [rows[f"made-{i}"] for i in range(len(rows))], done.stderr

    def near(self, found, expected):
        self.assertEqual([len(row) for row in found],
                         [len(row) for row in expected])
        for row, other in zip(found, expected):
            for a, b in zip(row, other):
                self.assertAlmostEqual(a, b, delta=2e-6)

    def refused(self, done, *words):
        self.assertGreater(done.returncode, 0, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 4, done.stderr)
        self.assertNotIn(KEY, done.stderr)

    def paths(self, server):
        return [path for path, _ in server.asked]

    def test_scores_are_asked_for_where_nothing_is_generated(self):
        for kind, path in (("vllm", "/generative_scoring"),
                           ("sglang", "/v1/score")):
            with self.subTest(kind):
                server = self.serve(kind)
                found, said = self.scores(server)
                self.near(found, wanted())
                self.assertIn(f"{server.url}: the reward format form is read "
                              f"at {path}", said)
                texts = {tuple(asked["query"] + item)
                         for where, asked in server.asked if where == path
                         for item in asked["items"]}
                for row in prefixes():
                    for ids in row:
                        self.assertIn(tuple(ids), texts)
                # Two to find out, and one per solution.
                self.assertEqual(self.paths(server).count(path),
                                 2 + len(SOLUTIONS))

    def test_a_log_prob_among_all_tokens(self):
        for kind in ("vllm", "sglang"):
            with self.subTest(kind):
                server = self.serve(kind, (PLUS,))
                found, _ = self.scores(server, self.form(ONE))
                self.near(found, [[min(1, max(0, 0.1 * (
                    server.logprob(ids, PLUS) + 9))) for ids in row]
                    for row in prefixes()])

    def test_completions_that_tell_log_probs_are_kept(self):
        server = self.serve(completions="told")
        found, said = self.scores(server)
        self.near(found, wanted())
        self.assertIn("is read at /v1/completions", said)
        self.assertEqual(set(self.paths(server)), {"/v1/completions"})

    def test_completions_that_cap_or_bias_log_probs_are_left(self):
        for how in ("capped", "biased"):
            with self.subTest(how):
                server = self.serve(completions=how)
                found, said = self.scores(server)
                self.near(found, wanted())
                self.assertIn("is read at /generative_scoring", said)
        none = self.serve(completions="capped", scores=False)
        self.refused(self.measure(none), none.url, "max allowed: 0", "404")
        none = self.serve(completions="biased", scores=False)
        self.refused(self.measure(none), none.url, "/v1/completions",
                     "add up to 2", "--logprobs-mode")

    def test_rows_of_a_head_of_the_tokens(self):
        """All marks in one request, where the server gives a row per mark."""
        for shape, path in (("tags", "token_classify"),
                            ("tokens", "token_classify"),
                            ("whole", "classify")):
            with self.subTest(shape):
                server = self.serve(scores=False, pooled=shape)
                found, said = self.scores(server)
                self.near(found, wanted())
                self.assertIn(f"is read at /pooling (task {path})", said)
                texts = {tuple(asked["input"])
                         for path, asked in server.asked if path == "/pooling"}
                whole, short = prefixes()[0][2], prefixes()[0][1]
                self.assertIn(tuple(whole), texts)
                self.assertEqual(tuple(short) in texts, shape == "whole")

    def test_rows_of_the_hidden_state(self):
        server = self.serve(scores=False, pooled="hidden")
        self.refused(self.measure(server), server.url, "returned_token_ids",
                     ":outputs=logits", "classifier_from_token",
                     "STEP", str(MARK))
        found, _ = self.scores(server, self.form() + ":outputs=logits")
        self.assertEqual([len(row) for row in found], [3, 1, 2])
        self.refused(self.measure(server, self.form(ONE) + ":outputs=logits"),
                     "no head")

    def test_a_server_with_nothing(self):
        for kind, path in (("vllm", "/generative_scoring"),
                           ("sglang", "/v1/score")):
            server = self.serve(kind, scores=False)
            self.refused(self.measure(server), server.url, "form",
                         f"{PLUS}, {MINUS}", f"{path}: answered 404")

    def test_a_token_between_query_and_items(self):
        server = self.serve("sglang", between=True)
        self.refused(self.measure(server), server.url, "/v1/score",
                     "multi-item scoring")

    def test_replies_that_cannot_be_read(self):
        words = {"count": "one per text", "null": "probability",
                 "nan": "JSON", "text": "probability", "outside": "found 7",
                 "malformed": "JSON"}
        for kind in ("vllm", "sglang"):
            for wrong, word in words.items():
                with self.subTest(kind=kind, wrong=wrong):
                    # At the start they end the program.
                    server = self.serve(kind, wrong=[wrong] * 100)
                    self.refused(self.measure(server), server.url, word)
                    # Later they are asked for again.
                    server = self.serve(kind, wrong=[wrong], skip=3)
                    found, _ = self.scores(server)
                    self.near(found, wanted())
                    self.assertEqual(server.scoring.wrong, [])

    def test_what_never_gets_better_is_one_error(self):
        server = self.serve(wrong=["null"] * 1000, skip=2)
        done = self.measure(server)
        told = done.stdout + done.stderr
        self.assertIn("expected a probability, found none", told)
        self.assertIn(server.url, told)

    def test_several_servers(self):
        first, second = self.serve(), self.serve()
        urls = f"{first.url},{second.url}"
        found, _ = self.scores(first, url=urls)
        self.near(found, wanted())
        other = self.serve(scores=False, pooled="whole")
        self.refused(self.measure(first, url=f"{first.url},{other.url}"),
                     other.url, "must offer the same")

    def test_the_key_is_sent_and_not_told(self):
        server = self.serve("sglang")
        server.faults.key = KEY
        self.refused(self.measure(server), server.url, "ESPALIER_API_KEY")
        found, said = self.scores(server, ESPALIER_API_KEY=KEY)
        self.near(found, wanted())
        self.assertNotIn(KEY, said)

    def test_runs_replay_without_asking_again(self):
        for kind in ("vllm", "sglang"):
            server = self.serve(kind)
            done = run("generate", "--model", STORIES, "--set", "stories:easy",
                       "--limit", "3", "--budget-tokens", "200",
                       "--response-tokens", "60", "--seed", "3",
                       "--search", "beam", "--reward-model", server.url,
                       "--reward-tokenizer", STORIES, "--reward-format",
                       self.form(), "--out", self.path("run.db"), "--force",
                       env=environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            asked = len(server.asked)
            self.assertGreater(asked, 3)
            replayed = run("replay", self.path("run.db"))
            self.assertIn(": 3 identical", replayed.stdout, replayed.stderr)
            self.assertEqual(len(server.asked), asked)
            with sqlite3.connect(self.path("run.db")) as db:
                states = db.execute("SELECT state FROM searches").fetchall()
            self.assertEqual(len(states), 3)


if __name__ == "__main__":
    unittest.main()
