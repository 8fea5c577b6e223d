#include "tools/espalier/command.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "models/prompt/chat_template.h"
#include "models/remote/endpoint.h"
#include "models/reward/reward_format.h"
#include "models/trunk/load_trunk.h"
#include "nlohmann/json.hpp"
#include "search/stop.h"
#include "search/tree/score_rule.h"
#include "src/engine/load_calibration.h"
#include "src/engine/prompt.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

constexpr char kExitCode[] = "espalier/exit-code";
constexpr int kUsageExitCode = 2;

void AddDeviceFlag(CLI::App& app, std::string& device) {
  app.add_option(
         "--device", device,
         "Device for models: cpu, cuda (the first GPU), cuda:N, or torch-cpu "
         "(the CUDA code path, run on the CPU); all but cpu use LibTorch")
      ->capture_default_str()
      ->check(CLI::Validator(
          [](const std::string& text) {
            return std::string(ParseDevice(text).status().message());
          },
          "DEVICE"));
}

void AddWeightsFlag(CLI::App& app, std::string& weights) {
  app.add_option(
         "--weights", weights,
         "Format of weights in memory: auto (as stored; fp16 and quantised "
         "ones as bf16), fp32, bf16, int8 (half the memory of bf16, twice its "
         "speed at decoding a single text; cpu only), int4 (half the memory of "
         "int8, less precise; cpu only)")
      ->capture_default_str()
      ->check(OneOf({"auto", "fp32", "bf16", "int8", "int4"}));
}

namespace fs = std::filesystem;

}  // namespace

void AddMethodFlags(CLI::App& app, std::string& method,
                    const std::string& help) {
  CLI::Option* search =
      app.add_option("--search,--method", method, help)->capture_default_str();
  app.add_option_function<std::string>(
         "--preset",
         [&method](const std::string& name) {
           method = absl::StrCat("preset=", name);
         },
         "A published system by name, e.g. rest_mcts_star, with your own "
         "options after colons; espalier methods lists them")
      ->excludes(search);
}

CLI::Validator ModelPlace() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        // ForeignName knows what to do about addresses of the Hugging Face hub.
        const bool url = absl::StrContains(text, "://") ||
                         absl::StartsWithIgnoreCase(text, "http:") ||
                         absl::StartsWithIgnoreCase(text, "https:");
        std::error_code error;
        if (!url || IsRemoteModel(text) || text.starts_with("hf://") ||
            fs::exists(text, error)) {
          return "";
        }
        return absl::StrCat(
            text,
            ": this form of URL is not understood; expected a server as "
            "http://HOST[:PORT][/PATH] or https://..., several separated by "
            "commas, or a folder or a GGUF file on this machine");
      },
      "");
}

