#include "src/engine/generate.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/random.h"
#include "base/settings.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "models/checkpoint/trunk_config_json.h"
#include "models/prompt/find_template.h"
#include "models/remote/endpoint.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "src/engine/load_calibration.h"
#include "src/engine/load_model.h"
#include "src/engine/load_reward_model.h"
#include "src/engine/model_place.h"
#include "src/engine/prompted_task.h"
#include "src/engine/search_json.h"
#include "src/engine/search_round.h"
#include "src/engine/verdict_reader.h"
#include "src/engine/verifier_reward.h"
#include "src/trace/replay.h"
#include "src/trace/run_recorder.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// Hash of config.json and all weight files, by name.
absl::StatusOr<std::string> HashFiles(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  if (fs::is_regular_file(folder, error)) {  // GGUF: all in one
    ESP_ASSIGN_OR_RETURN(const uint64_t hash, HashFile(folder));
    return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
  }
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name == "config.json" || name.ends_with(".safetensors")) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  uint64_t hash = 0;
  for (const std::string& name : names) {
    ESP_ASSIGN_OR_RETURN(const uint64_t part, HashFile(folder + "/" + name));
    hash = MixHash(hash, MixHash(StableHash(name), part));
  }
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
}

// `id`: RemoteModelId.
std::string HashOfServed(const std::string& id) {
  return absl::StrCat("server:", absl::Hex(StableHash(id), absl::kZeroPad16));
}

// Includes the weight format: the same files at another precision are another
// model. A model behind a server is known by what the server says of it.
absl::StatusOr<std::string> HashModel(const std::string& folder,
                                      const std::string& weights) {
  if (IsRemoteModel(folder)) {
    // The same model may be served from elsewhere when a run is resumed.
    ESP_ASSIGN_OR_RETURN(const std::string id, RemoteModelId(folder));
    return HashOfServed(id);
  }
  ESP_ASSIGN_OR_RETURN(std::string hash, HashFiles(folder));
  if (weights != "auto") absl::StrAppend(&hash, ":", weights);
  return hash;
}

// The differences between two configurations, as text.
std::string Differences(const RunInfo& wanted, const RunInfo& recorded) {
  std::vector<std::string> lines;
  const auto a = ParseJsonOrNull(wanted.config);
  const auto b = ParseJsonOrNull(recorded.config);
  std::string settings = SettingsDifferences(a, b, "recorded");
  if (!settings.empty()) lines.push_back(std::move(settings));
  const auto compare = [&](const std::string& name, const std::string& now,
                           const std::string& before) {
    if (now != before) {
      lines.push_back(absl::StrCat(name, " is ", now, ", recorded ", before));
    }
  };
  compare("model", wanted.model_hash, recorded.model_hash);
  compare("reward model", wanted.reward_model_hash, recorded.reward_model_hash);
  compare("tokenizer", wanted.tokenizer_hash, recorded.tokenizer_hash);
  return absl::StrJoin(lines, "; ");
}

// Adds the finished search `row` to the totals.
void Count(const SearchRow& row, GenerateTotals& totals) {
  if (row.state == SearchState::kRunning) return;
  ++totals.done;
  totals.tokens += row.tokens;
  totals.failed += row.state == SearchState::kFailed;
  totals.cached += row.cached;
  if (row.cached || !row.correct) return;
  ++totals.graded;
  totals.solved += *row.correct;
}

// The rounds of a run in a database.
class Rounds {
 public:
  Rounds(Engine& engine, RunDb& db, int64_t run_id, const ProblemSet& set,
         const Task& task, const Verifier& verifier,
         const GenerateOptions& options, const GenerateHooks& hooks,
         GenerateTotals& totals)
      : db_(db),
        run_id_(run_id),
        set_(set),
        task_(task),
        options_(options),
        hooks_(hooks),
        totals_(totals),
        engine_(engine),
        verifier_(verifier) {}

