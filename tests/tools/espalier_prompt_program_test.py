"""Runs solve, generate and eval with --prompt end to end.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import re
import sqlite3
import unittest

from espalier_program_test import STORIES, ProgramTest, run

STORY = ("Ann has 23 shells. She finds 48 more. "
         "How many shells does Ann have now?")
# Questions and the answer line in the form that the shipped model was trained
# on.
OWN = r'''
template: "plain"
question: "a {question}\n"
delimiter: "\n"
max_step_tokens: 24
final_prefix: "= "
answer: "^= (.+)$"
'''


class PromptTest(ProgramTest):

    def solve(self, prompt, *more, question=STORY):
        return run("solve", question, "--model", STORIES, "--prompt", prompt,
                   *more)

    def own(self, text=OWN):
        return self.path("own.textproto", text)

    def test_show_prompt_prints_what_is_sent(self):
        result = self.solve(self.own(), "--show-prompt")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, f"a {STORY}\n")
        tokens = int(re.search(r"\((\d+) tokens", result.stderr).group(1))
        got = json.loads(self.solve(self.own(), "--show-prompt",
                                    "--json").stdout)
        self.assertEqual(got["prompt"], f"a {STORY}\n")
        self.assertEqual(len(got["tokens"]), tokens)
        self.assertEqual(got["delimiter"], "\n")
        # A search reports the same number of prompt tokens.
        solved = json.loads(self.solve(self.own(), "--search", "greedy",
                                       "--json").stdout)
        self.assertEqual(solved["prompt_tokens"], tokens)

    def test_chat_templates_show_their_control_tokens(self):
        result = self.solve("instruct", "--template", "chatml",
                            "--show-prompt")
        # The shipped tokenizer has none of them.
        self.refused(result, "<|im_start|>", "control token")

    def chat_model(self):
        """The shipped model with two vocabulary entries replaced by ChatML's
        control tokens."""
        model = self.copy_of_model()
        path = self.path("model/tokenizer.json")
        with open(path, encoding="utf-8") as handle:
            tokenizer = json.load(handle)
        tokenizer["model"]["merges"] = tokenizer["model"]["merges"][:-2]
        vocabulary = tokenizer["model"]["vocab"]
        for word in [w for w, i in vocabulary.items() if i in (509, 510)]:
            del vocabulary[word]
        for number, name in ((509, "<|im_start|>"), (510, "<|im_end|>")):
            tokenizer["added_tokens"].append(
                dict(tokenizer["added_tokens"][0], content=name, id=number))
        self.path("model/tokenizer.json", json.dumps(tokenizer))
        self.path("model/tokenizer_config.json", json.dumps({
            "chat_template": "{{ '<|im_start|>system\\nBe brief.<|im_end|>\\n'"
                             " }}"}))
        return model

    def test_a_chat_models_own_template_is_used(self):
        model = self.chat_model()
        shown = run("solve", "2+3?", "--model", model, "--prompt", "instruct",
                    "--show-prompt")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(
            shown.stdout,
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n2+3?"
            "\n\nSolve this step by step, and put your final answer in "
            "\\boxed{}.<|im_end|>\n<|im_start|>assistant\n")
        tokens = json.loads(run(
            "solve", "2+3?", "--model", model, "--prompt", "instruct",
            "--show-prompt", "--json").stdout)["tokens"]
        self.assertEqual([t for t in tokens if t > 508],
                         [509, 510, 509, 510, 509])
        # --chat sends the same number of tokens, with the same template.
        chat = run("complete", "--model", model, "--chat", "--text",
                   "2+3?\n\nSolve this step by step, and put your final "
                   "answer in \\boxed{}.", "--max-tokens", "1", "--json")
        self.assertEqual(json.loads(chat.stdout)["prompt_tokens"], len(tokens))
        self.refused(run("solve", "x<|im_end|>", "--model", model, "--prompt",
                         "instruct"), "<|im_end|>", "control token")
        self.refused(run("complete", "--model", model, "--chat", "--text",
                         "x<|im_end|>"), "<|im_end|>", "control token")

    def test_shipped_prompts_are_shown(self):
        for name in ("base", "instruct", "thinking", "thinking_block"):
            result = self.solve(name, "--template", "plain", "--show-prompt")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(STORY, result.stdout)

    def test_answers_are_found_by_the_prompts_pattern(self):
        result = self.solve(self.own(), "--search", "greedy", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        got = json.loads(result.stdout)
        self.assertIn(f"= {got['answer']}", got["response"])

    def test_steps_end_where_the_prompt_says(self):
        segments = OWN.replace("max_step_tokens: 24", "segment_tokens: 3"
                               ).replace('delimiter: "\\n"', 'delimiter: ""'
                                         ).replace("final_prefix", "stop")
        result = self.solve(self.own(segments), "--search", "greedy", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        steps = json.loads(result.stdout)["steps"]
        self.assertGreater(len(steps), 2)
        lines = json.loads(self.solve(self.own(), "--search", "greedy",
                                      "--json").stdout)["steps"]
        self.assertTrue(all(s["text"].endswith("\n") for s in lines[:-1]))

    def test_a_stop_ends_the_response_before_it(self):
        stopped = OWN.replace("final_prefix", "stop").replace(
            'answer: "^= (.+)$"', 'answer: "last_number"')
        result = self.solve(self.own(stopped), "--search", "greedy", "--json")
        got = json.loads(result.stdout)
        self.assertNotIn("=  ", got["response"])
        self.assertNotRegex(got["response"], r"(?m)^= ")
        self.assertTrue(got["steps"][-1]["terminal"])

    def test_errors_name_file_and_line(self):
        for text, place, word in (
                ("\nsistem: \"x\"", "own.textproto:2:", "sistem"),
                ("delimiter: \"<|im_end|>\"", "own.textproto:1:", "delimiter"),
                ("\n\nanswer: \"(\"", "own.textproto:3:", "answer"),
                ("template: \"chatmal\"", "own.textproto:1:", "chatml")):
            self.refused(self.solve(self.own(text)), place, word)
        self.refused(self.solve("instuct"), "instruct")
        self.refused(self.solve("/no/such.textproto"), "/no/such.textproto")
        self.refused(self.solve("instruct"), "no chat template", "--template")
        self.refused(run("solve", STORY, "--template", "plain"), "--prompt")

    def generate(self, out, *more):
        return run("generate", "--set", "stories:easy", "--limit", "2",
                   "--search", "sample", "--budget-tokens", "200", "--out",
                   out, *more)

    def test_another_prompt_is_another_run(self):
        out = self.path("run.db")
        self.assertEqual(self.generate(out, "--prompt", self.own()).returncode,
                         0)
        # A comment changes nothing; a delimiter or no prompt does.
        self.own(OWN + "# why\n")
        again = self.generate(out, "--prompt", self.own(OWN + "# why\n"),
                              "--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        other = self.own(OWN.replace("a {question}", "b {question}"))
        self.refused(self.generate(out, "--prompt", other, "--resume"),
                     "prompt is")
        self.refused(self.generate(out, "--resume"), "prompt is -")
        with sqlite3.connect(f"file:{out}?mode=ro", uri=True) as db:
            config = json.loads(db.execute(
                "SELECT config FROM runs").fetchone()[0])
        self.assertIn("a {question}", config["prompt"])

    def test_a_recorded_run_is_replayed_and_exported_with_its_prompt(self):
        out = self.path("run.db")
        self.assertEqual(
            self.generate(out, "--prompt", self.own(), "--searches",
                          "16").returncode, 0)
        replay = run("replay", out)
        self.assertEqual(replay.returncode, 0, replay.stderr + replay.stdout)
        lines = self.path("steps.jsonl")
        export = run("export", out, "--kind", "steps", "--out", lines)
        self.assertEqual(export.returncode, 0, export.stderr)
        with sqlite3.connect(f"file:{out}?mode=ro", uri=True) as db:
            questions = {row[0] for row in db.execute(
                "SELECT question FROM problems")}
        with open(lines, encoding="utf-8") as handle:
            for line in handle:
                # Steps labelled in another line come after the question.
                asked = json.loads(line)["prompt"][2:]
                self.assertTrue(any(asked.startswith(question)
                                    for question in questions), asked)

    def test_a_template_of_the_models_own_is_run_and_recorded(self):
        model = self.copy_of_model()
        turns = "{% for m in messages %}{{ m.content }}{% endfor %}"
        self.path("model/chat_template.jinja", turns)
        prompt = self.own(OWN.replace('"plain"', '"auto"'))
        shown = run("solve", STORY, "--model", model, "--prompt", prompt,
                    "--show-prompt")
        self.assertEqual(shown.stdout, f"a {STORY}\n", shown.stderr)
        out = self.path("run.db")
        done = self.generate(out, "--model", model, "--prompt", prompt)
        self.assertEqual(done.returncode, 0, done.stderr)
        with sqlite3.connect(f"file:{out}?mode=ro", uri=True) as db:
            config = json.loads(db.execute(
                "SELECT config FROM runs").fetchone()[0])
        self.assertIn(turns, config["prompt"])
        # The record has the template's text: the folder is not asked.
        os.remove(self.path("model/chat_template.jinja"))
        replay = run("replay", out)
        self.assertEqual(replay.returncode, 0, replay.stderr + replay.stdout)
        self.path("model/chat_template.jinja", turns + "{{ eos_token }}")
        self.refused(self.generate(out, "--model", model, "--prompt", prompt,
                                   "--resume"), "prompt is")
        self.path("model/chat_template.jinja",
                  "{{ raise_exception('not for stories') }}")
        self.refused(self.generate(self.path("new.db"), "--model", model,
                                   "--prompt", prompt), "not for stories",
                     "chat_template.jinja")

    def test_eval_says_which_prompt(self):
        out = self.path("rows.json")
        result = run("eval", "--set", "stories:easy", "--limit", "2",
                     "--methods", "greedy", "--prompt", self.own(), "--json",
                     out)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(out, encoding="utf-8") as handle:
            self.assertIn("a {question}", json.load(handle)["prompt"])

    def test_eval_of_searches_that_all_failed_is_no_result(self):
        """The story model lacks ChatML's tokens."""
        problems = self.path("one.jsonl", json.dumps(
            {"question": "What is 2+2?", "answer": "4"}) + "\n")
        result = run("eval", "--set", problems, "--model", STORIES, "--prompt",
                     "instruct", "--template", "chatml", "--methods",
                     "majority", "--budget-tokens", "100")
        self.assertEqual(result.returncode, 1)
        self.assertIn("every search failed", result.stderr)
        self.assertIn("no such control token", result.stderr)

    def test_a_prompt_that_looks_for_answers_where_lines_are_judged(self):
        self.refused(run("eval", "--set", "countdown:3", "--methods", "greedy",
                         "--prompt", self.own()), "countdown", "answer:")


if __name__ == "__main__":
    unittest.main()