void AddModelFlags(CLI::App& app, ModelFlags& flags) {
  app.add_option("--model", flags.model,
                 "Checkpoint: a Hugging Face folder or a GGUF file; or a model "
                 "behind llama-server, vLLM or SGLang, as URL or URL#NAME, "
                 "several servers of one model separated by commas "
                 "(docs/guide/servers.md). Default: the model shipped for the "
                 "task; there is one for stories, and one for countdown, which "
                 "can also play game24 (--task countdown)")
      ->check(ModelPlace());
  app.add_option("--tokenizer", flags.tokenizer,
                 "Folder or GGUF file with the tokenizer of a --model behind a "
                 "server");
  app.add_option(
         "--reward-model", flags.reward_model,
         "Checkpoint folder with Espalier's reward heads, or a published "
         "reward model (docs/guide/reward-models.md), whatever its tokenizer. "
         "Default: the one shipped with a shipped model, otherwise the heads "
         "of --model. One behind a server, as URL or URL#NAME, needs "
         "--reward-format")
      ->check(ModelPlace());
  app.add_option("--reward-tokenizer", flags.reward_tokenizer,
                 "Folder or GGUF file with the tokenizer of a --reward-model "
                 "behind a server. Default: that of --tokenizer");
  app.add_option("--reward-format", flags.reward_format,
                 "How --reward-model is read: a shipped format (espalier "
                 "doctor --reward-formats lists them) or a file "
                 "NAME.textproto; NAME:votes=8 averages 8 verdicts per step of "
                 "a model that writes them. Default: recognised from its "
                 "folder")
      ->needs("--reward-model");
  AddReferenceFlag(app, flags.reference_model);
  AddCalibrationFlag(app, flags.calibration);
  app.add_option("--more-models", flags.more_models,
                 "Up to three further generating checkpoints with the "
                 "tokenizer of --model, comma-separated; for methods that "
                 "choose among several models, e.g. ab_mcts_a:models=2")
      ->delimiter(',')
      ->expected(1, 3);
  app.add_option("--live", flags.live, "Concurrent searches")
      ->capture_default_str()
      ->check(WholeFrom(1, 65536));
  app.add_option("--speculate", flags.speculate,
                 "While the scores of new steps are under way, sample what "
                 "follows the likeliest ones, this many at a time: a search "
                 "behind slow servers waits less, for more tokens. Trees and "
                 "answers stay the same; 0: off")
      ->capture_default_str()
      ->check(WholeFrom(0, 65536));
  AddServerFlags(app, flags.server);
  AddMachineFlags(app, flags);
}

void AddServerFlags(CLI::App& app, ServerFlags& flags) {
  app.add_option("--server-attempts", flags.attempts,
                 "How often a request to a server is tried before the program "
                 "gives up")
      ->capture_default_str()
      ->check(WholeFrom(1, 1000));
  app.add_option("--server-timeout", flags.timeout,
                 "Seconds that a request waits for a byte of the server's "
                 "reply before it is tried again")
      ->capture_default_str()
      ->check(RealFrom(0.1, 86400));
}

nlohmann::json WorkJson(const EngineStats& stats) {
  nlohmann::json json = {{"tokens_computed", stats.tokens_computed},
                         {"tokens_needed", stats.tokens_needed},
                         {"tokens_drafted", stats.tokens_drafted},
                         {"drafts_accepted", stats.drafts_accepted}};
  if (stats.texts_encoded > 0) {
    json["texts_encoded"] = stats.texts_encoded;
    json["texts_missed"] = stats.texts_missed;
  }
  if (!stats.server_weights.empty()) {
    json["server_weights"] = stats.server_weights;
  }
  return json;
}

std::string WorkText(const EngineStats& stats) {
  std::string text;
  if (stats.asks_servers && stats.tokens_needed > 0) {
    text = absl::StrFormat("tokens computed / needed: %d / %d (%.2f)\n",
                           stats.tokens_computed, stats.tokens_needed,
                           static_cast<double>(stats.tokens_computed) /
                               static_cast<double>(stats.tokens_needed));
  }
  if (stats.tokens_drafted > 0) {
    absl::StrAppendFormat(&text, "drafts accepted: %d of %d tokens (%.2f)\n",
                          stats.drafts_accepted, stats.tokens_drafted,
                          static_cast<double>(stats.drafts_accepted) /
                              static_cast<double>(stats.tokens_drafted));
  }
  return text;
}

void PrintServerNotice(const std::string& what) {
  std::fprintf(stderr, "note: %s\n", Printable(what).c_str());
}

// After --reward-model.
void AddReferenceFlag(CLI::App& app, std::string& reference) {
  app.add_option("--reference-model", reference,
                 "Checkpoint folder that --reward-model was trained from, with "
                 "its tokenizer; for reward formats that compare the two")
      ->needs("--reward-model");
}

void AddCalibrationFlag(CLI::App& app, std::string& calibration) {
  app.add_option("--calibration", calibration,
                 "File written by espalier calibrate, which maps the reward "
                 "model's scores to probabilities; none: scores as they are. "
                 "Default: calibration.textproto in the reward model's folder, "
                 "if there is one");
}