  // The searches of `seed` over all problems that have none yet.
  absl::Status Run(uint64_t seed) {
    std::vector<const GradedProblem*> pending;
    std::vector<int64_t> searches;  // of pending
    for (const GradedProblem& graded : set_.problems) {
      ESP_ASSIGN_OR_RETURN(const int64_t problem_id,
                           db_.AddProblem(graded, set_.name, set_.task));
      ESP_ASSIGN_OR_RETURN(const SearchRow row,
                           db_.BeginSearch(run_id_, problem_id, seed));
      ESP_ASSIGN_OR_RETURN(const bool over, IsOver(row, problem_id));
      if (over) continue;
      pending.push_back(&graded);
      searches.push_back(row.search_id);
    }
    SearchRound round(engine_, task_, verifier_, options_, std::move(pending));
    RunRecorder recorder(db_, round.grade());
    for (size_t i = 0; i < searches.size(); ++i) {
      ESP_ASSIGN_OR_RETURN(const std::vector<std::string> responses,
                           db_.Responses(searches[i]));
      ESP_RETURN_IF_ERROR(recorder.Begin(i, searches[i], responses));
    }
    ESP_RETURN_IF_ERROR(db_.Commit());
    return round.Run(seed, recorder, hooks_.stop,
                     [&](size_t i, const SearchResult& result) {
                       AddResult(recorder.correct(i), result, totals_);
                       if (hooks_.progress) hooks_.progress(totals_);
                     });
  }

 private:
  // True if the search has ended already or is answered by a solution now.
  absl::StatusOr<bool> IsOver(const SearchRow& row, int64_t problem_id) {
    if (hooks_.retry_failed && row.state == SearchState::kFailed) {
      ESP_RETURN_IF_ERROR(db_.ReopenSearch(row.search_id));
    } else if (row.state != SearchState::kRunning) {
      Count(row, totals_);
      return true;
    }
    if (!options_.reuse_solutions) return false;
    ESP_ASSIGN_OR_RETURN(const std::optional<Solution> solution,
                         db_.BestSolution(problem_id));
    if (!solution) return false;
    ESP_RETURN_IF_ERROR(db_.FinishFromCache(
        row.search_id, task_.FindAnswer(solution->response).value_or("")));
    Count({.state = SearchState::kDone, .cached = true}, totals_);
    return true;
  }

  RunDb& db_;
  const int64_t run_id_;
  const ProblemSet& set_;
  const Task& task_;
  const GenerateOptions& options_;
  const GenerateHooks& hooks_;
  GenerateTotals& totals_;
  Engine& engine_;
  const Verifier& verifier_;
};

}  // namespace

absl::StatusOr<std::string> HashTokenizer(const std::string& folder) {
  std::error_code error;
  std::string path = folder;
  if (!fs::is_regular_file(folder, error)) {
    for (const char* name : {"tokenizer.json", "tokenizer.model", "vocab.json",
                             "encoder.json", "tokenizer.json"}) {
      path = absl::StrCat(folder, "/", name);
      if (fs::exists(path, error)) break;
    }
  }
  ESP_ASSIGN_OR_RETURN(uint64_t hash, HashFile(path));
  // vocab.json needs the merges file next to it.
  const fs::path file(path);
  if (file.filename() == "vocab.json" || file.filename() == "encoder.json") {
    for (const char* name : {"merges.txt", "vocab.bpe"}) {
      const std::string merges = file.parent_path() / name;
      if (!fs::exists(merges, error)) continue;
      ESP_ASSIGN_OR_RETURN(const uint64_t more, HashFile(merges));
      hash = MixHash(hash, more);
      break;
    }
  }
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
}

