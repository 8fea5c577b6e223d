#include "tools/espalier/commands.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "base/version.h"
#include "tools/espalier/command.h"
#include "tools/espalier/command_line.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

struct Command {
  const char* name;
  const char* summary;
  AddCommand add;
  CLI::App* app = nullptr;
  RunFunction run = {};
};

// Lists each command in one line; its own --help says the rest.
class OneLineEach : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* command) const override {
    const std::string& text = command->get_description();
    std::string line = text.substr(0, text.find('\n'));
    if (line.ends_with('.')) line.pop_back();
    std::stringstream out;
    CLI::detail::format_help(out, command->get_name(), line, column_width_);
    return out.str();
  }
};

}  // namespace

int RunCommands(int argc, char** argv) {
  CLI::App app(
      "Espalier makes language models reason by search.\n\n"
      "  espalier solve \"Ann has 23 shells. She finds 48 more. How many "
      "shells does Ann have?\"\n"
      "  espalier eval --set stories:hard --methods majority,beam "
      "--budget-tokens 300,600\n",
      "espalier");
  app.formatter(std::make_shared<OneLineEach>());
  app.set_version_flag("--version", VersionText());
  app.require_subcommand(1);
  Command commands[] = {
      {"solve", "Answer a question by search", &AddSolve},
      {"serve", "Answer requests of the OpenAI API by search", &AddServe},
      {"eval", "Compare methods at equal token budgets on a problem set",
       &AddEval},
      {"generate", "Search a problem set and record every search",
       &AddGenerate},
      {"complete", "Sample continuations of a text", &AddComplete},
      {"score",
       "Print the log-prob of every token of a text, and its perplexity",
       &AddScore},
      {"export", "Write training sets from recorded searches", &AddExport},
      {"replay", "Rerun recorded searches from their logs and compare",
       &AddReplay},
      {"db", "Inspect and change run databases and queues", &AddDb},
      // Only listed here; espalier-learn has its options.
      {"train", "Train a policy or a reward model on recorded searches",
       [](CLI::App&, RunFunction&) {}},
      {"self-train", "Rounds of search, training and a gate",
       [](CLI::App&, RunFunction&) {}},
      {"report", "Plot training runs: losses, other metrics, rounds",
       &AddReport},
      {"steps",
       "Measure sampled next steps and the reward model's scores of them",
       &AddSteps},
      {"bench-reward",
       "Measure a reward model on ProcessBench, PRMBench or recorded samples",
       &AddBenchReward},
      {"calibrate",
       "Fit the curve that maps a reward model's scores to probabilities",
       &AddCalibrate},
      {"problems", "Print problems of a set", &AddProblems},
      {"grade", "Grade answers: mathematics, and programs against tests",
       &AddGrade},
      {"tokenize",
       "Convert text to token ids and back with a checkpoint's tokenizer",
       &AddTokenize},
      {"methods", "List search methods and their options", &AddMethods},
      {"bench", "Print hashes of every method's decisions in a fixed world",
       &AddBench},
      {"doctor", "Check this machine and say how to fix problems", &AddDoctor},
  };
  for (Command& command : commands) {
    command.app = app.add_subcommand(command.name, command.summary);
    command.add(*command.app, command.run);
    CheckNumbers(*command.app);
  }
  if (argc > 1 && argv[1][0] != '-') {
    std::vector<std::string> names;
    for (const Command& command : commands) names.push_back(command.name);
    if (std::find(names.begin(), names.end(), argv[1]) == names.end()) {
      std::fprintf(stderr, "espalier: %s\n",
                   Printable(UnknownName("command", argv[1], names)).c_str());
      return 2;
    }
  }
  try {
    app.parse(Arguments(argc, argv));
  } catch (const CLI::ParseError& error) {
    // Help and version are not errors; wrong usage exits with 2, as elsewhere.
    if (const int code = EndParse(app, error); code != 0) return code;
    const bool version = error.get_name() == "CallForVersion";
    return EndCommand(version ? "espalier --version" : "espalier --help", {});
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    absl::Status status = CheckCommandLine(*command.app);
    try {
      if (status.ok()) status = command.run();
    } catch (const std::exception& e) {
      status = absl::InternalError(e.what());
    }
    return EndCommand(absl::StrCat("espalier ", command.name), status);
  }
  return 0;
}

}  // namespace espalier
