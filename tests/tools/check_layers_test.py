"""Plants violations in a scratch repository and expects each to be found."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import check_layers  # noqa: E402


def header(guard, body=""):
    return f"#ifndef {guard}\n#define {guard}\n{body}\n#endif\n"


CLEAN = {
    "include/espalier/problem.h": header(
        "ESPALIER_API_PROBLEM_H_",
        '#include <string>\n#include "absl/status/status.h"'),
    "base/text.h": header("ESPALIER_BASE_TEXT_H_",
                              '#include "espalier/problem.h"'),
    "base/clock.h": header("ESPALIER_BASE_CLOCK_H_"),
    "base/clock.cc": "auto t = std::chrono::steady_clock::now();\n",
    "search/tree/tree.h": header("ESPALIER_SEARCH_TREE_TREE_H_",
                                 '#include "base/text.h"'),
    "models/differentiable/net.h": header("ESPALIER_MODELS_DIFFERENTIABLE_NET_H_",
                               "#include <torch/torch.h>"),
    "models/kernel_executor/cpu.cc": '#include "hwy/highway.h"\n'
                         '#include "search/tree/tree.h"\n',
    "src/engine/engine.cc": '#include "models/kernel_executor/cpu.h"\n',
    "models/kernel_executor/cpu.h": header("ESPALIER_MODELS_KERNEL_EXECUTOR_CPU_H_"),
    "src/learn/train.cc": '#include "models/differentiable/net.h"\n',
    "tests/search/tree_test.cc": '#include "search/tree/tree.h"\n'
                                 "std::chrono::steady_clock::now();\n",
}


class CheckLayersTest(unittest.TestCase):

    def violations(self, planted):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**CLEAN, **planted}.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as handle:
                    handle.write(text)
            for command in (["init", "-q"], ["add", "-A"]):
                subprocess.run(["git", *command], cwd=root, check=True)
            return check_layers.check_tree(root)

    def assert_one(self, path, text, *words):
        found = self.violations({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(path + ":"), found)
        for word in words:
            self.assertIn(word, found[0])

    def test_joined_files_name_their_own_apart(self):
        def source(function):
            return f"namespace espalier {{\nnamespace {{\n\n{function}\n\n" \
                   "}  // namespace\n}  // namespace espalier\n"
        same = source("bool IsWord(std::string_view text) {\n  return true;\n}")
        overload = source("bool IsWord(char letter) {\n  return true;\n}")
        constant = source("constexpr size_t kLongest = 3;")
        found = self.violations({"base/one.cc": same, "base/two.cc": same})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("base/two.cc:4: "), found)
        self.assertIn("defines IsWord, as base/one.cc does", found[0])
        found = self.violations({"src/eval/one.cc": constant,
                                 "src/eval/two.cc": constant})
        self.assertEqual(len(found), 1, found)
        # A type or an alias of that name in another file.
        for other in ("struct IsWord {\n  int a;\n};",
                      "enum class IsWord : uint8_t { kYes };",
                      "using IsWord = int;"):
            for one, two in ((same, source(other)), (source(other), same)):
                found = self.violations({"search/one.cc": one,
                                         "search/two.cc": two})
                self.assertEqual(len(found), 1, (other, found))
        found = self.violations({"base/one.cc": source("using A = int;"),
                                 "base/two.cc": source("using A = char;")})
        self.assertEqual(len(found), 1, found)
        alias = source("using A = int;")
        self.assertEqual(self.violations({"base/one.cc": alias,
                                          "base/two.cc": alias}), [])
        for folder in ("tools/espalier", "tests/search", "src/learn"):
            self.assertIn("another name", " ".join(map(str, self.violations({
                folder + "/one.cc": same, folder + "/deep/two.cc": same}))))
        self.assertIn("another name", " ".join(map(str, self.violations({
            "models/differentiable/one.cc": same,
            "models/torch_executor/two.cc": same}))))
        # Overloads, other layers, and files that are never joined.
        for other, text in (("base/two.cc", overload),
                            ("search/two.cc", same),
                            ("datasets/two.cc", same)):
            self.assertEqual(
                self.violations({"base/one.cc": same, other: text}), [])
        self.assertEqual(self.violations({"datasets/tasks/one.cc": same,
                                          "datasets/tasks/two.cc": same}), [])

    def test_clean_tree_has_no_violation(self):
        self.assertEqual(self.violations({}), [])

    def test_this_repository_is_clean(self):
        self.assertEqual(check_layers.check_tree(ROOT), [])

    def test_later_layer_is_found_with_its_line(self):
        self.assert_one("base/a.cc",
                        '#include <map>\n#include "search/tree/tree.h"\n',
                        "base/a.cc:2", "later layer")
        self.assert_one("search/a.cc", '#include "models/kernel_executor/cpu.h"\n',
                        "later layer")
        self.assert_one("include/espalier/a.h",
                        header("ESPALIER_API_A_H_",
                               '#include "base/text.h"'), "later layer")

    def test_angle_brackets_do_not_hide_a_layer(self):
        self.assert_one("base/a.cc", "#include <search/tree/tree.h>\n",
                        "later layer")

    def test_spaces_do_not_hide_an_include(self):
        self.assert_one("base/a.cc",
                        '  #  include   "search/tree/tree.h"\n', "later layer")

    def test_tests_follow_the_layer_that_they_mirror(self):
        self.assert_one("tests/search/b_test.cc",
                        '#include "models/kernel_executor/cpu.h"\n', "later layer")
        self.assertEqual(self.violations(
            {"tests/models/b_test.cc": '#include "models/kernel_executor/cpu.h"\n'}), [])

    def test_folders_of_one_layer_do_not_include_each_other(self):
        found = self.violations({
            "models/pages/a.h": header("ESPALIER_MODELS_PAGES_A_H_"),
            "models/trunk/b.h": header("ESPALIER_MODELS_TRUNK_B_H_",
                                       '#include "models/pages/a.h"'),
            "models/trunk/c.h": header("ESPALIER_MODELS_TRUNK_C_H_"),
            "models/pages/d.cc": '#include "models/trunk/c.h"\n'})
        self.assertEqual(len(found), 2, found)
        self.assertTrue(found[0].startswith("models/pages/d.cc:1:"), found)
        self.assertIn("in turn", found[0])
        # Through a third folder.
        found = self.violations({
            "models/pages/a.h": header("ESPALIER_MODELS_PAGES_A_H_"),
            "models/trunk/b.h": header("ESPALIER_MODELS_TRUNK_B_H_",
                                       '#include "models/pages/a.h"'),
            "models/fake/c.h": header("ESPALIER_MODELS_FAKE_C_H_",
                                      '#include "models/trunk/b.h"'),
            "models/pages/d.cc": '#include "models/fake/c.h"\n'})
        self.assertEqual(len(found), 3, found)

    def test_code_does_not_include_tests(self):
        self.assert_one("tools/espalier/a.cc",
                        '#include "tests/search/fake.h"\n', "not a file")
        found = self.violations({
            "tests/search/fake.h": header("ESPALIER_TESTS_SEARCH_FAKE_H_"),
            "tools/espalier/a.cc": '#include "tests/search/fake.h"\n'})
        self.assertEqual(len(found), 1, found)
        self.assertIn("does not depend on tests", found[0])

    def test_types_of_one_name_in_two_headers(self):
        def declares(guard, line):
            return header(guard, "namespace espalier {\n" + line +
                          "\n}  // namespace espalier")
        found = self.violations({
            "base/a.h": declares("ESPALIER_BASE_A_H_",
                                     "struct Piece {\n  int a;\n};"),
            "base/b.h": declares("ESPALIER_BASE_B_H_",
                                     "class Piece final : Other {\n};"),
            "base/c.h": declares("ESPALIER_BASE_C_H_",
                                     "struct Piece;")})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("base/b.h:"), found)
        self.assertIn("declares Piece, as base/a.h does", found[0])

    def test_libtorch_stays_in_its_folders(self):
        for name in ("torch/torch.h", "ATen/ATen.h", "c10/util/Half.h"):
            self.assert_one("models/kernel_executor/a.cc", f"#include <{name}>\n",
                            "LibTorch")
        self.assert_one("src/engine/a.cc", '#include "models/differentiable/net.h"\n',
                        "without LibTorch")

    def test_api_stands_on_abseil_and_the_standard_library(self):
        for name in ("google/protobuf/message.h", "nlohmann/json.hpp",
                     "unistd.h"):
            self.assert_one("include/espalier/a.h",
                            header("ESPALIER_API_A_H_", f"#include <{name}>"),
                            "the API")

    def test_search_knows_neither_threads_nor_time(self):
        for name in ("<thread>", "<mutex>", "<chrono>", '"base/clock.h"'):
            self.assert_one("search/a.cc", f"#include {name}\n", "threads")

    def test_time_is_read_in_one_place(self):
        for code in ("std::chrono::steady_clock::now()", "time(nullptr)",
                     "clock_gettime(CLOCK_MONOTONIC, &t)"):
            self.assert_one("src/engine/a.cc", f"auto t = {code};\n", "time")

    def test_unknown_file_and_bare_name_are_found(self):
        self.assert_one("base/a.cc", '#include "base/nowhere.h"\n',
                        "not a file")
        self.assert_one("base/a.cc", '#include "text.h"\n', "not a file")

    def test_folder_outside_all_layers_is_found(self):
        self.assert_one("src/extra/a.cc", '#include "base/text.h"\n',
                        "no layer")

    def test_api_is_included_as_users_do(self):
        self.assert_one("base/a.cc",
                        '#include "include/espalier/problem.h"\n',
                        "as users do")

    def test_header_guard_is_named_after_the_path(self):
        self.assert_one("base/a.h", header("ESPALIER_SRC_BASE_A_H_"),
                        "ESPALIER_BASE_A_H_")
        self.assert_one("base/a.h", "int a;\n", "header guard")

    def test_file_compiled_once_a_vector_target_needs_no_guard(self):
        self.assertEqual(self.violations(
            {"models/kernels/a-inl.h": "int a;\n"}), [])

    def test_json_is_parsed_in_one_place(self):
        self.assert_one("src/eval/a.cc", "auto j = nlohmann::json::parse(s);\n",
                        "parse_json.h")
        self.assertEqual(self.violations(
            {"base/parse_json.cc": "Json::sax_parse(a, b, &c);\n"}), [])

    def test_long_file_is_found(self):
        self.assertEqual(self.violations({"base/a.cc": "\n" * 800}), [])
        self.assert_one("base/a.cc", "\n" * 801, "801 lines")

    def test_unfinished_and_private_text_is_found(self):
        self.assert_one("docs/a.md", "TO" + "DO: write\n", "unfinished")
        self.assert_one("base/a.cc", "#if 0\n#endif\n", "switched off")
        self.assert_one("docs/a.md", "see /ho" + "me/ann/x\n", "machine")
        self.assert_one("docs/a.md", "<" * 7 + " HEAD\n", "merge mark")
        self.assert_one("tests/base/a.cc",
                        "auto zoo = std::filesystem::path(_" "_FILE__);\n",
                        "name of the source")


if __name__ == "__main__":
    unittest.main()