namespace {

// A replay has no model that could tell how its verdicts are reserved.
constexpr char kVerdictCostKey[] = "verdict_cost";

// A reward model of a published format reads its own tokens and layout: both
// belong to the run's settings.
absl::Status AddRewardFormat(const EngineOptions& models,
                             nlohmann::json& config, RunInfo& info) {
  if (models.critic.empty() ||
      (models.critic == models.policy && models.reward_format.empty())) {
    return absl::OkStatus();
  }
  ESP_ASSIGN_OR_RETURN(const std::optional<RewardFormat> format,
                       FindRewardFormat(models.critic, models.reward_format));
  ESP_ASSIGN_OR_RETURN(const std::string tokens,
                       HashTokenizer(RewardFolder(models)));
  if (!format) {
    // Espalier's own heads read other tokens if the tokenizer is another.
    if (tokens != info.tokenizer_hash) {
      absl::StrAppend(&info.reward_model_hash, ":", tokens);
    }
    return absl::OkStatus();
  }
  ESP_RETURN_IF_ERROR(CheckReference(*format, models.reference));
  config["reward_format"] = format->text;
  if (format->writes() && config.contains("budget_verdict_tokens")) {
    const VerdictCost cost = VerdictCostOf(*format);
    config[kVerdictCostKey] = {
        {"votes", cost.votes}, {"tokens", cost.tokens}, {"path", cost.path}};
  }
  if (!models.reference.empty()) {
    ESP_ASSIGN_OR_RETURN(const std::string reference,
                         HashModel(models.reference, models.weights));
    config["reference_model"] = reference;
  }
  if (format->chat()) {
    ESP_ASSIGN_OR_RETURN(
        const ChatTemplate chat,
        FindTemplate(RewardFolder(models), format->template_name));
    config["reward_template"] =
        absl::StrCat(chat.name(), ":",
                     chat.source().empty() ? chat.default_system()
                                           : chat.source() + chat.eos());
  }
  absl::StrAppend(&info.reward_model_hash, ":", tokens);
  return absl::OkStatus();
}

// Calibrated scores are those of another reward model.
absl::Status AddCalibration(const EngineOptions& models, nlohmann::json& config,
                            RunInfo& info) {
  ESP_ASSIGN_OR_RETURN(const std::optional<Calibration> calibration,
                       FindCalibration(models));
  if (!calibration) return absl::OkStatus();
  const std::string hash = absl::StrCat(
      absl::Hex(StableHash(calibration->Text()), absl::kZeroPad16));
  config["calibration"] = hash;
  absl::StrAppend(&info.reward_model_hash, ":", hash);
  return absl::OkStatus();
}

}  // namespace

namespace {

// As ParseLevelWeights reads them (search/tree/score_rule.h), bit for bit.
std::string WeightsText(const LevelWeights& weights) {
  std::string text = absl::StrFormat("bias=%.9g", weights.bias);
  for (size_t l = 0; l < kLevels; ++l) {
    if (weights.weight[l] == 0) continue;
    absl::StrAppend(&text, "/", AbslView(kLevelNames[l]),
                    absl::StrFormat("=%.9g", weights.weight[l]));
  }
  return text;
}

// A replay has no model, so weights that the reward model holds are recorded
// with the method.
std::string WithStoredWeights(const SearchAlgorithm& algorithm,
                              const EngineOptions& models) {
  std::string method = CanonicalMethod(algorithm);
  if (algorithm.score_rule().aggregate != Aggregate::kLearned ||
      algorithm.level_weights().given()) {
    return method;
  }
  const auto config = ReadTrunkConfig(RewardModelName(models));
  // Without weights the search is refused.
  if (config.ok() && config->level_weights.given()) {
    absl::StrAppend(&method, ":weights=", WeightsText(config->level_weights));
  }
  return method;
}

}  // namespace

