// Shared parts of the program's subcommands.
#ifndef ESPALIER_TOOLS_ESPALIER_COMMAND_H_
#define ESPALIER_TOOLS_ESPALIER_COMMAND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/error_list.h"
#include "base/interrupt.h"
#include "espalier/scores.h"
#include "espalier/search_options.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

class Engine;
struct EngineOptions;
struct EngineStats;

// A subcommand declares its options on `app` and sets `run`, which main calls
// if the subcommand was chosen; its status decides the exit code.
using RunFunction = std::function<absl::Status()>;

// WithExitCode: attaches the program's exit code to `error`. Without one an
// error gives 1, and a cancelled run 130.
absl::Status WithExitCode(absl::Status error, int code);
int ExitCodeOf(const absl::Status& status);
// `error` about wrong flags, with exit code 2. OK stays OK.
absl::Status UsageError(absl::Status error);
// `error` of reading the file that `flag` names, with the flag and what the
// file should be. OK and errors of its content (InvalidArgument) stay as they
// are.
absl::Status FileFlagError(std::string_view flag, std::string_view expected,
                           const absl::Status& error);

// Collects all errors in a command's flags: exit code 2 if a flag itself is
// wrong, 1 if only a file named by one is.
class FlagErrors {
 public:
  void Add(const absl::Status& wrong_flag);
  void Add(std::string wrong_flag);
  // Keeps the error's own exit code.
  void AddAsIs(const absl::Status& error);
  absl::Status Status() const;

 private:
  ErrorList errors_;
  int code_ = 0;
};

using AddCommand = void (*)(CLI::App& app, RunFunction& run);

void AddSolve(CLI::App& app, RunFunction& run);
void AddServe(CLI::App& app, RunFunction& run);
void AddEval(CLI::App& app, RunFunction& run);
void AddGenerate(CLI::App& app, RunFunction& run);
void AddExport(CLI::App& app, RunFunction& run);
void AddComplete(CLI::App& app, RunFunction& run);
void AddScore(CLI::App& app, RunFunction& run);
void AddReplay(CLI::App& app, RunFunction& run);
void AddDb(CLI::App& app, RunFunction& run);
void AddReport(CLI::App& app, RunFunction& run);
void AddSteps(CLI::App& app, RunFunction& run);
void AddProblems(CLI::App& app, RunFunction& run);
void AddTokenize(CLI::App& app, RunFunction& run);
void AddMethods(CLI::App& app, RunFunction& run);
void AddGrade(CLI::App& app, RunFunction& run);
void AddBench(CLI::App& app, RunFunction& run);
void AddBenchReward(CLI::App& app, RunFunction& run);
void AddCalibrate(CLI::App& app, RunFunction& run);
void AddDoctor(CLI::App& app, RunFunction& run);

// What FileFlagError expects of a method's file.
inline constexpr std::string_view kMethodFile =
    "a method file with a line like  name: \"beam\"";

// --search (or --method) and --preset, which exclude each other. Both set
// `method`, as text for ReadMethodFile (search/presets.h).
void AddMethodFlags(CLI::App& app, std::string& method,
                    const std::string& help);

// Device and memory flags of every command that loads a model.
struct MachineFlags {
  std::string device = "cpu";
  int threads = 0;
  int kv_mib = 2048;
  std::string weights = "auto";
  std::string drafts = "on";
};
void AddMachineFlags(CLI::App& app, MachineFlags& flags);

// Flags of every command that may ask servers.
struct ServerFlags {
  int attempts = 10;
  double timeout = 600;  // seconds
};
void AddServerFlags(CLI::App& app, ServerFlags& flags);
// What the models did, as a command's JSON shows it: tokens_computed,
// tokens_needed, tokens_drafted and drafts_accepted (EngineStats),
// texts_encoded and texts_missed of servers that return texts, server_weights
// where told.
nlohmann::json WorkJson(const EngineStats& stats);
// Tokens computed and needed as a line, if servers computed them, and what
// became of drafts as a line, if there were any.
std::string WorkText(const EngineStats& stats);
// Says on stderr what a user of servers should know.
void PrintServerNotice(const std::string& what);

