#include "src/learn/train_run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/settings.h"
#include "base/status_macros.h"
#include "models/checkpoint/llama_config.h"
#include "models/checkpoint/reward_head_config.h"
#include "models/differentiable/load_net.h"
#include "models/reward/reward_format.h"
#include "models/reward/step_layout.h"
#include "nlohmann/json.hpp"
#include "search/tree/score_rule.h"
#include "src/engine/generate.h"
#include "src/learn/export.h"
#include "src/learn/held_out.h"
#include "src/learn/trainer.h"

namespace espalier {
namespace {

// Refuses data with too few problems, which a model would only memorise.
absl::Status CheckEnough(const TrainRunOptions& options, const TrainData& data,
                         const FilterLog& log) {
  const auto problems = static_cast<int64_t>(
      std::set<int>(data.problems.begin(), data.problems.end()).size());
  if (problems >= options.min_problems) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      options.data, ": ", problems, " problems give ", data.groups.size(),
      " examples to learn from, fewer than --min-problems ",
      options.min_problems,
      ": the model would learn these by heart and get worse on others. Record "
      "more problems (espalier generate --limit, then --resume), give searches "
      "more tokens so that more of their responses end, or lower "
      "--min-problems\n",
      log.Text()));
}

namespace fs = std::filesystem;

void Shuffle(RandomStream& rng, std::vector<size_t>& order) {
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[rng.Below(static_cast<uint32_t>(i))]);
  }
}