absl::StatusOr<RunInfo> DescribeRun(const GenerateOptions& options,
                                    const ProblemSet& set,
                                    const SetOptions& set_options,
                                    const EngineOptions& models,
                                    const RunInfo* recorded) {
  ESP_ASSIGN_OR_RETURN(const auto algorithm,
                       MakeAlgorithm(options.search.method));
  const std::string method = WithStoredWeights(*algorithm, models);
  nlohmann::json config = {
      {"set", set.name},
      {"task", set.task},
      {"set_seed", set_options.seed},
      {"first", set_options.first},
      {"limit", set_options.limit},
      {"method", method},
      {"budget_tokens", options.search.max_tokens},
      {"budget_simulations", options.search.max_simulations},
      {"budget_nodes", options.search.max_nodes},
      {"seconds", options.search.max_seconds},
      {"seed", options.search.seed},
      {"searches", options.searches},
      {"shard", absl::StrCat(set_options.shard, "/", set_options.shards)},
      {"reuse_solutions", options.reuse_solutions}};
  config.update(ChoiceJson(set_options));
  AddStops(options.search, config);
  if (!options.prompt.empty()) config["prompt"] = options.prompt;
  if (options.verifier_reward) config["verifier_reward"] = true;
  ServerRecord server;
  if (recorded != nullptr) {
    const auto before = ParseJsonOrNull(recorded->config);
    if (before.is_object()) {
      server = {.weights = before.value("server_weights", ""),
                .replies = before.value("server_replies", "")};
    }
  }
  const auto hash_of =
      [&](const std::string& folder) -> absl::StatusOr<std::string> {
    if (recorded == nullptr || !IsRemoteModel(folder)) {
      return HashModel(folder, models.weights);
    }
    // What others say is recorded in hashes only.
    if (folder != models.policy) {
      return absl::FailedPreconditionError(
          absl::StrCat(folder, ": only the server knows what it serves"));
    }
    ESP_ASSIGN_OR_RETURN(const std::string id, RemoteModelId(folder, server));
    return HashOfServed(id);
  };
  for (const std::string& folder : models.more_policies) {
    ESP_ASSIGN_OR_RETURN(const std::string hash, hash_of(folder));
    config["more_models"].push_back(hash);
  }
  RunInfo info{.kind = "generate",
               .config = JsonText(config),
               .seed = options.search.seed,
               .method = method,
               .model = models.policy};
  ESP_ASSIGN_OR_RETURN(info.model_hash, hash_of(models.policy));
  ESP_ASSIGN_OR_RETURN(info.tokenizer_hash,
                       HashTokenizer(PolicyFolder(models)));
  if (IsRemoteModel(models.policy)) {
    if (recorded == nullptr) {
      ESP_ASSIGN_OR_RETURN(server,
                           RecordOfServer(models.policy, models.tokenizer));
    }
    if (!server.weights.empty()) config["server_weights"] = server.weights;
    if (!server.replies.empty()) config["server_replies"] = server.replies;
  }
  info.reward_model_hash = info.model_hash;
  if (!models.critic.empty()) {
    ESP_ASSIGN_OR_RETURN(info.reward_model_hash, hash_of(models.critic));
  }
  if (options.verifier_reward) info.reward_model_hash = "verifier";
  ESP_RETURN_IF_ERROR(AddRewardFormat(models, config, info));
  if (!options.verifier_reward) {
    ESP_RETURN_IF_ERROR(AddCalibration(models, config, info));
  }
  info.config = JsonText(config);
  return info;
}

absl::StatusOr<GenerateOptions> OptionsOfRun(const RunInfo& info) {
  const auto config = ParseJsonOrNull(info.config);
  if (!config.is_object()) {
    return absl::InvalidArgumentError("the run's config is not JSON");
  }
  GenerateOptions options;
  try {
    options.search.method = config.at("method");
    options.search.max_tokens = config.at("budget_tokens");
    options.search.max_simulations = config.at("budget_simulations");
    options.search.max_nodes = config.at("budget_nodes");
    options.search.max_seconds = config.at("seconds");
    ReadStops(config, options.search);
    options.search.seed = config.at("seed");
    options.searches = config.at("searches");
    options.reuse_solutions = config.at("reuse_solutions");
    options.prompt = config.value("prompt", "");
    options.verifier_reward = config.value("verifier_reward", false);
  } catch (const nlohmann::json::exception& e) {
    return absl::InvalidArgumentError(
        absl::StrCat("the run's config lacks what a search needs: ", e.what()));
  }
  return options;
}

absl::StatusOr<int64_t> OpenRun(RunDb& db, const RunInfo& info, bool resume) {
  if (!resume) {
    ESP_ASSIGN_OR_RETURN(const int64_t run_id, db.AddRun(info));
    ESP_RETURN_IF_ERROR(db.Commit());
    return run_id;
  }
  ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db.Runs());
  std::string nearest;
  for (const RunRow& run : runs) {
    if (run.config_hash == ConfigHash(info)) return run.run_id;
    const std::string differences = Differences(info, run.info);
    if (nearest.empty() || differences.size() < nearest.size()) {
      nearest = differences;
    }
  }
  if (runs.empty()) return OpenRun(db, info, false);
  return absl::FailedPreconditionError(absl::StrCat(
      db.sqlite().path(), ": holds no run with these settings to resume (",
      nearest.empty() ? "other kind of run" : nearest,
      "); give the same settings, or record to another file"));
}