absl::Status CheckSearchFlags(const SearchOptions& search, bool graded,
                              const ModelFlags& flags) {
  const int models = 1 + static_cast<int>(flags.more_models.size());
  const absl::Status status = CheckSearch(search, graded, models);
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrReplaceAll(
          status.message(),
          {{"in EngineOptions::more_policies", "with --more-models"},
           {"in a run that records (RunHooks::grade)",
            "(espalier generate)"}}));
}

void AddMachineFlags(CLI::App& app, MachineFlags& flags) {
  AddDeviceFlag(app, flags.device);
  app.add_option("--threads", flags.threads, "Threads; 0: one per core")
      ->capture_default_str()
      ->check(WholeFrom(0, 1024));
  app.add_option("--kv-mib", flags.kv_mib, "KV cache of each model, in MiB")
      ->capture_default_str()
      ->check(WholeFrom(1, 1 << 24));
  AddWeightsFlag(app, flags.weights);
  app.add_option("--drafts", flags.drafts,
                 "on: guess the next tokens from texts seen before and run "
                 "them in the same batch, on the CPU; trees and answers stay "
                 "the same. off: one token per sample and batch")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
}

void AddPromptFlags(CLI::App& app, PromptFlags& flags) {
  std::string names;
  for (const PresetFile& file : PromptFiles()) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", AbslView(file.name));
  }
  CLI::Option* prompt = app.add_option(
      "--prompt", flags.prompt,
      "How questions are prompted and answers extracted: " + names +
          ", or a file NAME.textproto (docs/prompts.md). Default: the task's "
          "own prompt");
  app.add_option("--template", flags.chat_template,
                 "Chat template instead of the prompt's: auto (the "
                 "checkpoint's own), " +
                     absl::StrJoin(ChatTemplate::Names(), ", "))
      ->needs(prompt);
}

absl::Status CheckPromptFlags(const PromptFlags& flags) {
  if (!flags.prompt.empty()) {
    const absl::Status read = ReadPrompt(flags.prompt).status();
    const bool file = flags.prompt.ends_with(".textproto");
    if (!read.ok()) return file ? read : UsageError(read);
  }
  if (flags.chat_template.empty() || flags.chat_template == "auto") {
    return absl::OkStatus();
  }
  return UsageError(ChatTemplate::Named(flags.chat_template).status());
}

absl::Status CheckRewardFormat(const ModelFlags& flags) {
  if (!flags.calibration.empty()) {
    const absl::Status found =
        FindCalibration({.calibration = flags.calibration}).status();
    ESP_RETURN_IF_ERROR(FileFlagError(
        "--calibration", "a file of espalier calibrate, or none", found));
  }
  if (flags.reward_format.empty()) return absl::OkStatus();
  const absl::Status read = ReadRewardFormat(flags.reward_format).status();
  return flags.reward_format.ends_with(".textproto") ? read : UsageError(read);
}

absl::Status CheckLevel(std::string_view flag, Level level, LevelSet levels) {
  if (MissingLevels({.level = level}, {}, levels).empty()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      AbslView(flag), " ", AbslView(kLevelNames[IndexOf(level)]),
      ": the reward model gives no such scores, but ", LevelNames(levels)));
}

absl::Status CheckTaskFlag(const std::string& task) {
  return task.empty() ? absl::OkStatus() : FindTask(task).status();
}

absl::StatusOr<std::string> ResolvePromptText(const PromptFlags& flags,
                                              const std::string& checkpoint) {
  if (flags.prompt.empty()) return std::string();
  ESP_ASSIGN_OR_RETURN(Prompt prompt, ReadPrompt(flags.prompt));
  if (!flags.chat_template.empty()) {
    prompt.template_name = flags.chat_template;
  }
  ESP_RETURN_IF_ERROR(ResolvePrompt(checkpoint, prompt));
  return PromptText(prompt);
}