// All groups of one epoch in random order; problem by problem if requested.
std::vector<size_t> EpochOrder(const TrainData& data, bool by_problem,
                               RandomStream& rng) {
  std::vector<std::vector<size_t>> units;
  for (size_t i = 0; i < data.groups.size(); ++i) {
    const auto unit =
        by_problem ? static_cast<size_t>(data.problems[i]) : units.size();
    if (unit >= units.size()) units.resize(unit + 1);
    units[unit].push_back(i);
  }
  std::vector<size_t> order(units.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Shuffle(rng, order);
  std::vector<size_t> out;
  for (const size_t unit : order) {
    out.insert(out.end(), units[unit].begin(), units[unit].end());
  }
  return out;
}

// The groups of every optimiser step, in order, and the steps that end an
// epoch.
struct Plan {
  std::vector<std::vector<size_t>> batches;
  std::set<int64_t> epoch_ends;
};

Plan PlanBatches(const TrainData& data, const TrainRunOptions& options) {
  const size_t n = data.groups.size();
  const auto wanted =
      static_cast<int64_t>(std::ceil(options.epochs * static_cast<double>(n)));
  Plan plan;
  int64_t taken = 0;
  for (uint64_t epoch = 0; taken < wanted; ++epoch) {
    RandomStream rng(StreamKey(options.seed, epoch, 0, Purpose::kTrain));
    size_t tokens = static_cast<size_t>(options.batch_tokens);
    for (const size_t i : EpochOrder(data, options.by_problem, rng)) {
      if (taken++ >= wanted) break;
      // Batches are never empty, and every epoch starts a new one.
      if (tokens >= static_cast<size_t>(options.batch_tokens)) {
        plan.batches.emplace_back();
        tokens = 0;
      }
      plan.batches.back().push_back(i);
      for (const GroupSequence& g : data.groups[i]) {
        tokens += g.sequence.tokens.size();
      }
    }
    plan.epoch_ends.insert(static_cast<int64_t>(plan.batches.size()));
  }
  return plan;
}

// How often each head's sample of the problems holds each group's.
void DrawSamples(int heads, uint64_t seed, TrainData& data) {
  size_t problems = 0;
  for (const int problem : data.problems) {
    problems = std::max(problems, static_cast<size_t>(problem) + 1);
  }
  for (int head = 0; head < heads; ++head) {
    RandomStream rng(
        StreamKey(seed, static_cast<uint64_t>(head), 0, Purpose::kBootstrap));
    std::vector<int> held(problems, 0);
    for (size_t i = 0; i < problems; ++i)
      ++held[rng.Below(static_cast<uint32_t>(problems))];
    for (size_t i = 0; i < data.groups.size(); ++i) {
      data.groups[i].front().draws.push_back(
          held[static_cast<size_t>(data.problems[i])]);
    }
  }
}

nlohmann::json ConfigJson(const TrainRunOptions& options, uint64_t data_hash,
                          uint64_t model_hash) {
  nlohmann::json json = {
      {"objective", options.objective},
      {"model_hash", absl::StrCat(absl::Hex(model_hash))},
      {"data_hash", absl::StrCat(absl::Hex(data_hash))},
      {"epochs", options.epochs},
      {"batch_tokens", options.batch_tokens},
      {"learning_rate", options.learning_rate},
      {"final_rate", options.final_rate},
      {"warmup", options.warmup},
      {"weight_decay", options.weight_decay},
      {"clip_norm", options.clip_norm},
      {"by_problem", options.by_problem},
      {"lora_rank", options.lora.rank},
      {"lora_alpha", options.lora.Alpha()},
      {"lora_targets", absl::StrJoin(options.lora.Targets(), ",")},
      {"seed", options.seed}};
  // The work folders of earlier versions do not name them.
  const LevelSet levels = options.train_data.levels;
  if (levels != Level::kPath) json["levels"] = LevelNames(levels);
  if (options.ensemble > 1) json["ensemble"] = options.ensemble;
  if (options.format != "espalier") json["format"] = options.format;
  if (const SelfRewardOptions& self = options.self_reward; self.on()) {
    json["self_reward"] = {{"token", self.token},
                           {"weight", self.weight},
                           {"factor", self.factor},
                           {"base", self.base},
                           {"mix", self.mix}};
  }
  if (options.held_out > 0) {
    json["held_out"] = options.held_out;
    json["patience"] = options.patience;
  }
  return json;
}

// Writes the configuration, or checks that the existing one is the same.
absl::Status SettleWork(const std::string& work, const nlohmann::json& json) {
  const std::string path = work + "/config.json";
  if (!fs::exists(path) && fs::exists(work + "/state.bin")) {
    return absl::FailedPreconditionError(
        absl::StrCat(work,
                     ": holds a state.bin without the config.json of its "
                     "training; remove the folder, or name another --work"));
  }
  return SettleConfig(path, json, "a training",
                      "give those, or another --work, or remove the folder");
}

// The lines of earlier calls, up to the step from which this one resumes.
class MetricsFile {
 public:
  absl::Status Open(const std::string& path, int64_t steps_done) {
    path_ = path;
    const auto text = ReadFile(path);
    std::string kept;
    if (text.ok()) {
      for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
        const auto json =
            ParseJsonOrNull(std::string_view(line.data(), line.size()));
        // null stands for a value that is not a number.
        const auto number = [&json](const char* key) {
          const auto it = json.find(key);
          const bool there = it != json.end() && it->is_number();
          return there ? it->get<double>() : 0.0;
        };
        if (!json.is_object() ||
            number("step") > static_cast<double>(steps_done)) {
          continue;
        }
        if (json.contains("held_out")) {
          held_out_losses_.push_back(number("loss"));
          absl::StrAppend(&kept, line, "\n");
          continue;
        }
        losses_.push_back(number("loss"));
        tokens_ += static_cast<int64_t>(number("tokens"));
        absl::StrAppend(&kept, line, "\n");
      }
    }
    ESP_RETURN_IF_ERROR(WriteFileAtomic(path, kept));
    file_.open(path, std::ios::app);
    return absl::OkStatus();
  }
  absl::Status Add(const ObjectiveMetrics& m) {
    losses_.push_back(m.loss);
    tokens_ += m.tokens;
    return Write({{"step", m.step},
                  {"loss", m.loss},
                  {"entropy", m.entropy},
                  {"kl", m.kl},
                  {"clip_rate", m.clip_rate},
                  {"right", m.right},
                  {"grad_norm", m.grad_norm},
                  {"learning_rate", m.learning_rate},
                  {"tokens", m.tokens},
                  {"computed_tokens", m.computed_tokens},
                  {"tokens_per_second", m.tokens_per_second}});
  }
  absl::Status Write(const nlohmann::json& line) {
    file_ << JsonText(line) << "\n";
    file_.flush();
    if (file_) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat(path_,
                     ": cannot be written; is the disk full? The last state is "
                     "kept, and the same command continues from it"));
  }
  const std::vector<double>& losses() const { return losses_; }
  // Those that earlier calls measured.
  const std::vector<double>& held_out_losses() const {
    return held_out_losses_;
  }
  int64_t tokens() const { return tokens_; }

 private:
  std::string path_;
  std::ofstream file_;
  std::vector<double> losses_, held_out_losses_;
  int64_t tokens_ = 0;
};