void AddResult(std::optional<bool> correct, const SearchResult& result,
               GenerateTotals& totals) {
  Count(
      {.state = result.status.ok() ? SearchState::kDone : SearchState::kFailed,
       .correct = correct,
       .tokens = result.tokens},
      totals);
  ++totals.searched;
  totals.speculated_tokens += result.speculated_tokens;
  if (!result.status.ok() && totals.first_error.empty()) {
    totals.first_error = std::string(result.status.message());
  }
}

absl::Status CheckGenerate(Engine& engine, const Task& task,
                           const Verifier& verifier,
                           const GenerateOptions& options) {
  ESP_RETURN_IF_ERROR(verifier.Ready());
  std::optional<VerifierReward> reward;
  if (options.verifier_reward) {
    ESP_ASSIGN_OR_RETURN(reward, VerifierReward::Create(verifier));
  }
  const RunHooks hooks{
      .verifier = verifier.ForSearch(),
      .reward = reward ? &*reward : nullptr,
      .grade = [](size_t, std::string_view) { return std::nullopt; }};
  return engine.SolveAll({}, task, options.search, hooks,
                         [](size_t, const SearchResult&) {});
}

absl::StatusOr<GenerateTotals> Generate(Engine& engine, RunDb& db,
                                        int64_t run_id, const ProblemSet& set,
                                        const GenerateOptions& options,
                                        const GenerateHooks& hooks) {
  ESP_ASSIGN_OR_RETURN(const PromptedTask put,
                       PutTaskBy(set.task, options.prompt));
  const Verifier& verifier =
      hooks.verifier != nullptr ? *hooks.verifier : *put.verifier;
  ESP_RETURN_IF_ERROR(verifier.Ready());
  GenerateTotals totals;
  totals.searches =
      static_cast<int64_t>(set.problems.size()) * options.searches;
  const auto stopped = [&] { return hooks.stop != nullptr && *hooks.stop; };
  Rounds rounds(engine, db, run_id, set, *put.task, verifier, options, hooks,
                totals);
  for (int i = 0; i < options.searches && !stopped(); ++i) {
    ESP_RETURN_IF_ERROR(
        rounds.Run(options.search.seed + static_cast<uint64_t>(i)));
  }
  totals.stopped = stopped() && totals.done < totals.searches;
  if (!totals.stopped) ESP_RETURN_IF_ERROR(db.FinishRun(run_id));
  return totals;
}

namespace {

// What the reward model of a recorded run could write about a step.
VerdictCost RecordedVerdictCost(const RunInfo& info) {
  const nlohmann::json config = ParseJsonOrNull(info.config);
  const nlohmann::json cost =
      config.value(kVerdictCostKey, nlohmann::json::object());
  return {.votes = cost.value("votes", 1),
          .tokens = cost.value("tokens", 0),
          .path = cost.value("path", false)};
}

}  // namespace

absl::StatusOr<std::string> ReplaySearch(RunDb& db, const RunRow& run,
                                         const SearchRow& search,
                                         StoredTree* tree) {
  ESP_ASSIGN_OR_RETURN(GenerateOptions options, OptionsOfRun(run.info));
  options.search.seed = search.seed;
  ESP_ASSIGN_OR_RETURN(const auto algorithm,
                       MakeAlgorithm(options.search.method));
  std::string task_name;
  ESP_ASSIGN_OR_RETURN(const GradedProblem problem,
                       db.LoadProblem(search.problem_id, &task_name));
  ESP_ASSIGN_OR_RETURN(const PromptedTask put,
                       PutTaskBy(task_name, options.prompt));
  ESP_ASSIGN_OR_RETURN(const std::vector<LogEntry> log,
                       db.LoadLog(search.search_id));
  ESP_ASSIGN_OR_RETURN(*tree, db.LoadTree(search.search_id));
  ESP_ASSIGN_OR_RETURN(
      const StoredTree again,
      Replay(problem.problem, *put.task, *algorithm, options.search, log,
             RecordedVerdictCost(run.info)));
  return FirstDifference(again, *tree);
}

}  // namespace espalier