void AddSecondsFlag(CLI::App& app, double& seconds, const std::string& mark) {
  CLI::Option* named =
      app.add_option("--max-seconds", seconds,
                     absl::StrCat("End a search after this many seconds and ",
                                  mark, "; 0: no limit"))
          ->capture_default_str()
          ->check(RealFrom(0));
  app.add_option_function<double>(
         "--seconds",
         [&seconds](const double& given) {
           seconds = given;
           std::fprintf(stderr,
                        "--seconds is now called --max-seconds; the old name "
                        "will go\n");
         },
         "The old name of --max-seconds")
      ->check(RealFrom(0))
      ->excludes(named);
}

void AddBudgetFlags(CLI::App& app, SearchOptions& search, bool measures) {
  app.add_option("--budget-model-calls", search.max_model_calls,
                 "Model requests per search; 0: no limit")
      ->capture_default_str()
      ->check(WholeFrom(0));
  app.add_option("--budget-simulations", search.max_simulations,
                 "Simulations or samples per search; 0: no limit")
      ->capture_default_str()
      ->check(WholeFrom(0));
  app.add_option("--budget-nodes", search.max_nodes,
                 "Tree nodes per search; 0: no limit")
      ->capture_default_str()
      ->check(WholeFrom(0));
  app.add_option("--budget-bytes", search.max_bytes,
                 "Tree size in bytes, e.g. 64k, 10M or 1G; 0: no limit")
      ->capture_default_str()
      ->transform(ByteSize())
      ->check(WholeFrom(0));
  app.add_option("--budget-verdict-tokens", search.max_verdict_tokens,
                 "Tokens per search that a reward model may write as verdicts; "
                 "0: no limit")
      ->capture_default_str()
      ->check(WholeFrom(0));
  app.add_option(
         "--response-tokens", search.response_tokens,
         absl::StrCat("Approximate tokens of one response, reserved to finish "
                      "one if a search has no answer. 0: ",
                      measures ? "measured on the first problems, or where "
                                 "that fails "
                               : "",
                      "a quarter of the budget"))
      ->capture_default_str()
      ->check(WholeFrom(0));
  app.add_option("--top-k", search.top_k,
                 "Sample from the k most likely tokens; 0: from all")
      ->capture_default_str()
      ->check(WholeFrom(0, kMostInt));
  app.add_option("--top-p", search.top_p,
                 "Sample from the most likely tokens that reach this total "
                 "probability; 1: from all")
      ->capture_default_str()
      ->check(RealAbove(0, 1));
  app.add_option("--min-p", search.min_p,
                 "Sample from tokens with at least this probability relative "
                 "to the most likely one; 0: from all")
      ->capture_default_str()
      ->check(RealFrom(0, 1));
  app.add_option_function<std::string>(
      "--stop-when",
      [&search](const std::string& text) {
        const absl::Status status = ParseStopWhen(text, &search);
        if (!status.ok()) {
          throw CLI::ValidationError("--stop-when",
                                     std::string(status.message()));
        }
      },
      "End a search once its answer is settled: confidence=0.9 (the method's "
      "own, after responses=4 votes), decided (no further vote can change it), "
      "kl=1e-5 (the root's visits move by less per simulation, over "
      "interval=16); comma-separated");
}

void AddVerifierReward(CLI::App& app, bool& flag) {
  app.add_flag("--verifier-reward", flag,
               "Score responses with the verifier that reads only the question "
               "(puzzle rules, public tests): 1 if it accepts, otherwise 0; "
               "for methods that judge whole responses")
      ->excludes("--reward-model");
}

absl::StatusOr<std::string> ZooFolder() {
  std::vector<fs::path> places;
  if (const char* named = std::getenv("ESPALIER_ZOO")) places.push_back(named);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path folder = program.parent_path();
    places.push_back(folder / "models/zoo");
    places.push_back(folder / "../models/zoo");
    places.push_back(folder / "../share/espalier/models/zoo");
  }
  places.push_back("models/zoo");
  std::string tried;
  for (const fs::path& place : places) {
    if (fs::is_directory(place, error)) {
      return fs::weakly_canonical(place, error).string();
    }
    absl::StrAppend(&tried, tried.empty() ? "" : ", ", place.string());
  }
  return absl::NotFoundError(
      absl::StrCat("the shipped models were not found (looked in ", tried,
                   "); set ESPALIER_ZOO to the folder models/zoo, or name a "
                   "checkpoint with --model"));
}