double Mean(const std::vector<double>& values, size_t begin, size_t end) {
  const double sum =
      std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                      values.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
  return end > begin ? sum / static_cast<double>(end - begin) : 0;
}

std::string BatchNames(const TrainData& data,
                       const std::vector<size_t>& batch) {
  std::vector<std::string> names;
  for (size_t i = 0; i < batch.size() && i < 8; ++i) {
    names.push_back(data.names[batch[i]]);
  }
  if (batch.size() > 8) {
    names.push_back(absl::StrCat("and ", batch.size() - 8, " more"));
  }
  return absl::StrJoin(names, ", ");
}

// Adds the reference log-probs, those of the current net.
absl::Status AddReference(Trainer& trainer, TrainData& data) {
  constexpr size_t kAtOnce = 64;  // groups, enough for all threads
  const size_t count = data.groups.size();
  Progress progress("reference", static_cast<int64_t>(count), "groups");
  for (size_t at = 0; at < count; at += kAtOnce) {
    const size_t end = std::min(count, at + kAtOnce);
    std::vector<TrainSequence> batch;
    for (size_t i = at; i < end; ++i) {
      for (const GroupSequence& g : data.groups[i]) batch.push_back(g.sequence);
    }
    ESP_ASSIGN_OR_RETURN(auto logprobs, trainer.LogProbs(batch));
    auto next = logprobs.begin();
    for (size_t i = at; i < end; ++i) {
      for (GroupSequence& g : data.groups[i]) g.reference = std::move(*next++);
    }
    progress.Add(static_cast<int64_t>(end - at));
  }
  progress.Finish();
  return absl::OkStatus();
}

