#include "datasets/programs/bigcodebench.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/programs/code_columns.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Modules a program may import: numpy, and those in Python 3.11's
// `sys.stdlib_module_names`.
constexpr std::string_view kModules =
    "numpy "
    "abc aifc argparse array ast asynchat asyncio asyncore atexit "
    "audioop base64 bdb binascii bisect builtins bz2 cProfile calendar "
    "cgi cgitb chunk cmath cmd code codecs codeop collections colorsys "
    "compileall concurrent configparser contextlib contextvars copy "
    "copyreg crypt csv ctypes curses dataclasses datetime dbm decimal "
    "difflib dis distutils doctest email encodings ensurepip enum errno "
    "faulthandler fcntl filecmp fileinput fnmatch fractions ftplib "
    "functools gc genericpath getopt getpass gettext glob graphlib grp "
    "gzip hashlib heapq hmac html http imaplib imghdr imp importlib "
    "inspect io ipaddress itertools json keyword linecache locale "
    "logging lzma mailbox mailcap marshal math mimetypes mmap "
    "modulefinder multiprocessing netrc nis nntplib numbers opcode "
    "operator optparse os ossaudiodev pathlib pdb pickle pickletools "
    "pipes pkgutil platform plistlib poplib posix posixpath pprint "
    "profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat "
    "queue quopri random re readline reprlib resource rlcompleter runpy "
    "sched secrets select selectors shelve shlex shutil signal site "
    "smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile "
    "sre_constants sre_parse ssl stat statistics string stringprep "
    "struct subprocess sunau symtable sys sysconfig syslog tabnanny "
    "tarfile telnetlib tempfile termios textwrap threading time timeit "
    "tkinter token tokenize tomllib trace traceback tracemalloc tty "
    "turtle types typing unicodedata unittest urllib uu uuid venv "
    "warnings wave weakref webbrowser wsgiref xdrlib xml xmlrpc zipapp "
    "zipfile zipimport zlib zoneinfo ";

bool IsKnown(std::string_view module) {
  static const std::set<std::string> known =
      absl::StrSplit(AbslView(kModules), ' ', absl::SkipEmpty());
  return known.contains(std::string(module));
}

// The first part of a module's name.
std::string RootOf(absl::string_view module) {
  size_t end = 0;
  while (end < module.size() && IsWordByte(module[end])) ++end;
  return std::string(module.substr(0, end));
}

// All modules that the code imports.
std::set<std::string> ImportsOf(std::string_view code) {
  std::set<std::string> modules;
  for (absl::string_view line : absl::StrSplit(AbslView(code), '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, "from ")) {
      if (line.find(" import ") != absl::string_view::npos) {
        modules.insert(RootOf(line));
      }
    } else if (absl::ConsumePrefix(&line, "import ")) {
      for (const absl::string_view one : absl::StrSplit(line, ',')) {
        modules.insert(RootOf(absl::StripAsciiWhitespace(one)));
      }
    }
  }
  modules.erase("");
  return modules;
}

// The names in `libs`: a JSON list, or a Python list as text.
std::set<std::string> LibsOf(const json& fields) {
  std::set<std::string> libs;
  const auto it = fields.find("libs");
  if (it == fields.end()) return libs;
  if (it->is_array()) {
    for (const json& lib : *it) {
      if (lib.is_string()) libs.insert(lib.get<std::string>());
    }
  } else if (it->is_string()) {
    const std::string text = it->get<std::string>();
    for (const absl::string_view part : absl::StrSplit(
             text, absl::ByAnyChar("[]'\", \n"), absl::SkipEmpty())) {
      libs.emplace(part);
    }
  }
  return libs;
}

bool HoldsAny(const std::string& text,
              std::initializer_list<std::string_view> signs) {
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string::npos;
  });
}

// Problems whose tests pass their own functions, classes or open files to the
// program. Their text does not reveal it, so they are listed by number.
constexpr std::string_view kHandingObjects[] = {"466", "566", "569", "570",
                                                "1090"};