absl::Status WithExitCode(absl::Status error, int code) {
  error.SetPayload(kExitCode, absl::Cord(absl::StrCat(code)));
  return error;
}

absl::Status UsageError(absl::Status error) {
  return error.ok() ? error : WithExitCode(std::move(error), kUsageExitCode);
}

absl::Status FileFlagError(std::string_view flag, std::string_view expected,
                           const absl::Status& error) {
  if (error.ok() || absl::IsInvalidArgument(error)) return error;
  return absl::Status(error.code(),
                      absl::StrCat(AbslView(flag), ": ", error.message(),
                                   "; expected ", AbslView(expected)));
}

void FlagErrors::Add(const absl::Status& wrong_flag) {
  AddAsIs(UsageError(wrong_flag));
}

void FlagErrors::Add(std::string wrong_flag) {
  Add(absl::InvalidArgumentError(wrong_flag));
}

void FlagErrors::AddAsIs(const absl::Status& error) {
  errors_.Add(error);
  code_ = std::max(code_, ExitCodeOf(error));
}

absl::Status FlagErrors::Status() const {
  absl::Status all = errors_.Status();
  return all.ok() ? all : WithExitCode(std::move(all), code_);
}

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return 0;
  int code = absl::IsCancelled(status) ? 130 : 1;
  if (const auto named = status.GetPayload(kExitCode)) {
    if (!absl::SimpleAtoi(std::string(*named), &code)) code = 1;
  }
  return code;
}

ResolvedModels::ResolvedModels(const EngineOptions& options)
    : options_(std::make_shared<const EngineOptions>(options)) {}

const std::string& ResolvedModels::policy() const { return options_->policy; }

absl::StatusOr<std::unique_ptr<Engine>> ResolvedModels::Load() const {
  return Engine::Create(*options_);
}

EngineOptions RewardModelOf(const ModelFlags& flags) {
  return {.critic = flags.reward_model,
          .reward_tokenizer = flags.reward_tokenizer,
          .reward_format = flags.reward_format,
          .reference = flags.reference_model,
          .calibration = flags.calibration,
          .device = flags.device,
          .threads = flags.threads,
          .live = flags.live,
          .drafts = flags.drafts == "on",
          .kv_bytes = int64_t{flags.kv_mib} << 20,
          .weights = flags.weights,
          .server_attempts = flags.server.attempts,
          .server_timeout = flags.server.timeout,
          .notice = &PrintServerNotice};
}

absl::StatusOr<ResolvedModels> ResolveModels(const ModelFlags& flags,
                                             const std::string& task,
                                             int code_if_unshipped) {
  EngineOptions options = RewardModelOf(flags);
  options.policy = flags.model;
  options.tokenizer = flags.tokenizer;
  options.more_policies = flags.more_models;
  options.speculate = flags.speculate;
  if (options.policy.empty()) {
    ESP_ASSIGN_OR_RETURN(const std::string zoo, ZooFolder());
    std::error_code error;
    options.policy = absl::StrCat(zoo, "/", task);
    if (!fs::is_directory(options.policy, error)) {
      return WithExitCode(
          absl::NotFoundError(absl::StrCat(
              "no model is shipped for task \"", task, "\" (no folder ",
              options.policy, ")",
              task == "game24"
                  ? "\n  remedy: --task countdown asks the shipped "
                    "countdown model, which knows these puzzles"
                  : "",
              "\n  remedy: use a language model (a folder or a GGUF file), "
              "e.g. --model ~/models/Qwen2.5-1.5B-Instruct "
              "(docs/guide/models.md)")),
          code_if_unshipped);
    }
  }
  return ResolvedModels(options);
}

}  // namespace espalier
