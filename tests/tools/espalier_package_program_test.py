"""The installed package: examples/ build against it and run.

ESPALIER_PROGRAM names the program of the build that is installed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAM = os.environ.get("ESPALIER_PROGRAM", os.path.join(
    ROOT, "build", "espalier"))
BUILD = os.path.dirname(PROGRAM)
# A library under a sanitizer links only with programs under the same.
SANITIZED = bool(os.environ.get("ESPALIER_SLOW"))


def run(*command, **more):
    """Runs `command`; its output if it ended well, else an error with it."""
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}:\n{done.stdout[-4000:]}")
    return done.stdout


@unittest.skipIf(SANITIZED, "a sanitizer build is not installed")
class PackageTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp()
        cls.prefix = os.path.join(cls.work, "prefix")
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.examples = os.path.join(cls.work, "examples")
        run("cmake", "-G", "Ninja", "-S", os.path.join(ROOT, "examples"), "-B",
            cls.examples, f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        run("cmake", "--build", cls.examples)
        cls.zoo = os.path.join(cls.prefix, "share/espalier/models/zoo")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work, ignore_errors=True)

    def example(self, name, *arguments):
        return run(os.path.join(self.examples, name), *arguments,
                   cwd=self.work)

    def test_solve_answers_and_grades(self):
        text = self.example("solve", os.path.join(self.zoo, "stories"))
        self.assertEqual(text.count("stories:easy/"), 5, text)
        self.assertIn("(right, ", text)

    def test_own_reward_decides_what_is_kept(self):
        text = self.example("own_reward", os.path.join(self.zoo, "stories"))
        self.assertEqual(text.count("---\n"), 3, text)

    def test_own_method_runs_by_its_name(self):
        text = self.example("own_method", os.path.join(self.zoo, "stories"))
        lines = [l for l in text.split("\n") if l]
        self.assertEqual(len(lines), 3, text)
        for line in lines:
            self.assertRegex(line, r"^stories:easy/\S+ \S+$")

    def test_own_generator_is_searched_without_a_model(self):
        self.assertRegex(self.example("own_generator"), r"^42, \d+ words\n$")

    def test_own_generator_is_judged_by_a_reward_model(self):
        stories = os.path.join(self.zoo, "stories")
        self.assertRegex(self.example("own_generator", stories),
                         r"^4[12], \d+ words\n$")

    def test_own_task_is_searched_with_its_verifier(self):
        self.assertEqual(self.example("own_task"), "3 7\n")

    def test_ask_tell_is_a_loop_of_the_programs_own(self):
        self.assertEqual(self.example("ask_tell"), "42\n")

    def test_the_installed_program_finds_its_models(self):
        text = run(os.path.join(self.prefix, "bin/espalier"), "solve", "--set",
                   "stories:easy", "--index", "0", "--budget-tokens", "200",
                   cwd=self.work)
        self.assertTrue(re.search(r"\d", text), text)

    def test_no_header_names_the_source_tree(self):
        folder = os.path.join(self.prefix, "include/espalier")
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for line in file:
                    if line.startswith('#include "'):
                        self.assertRegex(line, r'"(espalier|absl)/', name)

    def test_another_project_may_add_the_source_folder(self):
        folder = os.path.join(self.work, "other")
        os.makedirs(folder)
        with open(os.path.join(folder, "CMakeLists.txt"), "w",
                  encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.25)\n"
                       "project(Other LANGUAGES CXX)\n"
                       f"add_subdirectory({ROOT} espalier)\n"
                       "add_executable(other other.cc)\n"
                       "target_link_libraries(other Espalier::espalier)\n")
        with open(os.path.join(folder, "other.cc"), "w",
                  encoding="utf-8") as file:
            file.write('#include "espalier/registry.h"\n'
                       "int main() { return espalier::ListMethods().empty(); "
                       "}\n")
        build = os.path.join(folder, "build")
        run("cmake", "-G", "Ninja", "-S", folder, "-B", build)
        # Only the library, and no test or program of this project.
        plan = run("ninja", "-C", build, "-t", "commands", "other")
        self.assertIn("libespalier.a", plan)
        self.assertNotIn("tests/", plan)
        self.assertNotIn("tools/espalier/", plan)


if __name__ == "__main__":
    sys.exit(unittest.main())
