// The espalier program: one file a subcommand, this one chooses among them.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "src/base/text.h"
#include "src/base/version.h"
#include "tools/espalier/command.h"

namespace {

struct Command {
  const char* name;
  const char* summary;
  espalier::AddCommand add;
  CLI::App* app = nullptr;
  espalier::RunFunction run = {};
};

}  // namespace

namespace {

// Training needs LibTorch, and lives in a program of its own beside this one.
int StartLearn(char** argv) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string learn = (program.parent_path() / "espalier-learn").string();
  argv[0] = const_cast<char*>("espalier-learn");
  execv(learn.c_str(), argv);
  std::fprintf(stderr,
               "espalier %s: %s cannot be started (%s); it is built where "
               "LibTorch is found\n",
               argv[1], learn.c_str(), std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* name : {"train", "self-train"}) {
    if (argc > 1 && std::string(argv[1]) == name) return StartLearn(argv);
  }
  CLI::App app(
      "Espalier makes language models reason by search.\n\n"
      "  espalier solve \"Ann has 23 shells. She finds 48 more. How many "
      "shells does Ann have?\"\n"
      "  espalier eval --set stories:hard --methods majority,beam "
      "--budget-tokens 300,600\n");
  app.set_version_flag("--version", espalier::VersionText());
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  Command commands[] = {
      {"solve", "Answer a question by search", &espalier::AddSolve},
      {"eval", "Compare methods at equal token budgets on a problem set",
       &espalier::AddEval},
      {"generate", "Search a problem set and record every search",
       &espalier::AddGenerate},
      {"complete", "Sample continuations of a text", &espalier::AddComplete},
      {"score", "Log-probability of every token of a text, and perplexity",
       &espalier::AddScore},
      {"export", "Write training sets from recorded searches",
       &espalier::AddExport},
      {"replay", "Grow recorded searches again and compare",
       &espalier::AddReplay},
      {"db", "Look into a run database: info, sql, prune, upgrade",
       &espalier::AddDb},
      // Listed here; espalier-learn has its options.
      {"train", "Train a policy or a reward model on recorded searches",
       [](CLI::App&, espalier::RunFunction&) {}},
      {"self-train", "Rounds of search, training and a gate",
       [](CLI::App&, espalier::RunFunction&) {}},
      {"report", "Draw what trainings did: losses, other metrics, rounds",
       &espalier::AddReport},
      {"steps", "Measure next steps and the reward model's verdicts on them",
       &espalier::AddSteps},
      {"problems", "Print problems of a set", &espalier::AddProblems},
      {"tokenize", "Text to token ids and back, with a checkpoint's tokenizer",
       &espalier::AddTokenize},
      {"methods", "List search methods and their options",
       &espalier::AddMethods},
      {"doctor", "Check this machine and say what to mend",
       &espalier::AddDoctor},
  };
  for (Command& command : commands) {
    command.app = app.add_subcommand(command.name, command.summary);
    command.add(*command.app, command.run);
  }
  if (argc > 1 && argv[1][0] != '-') {
    std::vector<std::string> names;
    for (const Command& command : commands) names.push_back(command.name);
    if (std::find(names.begin(), names.end(), argv[1]) == names.end()) {
      std::fprintf(stderr, "espalier: %s\n",
                   espalier::UnknownName("command", argv[1], names).c_str());
      return 2;
    }
  }
  CLI11_PARSE(app, argc, argv);
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    absl::Status status;
    try {
      status = command.run();
    } catch (const std::exception& e) {
      status = absl::InternalError(e.what());
    }
    if (status.ok()) return 0;
    std::fprintf(stderr, "espalier %s: %s\n", command.name,
                 std::string(status.message()).c_str());
    return absl::IsCancelled(status) ? 130 : 1;
  }
  return 0;
}