// Options of every command that searches.
struct ModelFlags : MachineFlags {
  std::string model;
  std::string tokenizer;  // of a model behind a server
  std::string reward_model;
  std::string reward_tokenizer;  // of a reward model behind a server
  std::string reward_format;     // "": as the folder shows
  std::string reference_model;
  std::string calibration;  // a file, "none", or "": as the folder has it
  std::vector<std::string> more_models;
  int live = 32;
  int speculate = 0;
  ServerFlags server;
};

// Refuses text that is neither a server's URL nor the name of a file but looks
// like a URL, e.g. "ftp://..." and ",http://...".
CLI::Validator ModelPlace();

void AddModelFlags(CLI::App& app, ModelFlags& flags);
void AddReferenceFlag(CLI::App& app, std::string& reference);
void AddCalibrationFlag(CLI::App& app, std::string& calibration);
// Checks that the reward format exists, and the calibration if one is named; a
// UsageError, except for a file that is missing or broken.
absl::Status CheckRewardFormat(const ModelFlags& flags);
// FailedPrecondition, which names `flag`, unless a reward model that gives
// `levels` has scores of `level`.
absl::Status CheckLevel(std::string_view flag, Level level, LevelSet levels);
// CheckSearch (espalier/engine.h) with the models of `flags`; its messages name
// flags and commands.
absl::Status CheckSearchFlags(const SearchOptions& search, bool graded,
                              const ModelFlags& flags);

// --prompt and --template, of every command that asks questions.
struct PromptFlags {
  std::string prompt;         // a shipped one or a file; "": the task's wording
  std::string chat_template;  // overrides the prompt's; "": the prompt's
};
void AddPromptFlags(CLI::App& app, PromptFlags& flags);
// Checks that prompt and template exist; a UsageError, except for a file that
// is missing or broken.
absl::Status CheckPromptFlags(const PromptFlags& flags);
// Checks that the task exists; "" is the set's own.
absl::Status CheckTaskFlag(const std::string& task);
// The flags' prompt resolved for a checkpoint, as PromptText; "" if none is
// named.
absl::StatusOr<std::string> ResolvePromptText(const PromptFlags& flags,
                                              const std::string& checkpoint);

// Budgets of a search other than tokens, its stops, and filters of samples; for
// every command that searches. `measures`: it measures the length of responses
// (MeasureResponseTokens).
void AddBudgetFlags(CLI::App& app, SearchOptions& search, bool measures = true);

// --max-seconds of a search, for every command that has one. `mark`: how the
// help says that such a search is marked. --seconds, its name in earlier
// versions, is read with a notice.
void AddSecondsFlag(CLI::App& app, double& seconds,
                    const std::string& mark = "record that it was cut short");

// --verifier-reward, for every command that searches.
void AddVerifierReward(CLI::App& app, bool& flag);

// The folder of shipped models: $ESPALIER_ZOO, else models/zoo next to the
// program, in its source tree, or below the current folder.
absl::StatusOr<std::string> ZooFolder();
// The models of a command that searches. Immutable.
class ResolvedModels {
 public:
  ResolvedModels() = default;
  explicit ResolvedModels(const EngineOptions& options);
  const std::string& policy() const;  // its checkpoint's folder
  const EngineOptions& options() const { return *options_; }
  absl::StatusOr<std::unique_ptr<Engine>> Load() const;

 private:
  std::shared_ptr<const EngineOptions> options_;
};
// How models run, and the reward model that flags name.
EngineOptions RewardModelOf(const ModelFlags& flags);
// The models that answer a task: flags.model, else the shipped model of the
// task. `code_if_unshipped`: the exit code where there is none.
absl::StatusOr<ResolvedModels> ResolveModels(const ModelFlags& flags,
                                             const std::string& task,
                                             int code_if_unshipped = 1);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_COMMAND_H_
