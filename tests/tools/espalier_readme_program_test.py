"""Runs the commands in README.md verbatim, and on few problems those of the
guides that need no training, no servers and no published reward model.

What belongs to the reader is replaced: small checkpoints in ~/models, problems
in their publisher's format, a database. ESPALIER_PROGRAM names the program (ctest sets it).
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import unittest

import postgres_case
from espalier_program_test import PROGRAM, ROOT, STORIES, ZOO, ProgramTest

CHATML = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + "
          "'\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
          "{% endif %}")


def commands(page):
    """The commands in a page's code blocks, without comments."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as handle:
        lines = handle.read().splitlines()
    for line in lines:
        found = re.match(r"    (?:\$ )?((?:printf .*\| )?build/espalier .*)",
                         line)
        if found:
            yield re.sub(r"\s{2,}#.*", "", found.group(1))


@unittest.skipIf(os.environ.get("ESPALIER_SLOW"), "takes minutes here")
class ReadmeTest(ProgramTest):
    server = None

    def setUp(self):
        super().setUp()
        self.home = self.path("home")
        os.makedirs(os.path.join(self.home, "models"))
        os.symlink(ZOO, os.path.join(self.home, "models", "zoo"))
        os.makedirs(os.path.join(self.home, "build"))
        os.symlink(PROGRAM, os.path.join(self.home, "build", "espalier"))
        for name in ("Qwen2.5-1.5B-Instruct", "Qwen3-1.7B", "Llama-3.2-1B",
                     "my-llama"):
            folder = os.path.join(self.home, "models", name)
            shutil.copytree(STORIES, folder)
            if name.startswith("Qwen"):
                self.give_chat_template(folder)
        with open(os.path.join(self.home, "gsm8k_test.jsonl"), "w",
                  encoding="utf-8") as handle:
            for i in range(3):
                handle.write(json.dumps({
                    "question": f"Ann has {i} shells. She finds 4. How many?",
                    "answer": f"{i}+4={i + 4}\n#### {i + 4}"}) + "\n")
        with open(os.path.join(self.home, "book.txt"), "w",
                  encoding="utf-8") as handle:
            handle.write("Ann has 3 shells.\n" * 20)

    @staticmethod
    def give_chat_template(folder):
        """Adds ChatML, its control tokens replacing two words."""
        with open(os.path.join(folder, "tokenizer_config.json"), "w",
                  encoding="utf-8") as handle:
            json.dump({"chat_template": CHATML}, handle)
        path = os.path.join(folder, "tokenizer.json")
        with open(path, encoding="utf-8") as handle:
            tokenizer = json.load(handle)
        model = tokenizer["model"]
        for control in ("<|im_start|>", "<|im_end|>"):
            word = max(model["vocab"], key=model["vocab"].get)
            model["merges"] = [pair for pair in model["merges"]
                               if pair.replace(" ", "") != word]
            tokenizer["added_tokens"].append(
                {**tokenizer["added_tokens"][0], "content": control,
                 "id": model["vocab"].pop(word)})
        with open(path, "w", encoding="utf-8") as handle:
            json.dump(tokenizer, handle)

    def database_url(self):
        if self.server is None:
            self.server = postgres_case.Server()
            self.addCleanup(self.server.close)
        return f"postgres://tester@127.0.0.1:{self.server.port}/postgres"

    def runs(self, page, limit=None, without=None):
        """How many commands ran: those that do not match `without`."""
        count = 0
        for command in commands(page):
            if without and re.search(without, command):
                continue
            if "postgres://" in command:
                if not postgres_case.BIN:
                    continue
                command = re.sub(r"postgres://\S+", self.database_url(),
                                 command)
            whole_set = re.search(r"espalier (eval|generate|steps) ", command)
            if limit and whole_set and "--limit" not in command:
                command += f" --limit {limit}"
            elif limit:
                command = re.sub(r"(?<=--limit )\d+", lambda given: str(
                    min(limit, int(given.group()))), command)
            result = subprocess.run(
                ["bash", "-c", command], cwd=self.home, check=False, text=True,
                env=dict(os.environ, HOME=self.home, ESPALIER_ZOO=ZOO),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, timeout=600)
            self.assertEqual(result.returncode, 0,
                             f"{page}: {command}\n{result.stderr}")
            if " > " not in command:
                self.assertNotEqual(result.stdout, "", command)
            count += 1
        return count

    def test_every_command_of_readme(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as handle:
            self.assertLessEqual(len(handle.read().splitlines()), 150)
        self.assertGreaterEqual(self.runs("README.md"), 9)

    def test_the_transcript_is_what_is_printed(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as handle:
            text = handle.read()
        shown = re.search(r"    \$ (build/espalier solve .*)\n((?:    .*\n)+)",
                          text)
        result = subprocess.run(
            ["bash", "-c", shown.group(1)], cwd=self.home, check=True,
            env=dict(os.environ, HOME=self.home, ESPALIER_ZOO=ZOO), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        wanted = re.sub(r"(?m)^    ", "", shown.group(2)).strip()
        # The output repeats the question, which the command line already shows.
        question = re.search(r'"(.*)"', shown.group(1)).group(1)
        self.assertIn(question + "\n", result.stdout)
        said = result.stdout.replace(question + "\n", "").strip()
        seconds = re.compile(r"[\d.]+ s\)")
        # Other processors round differently: texts are equal, scores nearly
        # equal.
        numbers = re.compile(r"\d\.\d\d")
        said, wanted = (seconds.sub("s)", part) for part in (said, wanted))
        self.assertEqual(numbers.sub("#", said), numbers.sub("#", wanted))
        for a, b in zip(numbers.findall(said), numbers.findall(wanted)):
            self.assertLess(abs(float(a) - float(b)), 0.1)

    def test_guides(self):
        # A reader who tries all of them has the README's files already.
        self.runs("README.md", limit=8)
        for page in ("guide/search", "guide/models", "guide/evaluate",
                     "guide/generate", "run-database"):
            self.assertGreaterEqual(
                self.runs(f"docs/{page}.md", limit=8), 2, page)

    def test_commands_that_need_no_published_reward_model(self):
        # Others need one, training, or a benchmark's files.
        needs = "reward-model |train |bench-reward|gsm8k|PRM"
        self.assertGreaterEqual(
            self.runs("docs/guide/reward-models.md", 40, needs), 5)

    def test_grade(self):
        with open(os.path.join(self.home, "pairs.jsonl"), "w",
                  encoding="utf-8") as handle:
            handle.write('{"gold": "1/2", "answer": "0.5"}\n')
        with gzip.open(os.path.join(self.home, "HumanEval.jsonl.gz"), "wt",
                       encoding="utf-8") as handle:
            handle.write(json.dumps({
                "task_id": "HumanEval/0", "entry_point": "one",
                "prompt": "def one():\n",
                "canonical_solution": "    return 1\n",
                "test": "def check(f):\n    assert f() == 1\n"}) + "\n")
        with open(os.path.join(self.home, "samples.jsonl"), "w",
                  encoding="utf-8") as handle:
            handle.write('{"task_id": "HumanEval/0", '
                         '"completion": "    return 1"}\n')
        self.assertEqual(self.runs("docs/guide/grade.md"), 2)


if __name__ == "__main__":
    unittest.main()
