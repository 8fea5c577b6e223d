"""Runs `espalier methods`, and methods given by presets and files.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAM = os.environ.get("ESPALIER_PROGRAM",
                         os.path.join(ROOT, "build", "espalier"))
STORY = ("Ann has 23 shells. She finds 48 more. She gives 17 to Tom. "
         "How many shells does Ann have now?")


def run(*arguments):
    environment = dict(os.environ,
                       ESPALIER_ZOO=os.path.join(ROOT, "models", "zoo"))
    return subprocess.run([PROGRAM, *arguments], capture_output=True,
                          text=True, timeout=300, env=environment,
                          stdin=subprocess.DEVNULL, check=False, cwd=ROOT)


class MethodsTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as handle:
                handle.write(text)
        return path

    def refused(self, result, *words):
        self.assertGreater(result.returncode, 0, result.stdout)
        self.assertEqual(result.stdout, "")
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertLess(len(result.stderr.splitlines()), 6, result.stderr)

    def solve(self, *arguments):
        result = run("solve", STORY, "--json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)


class ListTest(MethodsTest):

    def test_the_page_in_docs_is_what_the_program_writes(self):
        result = run("methods", "--markdown")
        self.assertEqual(result.returncode, 0, result.stderr)
        table = subprocess.run(
            [os.path.join(ROOT, "tools", "method_table"), "--markdown"],
            check=True, capture_output=True, text=True).stdout
        # A heading right after a table would become one of its rows.
        self.assertIn("\n\n## What they achieve", result.stdout + table)
        with open(os.path.join(ROOT, "docs", "methods.md"),
                  encoding="utf-8") as handle:
            self.assertEqual(handle.read().rstrip("\n"),
                             (result.stdout + table).rstrip("\n"),
                             "docs/methods.md is stale: tools/dev docs")

    def test_links_of_the_page_lead_somewhere(self):
        page = run("methods", "--markdown").stdout
        for link in set(page.split("](")[1:]):
            link = link.split(")")[0]
            if link.startswith("#"):
                self.assertIn("\n### " + link[1:] + "\n", page)
            else:
                self.assertTrue(
                    os.path.exists(os.path.join(ROOT, "docs", link)), link)

    def test_costs_are_read_from_a_benchmarks_output(self):
        costs = self.path("costs.json", json.dumps({"benchmarks": [
            {"name": "BM_EveryMethod/puct", "label": "puct",
             "steps_per_s": 8e5}]}))
        page = run("methods", "--markdown", "--costs", costs).stdout
        row, = [line for line in page.splitlines()
                if line.startswith("| [puct](")]
        self.assertIn("| 1.25 us |", row)
        self.refused(run("methods", "--markdown", "--costs",
                         self.path("bad.json", "{")), "bad.json")

    def test_the_list_is_a_line_a_method(self):
        result = run("methods")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        for name in ("beam", "puct", "rest_mcts_star", "treequest_a"):
            self.assertEqual(
                sum(line.split()[:1] == [name] for line in lines), 1, name)
        self.assertLess(max(map(len, lines)), 120)

    def test_one_method_is_shown_with_its_options(self):
        result = run("methods", "beam", "rest_mcts_star")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("paths kept after each step (1..4096)", result.stdout)
        self.assertIn("--search mcts_star:answer=node:branch=3", result.stdout)
        self.assertNotIn("puct", result.stdout)
        self.refused(run("methods", "bem"), '"beam"')

    def test_json_has_methods_and_presets(self):
        listed = json.loads(run("methods", "--json").stdout)
        methods = {m["name"]: m for m in listed["methods"]}
        self.assertIn("branch", [o["name"] for o in methods["beam"]["options"]])
        for preset in listed["presets"]:
            self.assertIn(preset["method"], methods)


class PresetTest(MethodsTest):

    def test_every_preset_solves_with_a_shipped_model(self):
        listed = json.loads(run("methods", "--json").stdout)
        for preset in listed["presets"]:
            if preset["method"] == "omega_prm":
                continue
            # Puzzles, whose verifier reads only the question.
            result = run("solve", "--set", "countdown:3", "--json", "--preset",
                         preset["name"])
            row = json.loads(result.stdout)
            self.assertEqual(result.returncode, 0 if row["correct"] else 4,
                             result.stderr)
            self.assertGreater(row["nodes"], 1, preset["name"])
            self.assertTrue(row["configuration"].startswith(
                preset["method"] + ":"))

    def test_preset_method_and_file_run_the_same_search(self):
        preset = self.solve("--preset", "rest_mcts_star:gate=2")
        listed = json.loads(run("methods", "--json").stdout)
        options = [p for p in listed["presets"]
                   if p["name"] == "rest_mcts_star"][0]["options"]
        options["gate"] = "2"
        method = self.solve("--method", "mcts_star" + "".join(
            f":{key}={value}" for key, value in options.items()))
        path = self.path("s.textproto", 'name: "mcts_star"\n' + "".join(
            f'option {{ key: "{key}" value: "{value}" }}\n'
            for key, value in options.items()))
        file = self.solve("--search", path)
        for key in ("configuration", "config_hash", "response", "tokens",
                    "nodes"):
            self.assertEqual(preset[key], method[key])
            self.assertEqual(preset[key], file[key])
        self.assertRegex(preset["config_hash"], "^[0-9a-f]{16}$")
        self.assertNotEqual(preset["config_hash"], self.solve(
            "--preset", "rest_mcts_star")["config_hash"])
        # auto is recorded as the method it resolves to.
        self.assertEqual(self.solve()["config_hash"],
                         self.solve("--search", "guided")["config_hash"])

    def test_eval_compares_presets_with_methods(self):
        path = self.path("r.json")
        result = run("eval", "--set", "stories:easy", "--limit", "3",
                     "--methods", "greedy,preset=rstar:c=1",
                     "--compare", "greedy", "--json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, encoding="utf-8") as handle:
            greedy, rstar = json.load(handle)["results"]
        self.assertEqual(rstar["method"], "preset=rstar:c=1")
        self.assertIn("uct:", rstar["configuration"])
        self.assertRegex(rstar["config_hash"], "^[0-9a-f]{16}$")
        self.assertNotEqual(rstar["config_hash"], greedy["config_hash"])
        result = run("eval", "--set", "stories:easy", "--limit", "2",
                     "--preset", "rap,openr")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("preset=rap", "preset=openr"):
            self.assertIn(name, result.stdout)

    def test_generate_records_a_preset_as_its_method(self):
        path = self.path("run.db")
        result = run("generate", "--set", "stories:easy", "--limit", "2",
                     "--preset", "rest_mcts_star", "--out", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = run("db", "sql", path, "SELECT method FROM runs")
        self.assertIn("mcts_star:", found.stdout, found.stderr)

    def test_wrong_presets_are_refused(self):
        self.refused(run("solve", STORY, "--preset", "rest_mcts_tsar"),
                     '"rest_mcts_star"')
        self.refused(run("solve", STORY, "--preset", "rap", "--method",
                         "beam"), "--preset", "--search")
        self.refused(run("eval", "--set", "stories:easy", "--preset", "rap",
                         "--methods", "beam"), "--preset", "--methods")
        self.refused(run("solve", STORY, "--search", "openr"), "preset=openr")
        self.refused(run("solve", STORY, "--search", "/no/such.textproto"),
                     "/no/such.textproto")

    def test_all_problems_are_listed_before_a_model_is_loaded(self):
        missing = ("--model", "/no/such/model")
        self.refused(run("solve", STORY, "--budget-tokens", "0", "--method",
                         "uct:c_end=1:widht=3:branch=0", *missing),
                     "budget is zero", "c_end", '"width"', "branch=0")
        self.refused(run("eval", "--set", "stories:easy", "--methods",
                         "bem,puct:branch=0", "--compare", "beam", *missing),
                     '"beam"', "branch=0", "--compare")
        # Out of its range, an option is refused before the others are read.
        self.refused(run("eval", "--set", "stories:easy", "--methods",
                         "bem,puct:branch=0", "--budget-tokens", "-1",
                         *missing), "--budget-tokens: -1: expected")
        self.refused(run("generate", "--set", "stories:easy", "--search",
                         "puct:branch=0", "--shard", "4/2", *missing),
                     "branch=0", "--shard 4/2", "--out FILE")


if __name__ == "__main__":
    unittest.main()