// Sets the sequences' self-rewards by the reference log-probs; returns their
// base.
double AddSelfRewards(const SelfRewardOptions& options, TrainData& data) {
  std::vector<double> logprobs;
  for (const SequenceGroup& group : data.groups) {
    for (const GroupSequence& g : group) {
      logprobs.push_back(g.self_reward
                             ? static_cast<double>(g.reference.back())
                             : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return SetSelfRewards(options, logprobs, data);
}

// `watch`: null if no problems are held out.
absl::Status RunSteps(const TrainRunOptions& options, const TrainData& data,
                      const Plan& plan, const std::string& state,
                      const std::atomic<bool>* stop, const Objective& objective,
                      Trainer& trainer, MetricsFile& metrics,
                      HeldOutWatch* watch) {
  const auto total = static_cast<int64_t>(plan.batches.size());
  const auto exhausted = [watch] {
    return watch != nullptr && watch->Exhausted();
  };
  Progress progress("train " + std::string(objective.name()), total, "steps");
  progress.Set(trainer.steps_done(), trainer.steps_done());
  while (trainer.steps_done() < total && !exhausted()) {
    const auto& indices =
        plan.batches[static_cast<size_t>(trainer.steps_done())];
    std::vector<SequenceGroup> batch;
    for (const size_t i : indices) batch.push_back(data.groups[i]);
    const absl::StatusOr<ObjectiveMetrics> m =
        trainer.StepObjective(objective, batch);
    if (!m.ok()) {
      ESP_RETURN_IF_ERROR(trainer.Save(state));
      return absl::Status(
          m.status().code(),
          absl::StrCat(m.status().message(), ". The batch: ",
                       BatchNames(data, indices), ". The state before it, ",
                       trainer.steps_done(), " steps, is kept in ", state));
    }
    ESP_RETURN_IF_ERROR(metrics.Add(*m));
    progress.SetNote(absl::StrFormat("loss %.4f %.0f tokens/s", m->loss,
                                     m->tokens_per_second));
    progress.Add(1);
    // Before the state is saved, so that a state has its figures.
    if (watch != nullptr && plan.epoch_ends.contains(m->step)) {
      ESP_ASSIGN_OR_RETURN(const HeldOutFigures figures,
                           watch->Measure(objective, trainer));
      ESP_RETURN_IF_ERROR(metrics.Write(FiguresJson(figures)));
    }
    const bool stopped = stop != nullptr && stop->load();
    if (stopped || m->step % options.save_every == 0 || m->step == total ||
        exhausted()) {
      ESP_RETURN_IF_ERROR(trainer.Save(state));
    }
    if (stopped && m->step < total && !exhausted()) {
      progress.Finish();
      return absl::CancelledError(
          absl::StrCat("stopped after ", m->step, " of ", total,
                       " steps; the same command continues from here"));
    }
  }
  progress.Finish();
  return absl::OkStatus();
}

std::string WorkFolder(const TrainRunOptions& options) {
  return options.work.empty() ? options.out + ".work" : options.work;
}

// Written just before the checkpoint appears.
std::string ReportPath(const TrainRunOptions& options) {
  return WorkFolder(options) + "/report.json";
}

absl::Status WriteReport(const std::string& path, const TrainReport& report) {
  nlohmann::json json = {
      {"sequences", report.sequences}, {"tokens", report.tokens},
      {"steps", report.steps},         {"first_loss", report.first_loss},
      {"last_loss", report.last_loss}, {"seconds", report.seconds}};
  if (report.held_out) json["held_out"] = FiguresJson(*report.held_out);
  return WriteFileAtomic(path, JsonText(json, 1) + "\n");
}

absl::StatusOr<TrainReport> ReadTrainReport(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  try {
    const auto json = ParseJsonOrNull(text);
    TrainReport report{.sequences = json.at("sequences"),
                       .tokens = json.at("tokens"),
                       .steps = json.at("steps"),
                       .first_loss = json.at("first_loss"),
                       .last_loss = json.at("last_loss"),
                       .seconds = json.at("seconds")};
    if (json.contains("held_out")) {
      ESP_ASSIGN_OR_RETURN(report.held_out, ParseFigures(json["held_out"]));
    }
    return report;
  } catch (const nlohmann::json::exception& e) {
    return absl::DataLossError(absl::StrCat(path, ": damaged: ", e.what()));
  }
}

// The files beside tokenizer.json that say how it is used: without them a
// prompt would get no begin token, or another chat template.
absl::Status CopyTokenizerFiles(const std::string& from,
                                const std::string& to) {
  for (const char* name :
       {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
        "chat_template.jinja", "chat_template.json"}) {
    std::error_code error;
    const std::string path = absl::StrCat(from, "/", name);
    if (!fs::is_regular_file(path, error)) continue;
    ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ESP_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(to, "/", name), text));
  }
  return absl::OkStatus();
}

// Writes the checkpoint, with the adapter if there is one, atomically.
absl::Status Publish(const TrainRunOptions& options, const net::LlamaNet& net,
                     const LoraAdapter* adapter, const std::string& tokenizer,
                     const std::string& self_reward) {
  const std::string part = options.out + ".part";
  std::error_code error;
  fs::remove_all(part, error);
  const bool trl = options.format == "trl";
  ESP_RETURN_IF_ERROR(trl ? ExportClassifier(net, tokenizer, part)
                          : ExportCheckpoint(net, tokenizer, part));
  ESP_RETURN_IF_ERROR(CopyTokenizerFiles(options.model, part));
  if (!self_reward.empty()) {
    ESP_RETURN_IF_ERROR(
        WriteFileAtomic(absl::StrCat(part, "/", kSelfRewardFile), self_reward));
  }
  // PEFT's folder of a classifier has another head.
  if (adapter != nullptr && !trl) {
    ESP_RETURN_IF_ERROR(
        ExportAdapter(*adapter, options.model, part + "/adapter"));
  }
  fs::rename(part, options.out, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(options.out, ": cannot be written: ", error.message()));
}

absl::Status CheckVocabulary(const std::string& folder,
                             const Tokenizer& tokenizer,
                             const TrunkConfig& config) {
  if (tokenizer.vocab_size() <= config.vocab_size) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(folder, ": the tokenizer has ", tokenizer.vocab_size(),
                   " tokens, the model's embedding only ", config.vocab_size,
                   "; they do not belong together"));
}