// Why the tests cannot be run here; "" if they can.
std::string WhyNot(const json& fields, const std::string& head,
                   const std::string& solution, const std::string& test) {
  std::set<std::string> modules = LibsOf(fields);
  modules.merge(ImportsOf(head));
  modules.merge(ImportsOf(test));
  std::vector<std::string> beyond;
  for (const std::string& module : modules) {
    if (!IsKnown(module)) beyond.push_back(module);
  }
  if (!beyond.empty()) {
    return absl::StrCat("the problem needs ", absl::StrJoin(beyond, ", "),
                        ", and programs are run with the standard library and "
                        "numpy only");
  }
  for (const char* module :
       {"subprocess", "multiprocessing", "socket", "socketserver", "ssl",
        "smtplib", "ftplib", "poplib", "imaplib", "nntplib", "telnetlib",
        "pty"}) {
    if (!modules.contains(module)) continue;
    return absl::StrCat("the problem needs ", module,
                        ", and programs have no network and start no "
                        "processes");
  }
  if (HoldsAny(absl::StrCat(head, solution, test),
               {"os.popen", "os.system", "os.fork", "os.exec", "os.spawn",
                "ProcessPoolExecutor", "urlopen", "http.client"})) {
    return "programs have no network and start no processes";
  }
  if (HoldsAny(test, {"mock", "patch("})) {
    return "the tests patch names of the program, which runs in a process of "
           "its own";
  }
  if (HoldsAny(test, {"pickle", "shelve", "marshal", "eval(", "exec(",
                      "__import__"})) {
    return "the tests run what the program gives them";
  }
  if (HoldsAny(test, {"redirect_stdout", "sys.stdout", "assertLogs",
                      "assertWarns", "catch_warnings"})) {
    return "the tests catch what the program prints, logs or warns of, which "
           "runs in a process of its own";
  }
  if (HoldsAny(test, {"sys.path"})) {
    return "the tests look at sys.path of the program, which runs in a "
           "process of its own";
  }
  const std::string program = absl::StrCat(head, solution);
  const bool draws = HoldsAny(program, {"random.", "from random import"}) &&
                     !HoldsAny(program, {"seed("});
  if (draws && HoldsAny(test, {"random.seed("})) {
    return "the tests seed the program's random numbers, which runs in a "
           "process of its own";
  }
  const auto id = fields.find("task_id");
  for (const std::string_view number : kHandingObjects) {
    if (id == fields.end() || !id->is_string()) break;
    if (id->get<std::string>() !=
        absl::StrCat("BigCodeBench/", AbslView(number)))
      continue;
    return "the tests hand the program functions or objects of their own, "
           "which cannot leave their process";
  }
  return "";
}

// Runs the class, and reports the first failure.
constexpr char kRunClass[] = R"py(
def run_class():
    import unittest
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(TestCases).run(result)
    assert result.testsRun > len(result.skipped), "the class has no tests"
    for test, trace in result.failures + result.errors:
        line = trace.strip().splitlines()[-1]
        raise AssertionError(test.id().rpartition(".")[2] + ": " + line)

run_class()
)py";

}  // namespace

absl::StatusOr<CodeProblem> ReadBigCodeBench(const json& fields) {
  CodeProblem problem;
  ESP_ASSIGN_OR_RETURN(problem.prompt, TextColumn(fields, "prompt", true));
  ESP_ASSIGN_OR_RETURN(const std::string head,
                       TextColumn(fields, "code_prompt", true));
  ESP_ASSIGN_OR_RETURN(problem.solution,
                       TextColumn(fields, "canonical_solution", false));
  ESP_ASSIGN_OR_RETURN(const std::string entry,
                       NameColumn(fields, "entry_point"));
  ESP_ASSIGN_OR_RETURN(const std::string test,
                       TextColumn(fields, "test", true));
  if (test.find("class TestCases") == std::string::npos) {
    return WrongColumn("test", "a class TestCases of unittest");
  }
  const std::string why = WhyNot(fields, head, problem.solution, test);
  if (!why.empty()) return absl::InvalidArgumentError(why);
  const bool begins =
      problem.prompt.find("def " + entry + "(") != std::string::npos &&
      HasColumn(fields, "complete_prompt") &&
      fields["complete_prompt"] == fields["prompt"];
  problem.style = begins ? CodeStyle::kHumanEval : CodeStyle::kMbpp;
  if (!begins && !problem.solution.empty()) {
    problem.solution = absl::StrCat(head, problem.solution);
  }
  problem.names = {entry};
  // As the published evaluator does.
  problem.given_code = "import os, sys\nfrom os import environ\n";
  problem.before = absl::StrCat(head, "\n    pass\n");
  problem.tests = {absl::StrCat(test, "\n", kRunClass)};
  return problem;
}

}  // namespace espalier