absl::StatusOr<uint64_t> HashFolder(const std::string& folder) {
  uint64_t hash = 0;
  for (const char* name :
       {"config.json", "model.safetensors", "tokenizer.json"}) {
    ESP_ASSIGN_OR_RETURN(const uint64_t part,
                         HashFile(absl::StrCat(folder, "/", name)));
    hash = MixHash(hash, part);
  }
  return hash;
}

// Loads the model that is trained, with a reward model's heads, and makes the
// adapter if there is one.
absl::Status LoadTrained(const TrainRunOptions& options, bool reward,
                         const std::vector<LevelSet>& outputs,
                         std::unique_ptr<net::LlamaNet>& net,
                         std::unique_ptr<LoraAdapter>& adapter) {
  ESP_ASSIGN_OR_RETURN(
      net, net::LoadNet(options.model,
                        {.add_reward_head = reward,
                         .reward_outputs = outputs,
                         .reward_ensemble = reward ? options.ensemble : 0,
                         .seed = options.seed}));
  if (options.lora.rank == 0) return absl::OkStatus();
  ESP_ASSIGN_OR_RETURN(adapter, LoraAdapter::Create(*net, options.lora,
                                                    {.seed = options.seed,
                                                     .reward_head = reward}));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTrainRun(const TrainRunOptions& options) {
  const auto wrong = [](const char* flag, double value, const char* expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " ", value, ": expected ", expected));
  };
  // Written so that NaN fails.
  if (!(options.epochs > 0 && options.epochs <= 1e6)) {
    return wrong("--epochs", options.epochs, "a number above 0");
  }
  if (!(options.learning_rate > 0 && std::isfinite(options.learning_rate))) {
    return wrong("--learning-rate", options.learning_rate, "a number above 0");
  }
  if (options.batch_tokens < 1) {
    return wrong("--batch-tokens", options.batch_tokens, "1 or more");
  }
  if (!(options.warmup >= 0 && options.warmup <= 1)) {
    return wrong("--warmup", options.warmup, "a share of the steps, 0 to 1");
  }
  if (!(options.final_rate >= 0 && options.final_rate <= 1)) {
    return wrong("--final-rate", options.final_rate,
                 "a share of the learning rate, 0 to 1");
  }
  if (!(options.weight_decay >= 0 && std::isfinite(options.weight_decay))) {
    return wrong("--weight-decay", options.weight_decay, "0 or more");
  }
  if (!(options.clip_norm >= 0 && std::isfinite(options.clip_norm))) {
    return wrong("--clip-norm", options.clip_norm, "0 (not clipped) or more");
  }
  if (options.ensemble < 1 || options.ensemble > kMostHeads) {
    return wrong("--ensemble", options.ensemble, "1 to 16 heads");
  }
  const PathOptions& paths = options.train_data.paths;
  if (!(paths.min_perplexity >= 0) || !(paths.max_perplexity >= 0)) {
    const bool least = !(paths.min_perplexity >= 0);
    return wrong(least ? "--min-perplexity" : "--max-perplexity",
                 least ? paths.min_perplexity : paths.max_perplexity,
                 "0 or more");
  }
  if (!(options.held_out >= 0 && options.held_out < 1)) {
    return wrong("--held-out", options.held_out,
                 "a share of the problems, 0 (none) or more and below 1");
  }
  if (options.patience < 0 || (options.patience > 0 && options.held_out == 0)) {
    return wrong("--patience", options.patience,
                 "0 (no early stop), or 1 or more with --held-out");
  }
  const LevelSet levels = options.train_data.levels;
  if (options.format != "espalier" && options.format != "trl") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--format ", options.format, ": expected espalier or trl"));
  }
  if (options.format == "trl" && levels != Level::kStep &&
      levels != Level::kPath) {
    return absl::InvalidArgumentError(
        absl::StrCat("--format trl: one level, step or path, found --levels ",
                     LevelNames(levels)));
  }
  if (options.save_every < 1) {
    return wrong("--save-every", static_cast<double>(options.save_every),
                 "1 or more");
  }
  ESP_RETURN_IF_ERROR(CheckLora(options.lora));
  if (fs::exists(options.out) && !fs::exists(ReportPath(options))) {
    return absl::AlreadyExistsError(absl::StrCat(
        options.out, ": already exists; remove it or name another --out"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainReport> TrainModel(const TrainRunOptions& options,
                                       const std::atomic<bool>* stop,
                                       FilterLog& log) {
  const double start = Clock::Real().Seconds();
  ESP_RETURN_IF_ERROR(CheckTrainRun(options));
  ESP_ASSIGN_OR_RETURN(const auto objective, MakeObjective(options.objective));
  ESP_ASSIGN_OR_RETURN(const ExampleKind examples,
                       ExamplesOf(options.objective));
  const bool reward = TrainsReward(examples);
  if (!reward && options.ensemble > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--ensemble ", options.ensemble, ": objective ", options.objective,
        " trains a policy; an ensemble is of a "
        "reward model's heads"));
  }
  if (examples == ExampleKind::kStepPairs &&
      options.train_data.levels != Level::kPath) {
    return absl::InvalidArgumentError(
        absl::StrCat("--levels ", LevelNames(options.train_data.levels),
                     ": pairs of steps train the level path; train others with "
                     "--objective bce or mse"));
  }
  if (options.self_reward.on() && objective->name() != "grpo") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--self-reward: is fitted to the outcomes of --objective grpo, found ",
        options.objective));
  }
  if (!reward && options.held_out > 0) {
    return absl::InvalidArgumentError(
        "--held-out: is for reward models; policies are measured by searches");
  }
  const bool trl = options.format == "trl";
  if (trl && examples != ExampleKind::kSteps) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--format trl: is for reward models that learn from labelled steps "
        "(--objective bce or mse), found ",
        options.objective));
  }
  if (trl && options.ensemble > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--format trl: has one head, found --ensemble ", options.ensemble));
  }
  std::unique_ptr<net::LlamaNet> net;
  std::unique_ptr<LoraAdapter> adapter;
  const auto load = [&](const std::vector<LevelSet>& outputs) {
    return LoadTrained(options, reward, outputs, net, adapter);
  };
  // The heads of a reward model depend on what its data labels.
  if (!reward) ESP_RETURN_IF_ERROR(load({}));
  ESP_ASSIGN_OR_RETURN(const TrunkConfig config,
                       ReadLlamaConfig(options.model));
  ESP_ASSIGN_OR_RETURN(const std::string tokenizer_json,
                       ReadFile(options.model + "/tokenizer.json"));
  ESP_ASSIGN_OR_RETURN(const auto tokenizer, Tokenizer::Load(options.model));
  ESP_RETURN_IF_ERROR(CheckVocabulary(options.model, *tokenizer, config));
  ESP_ASSIGN_OR_RETURN(const uint64_t model_hash, HashFolder(options.model));
  TrainDataOptions data_options = options.train_data;
  data_options.kind = examples;
  data_options.context_length = config.context_length;
  ESP_ASSIGN_OR_RETURN(data_options.tokenizer_hash,
                       HashTokenizer(options.model));
  std::optional<StepLayout> layout;
  if (trl) {
    ESP_ASSIGN_OR_RETURN(const RewardFormat format, ReadRewardFormat("trl"));
    ESP_ASSIGN_OR_RETURN(layout,
                         StepLayout::Create(format, *tokenizer, options.model));
    data_options.layout = &*layout;
  }
  ESP_ASSIGN_OR_RETURN(TrainData data,
                       LoadTrainData(options.data, data_options, *tokenizer,
                                     config.end_token, log));
  const uint64_t data_hash = HashTrainData(data);
  SelfRewardOptions self_reward = options.self_reward;
  if (self_reward.on()) {
    ESP_RETURN_IF_ERROR(TakeStoredBase(options.model, self_reward));
    ESP_ASSIGN_OR_RETURN(
        const int32_t token,
        FindSelfRewardToken(self_reward, *tokenizer, config.end_token));
    ESP_RETURN_IF_ERROR(AppendSelfRewards(token, config.end_token,
                                          config.context_length, data));
  }
  std::optional<TrainData> held;
  if (options.held_out > 0) {
    ESP_ASSIGN_OR_RETURN(held,
                         TakeHeldOut(options.held_out, options.seed, data));
    if (examples == ExampleKind::kSteps) {
      ESP_RETURN_IF_ERROR(CheckLabels(options.data, data));
    }
  }
  ESP_RETURN_IF_ERROR(CheckEnough(options, data, log));
  if (reward) ESP_RETURN_IF_ERROR(load(data.outputs));

  const std::string work = WorkFolder(options);
  std::error_code error;
  fs::create_directories(work, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(work, ": cannot make the folder: ", error.message()));
  }
  ESP_RETURN_IF_ERROR(
      SettleWork(work, ConfigJson(options, data_hash, model_hash)));
  if (options.ensemble > 1) DrawSamples(options.ensemble, options.seed, data);
  // An earlier call finished the same training.
  if (fs::exists(options.out)) return ReadTrainReport(ReportPath(options));
  const Plan plan = PlanBatches(data, options);
  const auto steps = static_cast<double>(plan.batches.size());
  Trainer trainer(
      *net,
      {.learning_rate = options.learning_rate,
       .final_rate = options.final_rate,
       .warmup_steps = static_cast<int64_t>(std::ceil(options.warmup * steps)),
       .total_steps = static_cast<int64_t>(plan.batches.size()),
       .weight_decay = options.weight_decay,
       .clip_norm = options.clip_norm,
       .threads = options.threads},
      adapter.get());
  // The initial model is the reference policy.
  if (objective->needs_reference() || self_reward.on()) {
    ESP_RETURN_IF_ERROR(AddReference(trainer, data));
  }
  std::string self_reward_format;
  if (self_reward.on()) {
    self_reward_format =
        SelfRewardFormat(self_reward, AddSelfRewards(self_reward, data));
  }
  const std::string state = work + "/state.bin";
  if (fs::exists(state)) ESP_RETURN_IF_ERROR(trainer.Load(state));
  MetricsFile metrics;
  ESP_RETURN_IF_ERROR(
      metrics.Open(work + "/metrics.jsonl", trainer.steps_done()));
  std::optional<HeldOutWatch> watch;
  if (held) {
    watch.emplace(HeldOutOptions{.patience = options.patience},
                  *std::move(held), work + "/best.bin");
    for (const double loss : metrics.held_out_losses()) watch->Resume(loss);
  }
  ESP_RETURN_IF_ERROR(RunSteps(options, data, plan, state, stop, *objective,
                               trainer, metrics, watch ? &*watch : nullptr));
  const std::vector<double>& losses = metrics.losses();
  const size_t tenth = std::max<size_t>(1, losses.size() / 10);
  const size_t some = std::min(tenth, losses.size());
  TrainReport report{
      .sequences = static_cast<int64_t>(data.groups.size()),
      .tokens = metrics.tokens(),
      .steps = trainer.steps_done(),
      .first_loss = Mean(losses, 0, some),
      .last_loss = Mean(losses, losses.size() - some, losses.size()),
      .seconds = Clock::Real().Seconds() - start};
  if (watch) {
    ESP_ASSIGN_OR_RETURN(report.held_out, watch->LoadBest(*objective, trainer));
  }
  ESP_RETURN_IF_ERROR(WriteReport(ReportPath(options), report));
  ESP_RETURN_IF_ERROR(Publish(options, *net, adapter.get(), tokenizer_json,
                              self_reward_format));
  return report;
}

}  // namespace espalier
