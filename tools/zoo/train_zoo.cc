#include "tools/zoo/train_zoo.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/files.h"
#include "base/parse_json.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "espalier/search_result.h"
#include "models/differentiable/llama_net.h"
#include "models/tokenizer/bpe_trainer.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json.hpp"
#include "src/learn/export.h"
#include "src/learn/step_sequences.h"
#include "src/learn/trainer.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr char kEndText[] = "<|end|>";
constexpr int64_t kHeldOutStep = int64_t{1} << 40;  // beyond any step's draws
constexpr uint64_t kOwnSeed = 500;  // training seeds of own responses: 500 + r

// State shared by the stages.
struct Bench {
  const ZooOptions& options;  // all values filled in
  const ZooFamily* family = nullptr;
  const Task* task = nullptr;
  const Verifier* verifier = nullptr;
  std::string tokenizer_json;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<StepSequences> sequences;
  std::unique_ptr<net::LlamaNet> net;
  std::vector<TrainSequence> own;  // the model's own judged responses
  std::vector<ZooReport::Stage> stages;
};

absl::StatusOr<std::vector<TrainSequence>> DrawBatch(const Bench& bench,
                                                     int64_t step,
                                                     double progress,
                                                     double planted,
                                                     double own_share) {
  RandomStream rng(StreamKey(bench.options.seed, static_cast<uint64_t>(step), 0,
                             Purpose::kTrain));
  std::vector<TrainSequence> batch;
  int64_t tokens = 0;
  while (tokens < bench.options.batch_tokens) {
    if (own_share > 0 && !bench.own.empty() &&
        rng.UniformDouble() < own_share) {
      batch.push_back(
          bench.own[rng.Below(static_cast<uint32_t>(bench.own.size()))]);
    } else {
      const ZooExample drawn = bench.family->Draw(progress, planted, rng);
      ESP_ASSIGN_OR_RETURN(TrainSequence sequence,
                           bench.sequences->Make(drawn.problem.problem,
                                                 drawn.lines, drawn.ended));
      batch.push_back(std::move(sequence));
    }
    tokens += static_cast<int64_t>(batch.back().tokens.size());
  }
  return batch;
}

void LogMetrics(const std::string& file, const std::string& stage,
                const StepMetrics& m, bool held_out) {
  std::ofstream(file, std::ios::app)
      << nlohmann::json{{"stage", stage},
                        {"step", m.step},
                        {"held_out", held_out},
                        {"lm_loss", m.lm_loss},
                        {"step_bce", m.step_bce},
                        {"path_bce", m.path_bce},
                        {"grad_norm", m.grad_norm},
                        {"learning_rate", m.learning_rate},
                        {"tokens_per_second", m.tokens_per_second}}
             .dump()
      << "\n";
}

struct Stage {
  std::string name;
  int64_t steps = 0;
  TrainerOptions trainer;
  bool curriculum = false;   // easy problems first
  double planted = 0.5;      // fraction of sequences with planted errors
  double own_share = 0;      // fraction of the model's own responses
  uint64_t data_offset = 0;  // so that stages draw different data
};

// A stage's cost, summed over all runs; stored next to its state.
struct StageCost {
  int64_t tokens = 0;
  double seconds = 0;

  void Load(const std::string& file) {
    const auto text = ReadFile(file);
    if (!text.ok()) return;
    const auto json = ParseJsonOrNull(*text);
    if (!json.is_object()) return;
    tokens = json.value("tokens", tokens);
    seconds = json.value("seconds", seconds);
  }
  absl::Status Save(const std::string& file) const {
    return WriteFileAtomic(
        file,
        nlohmann::json{{"tokens", tokens}, {"seconds", seconds}}.dump() + "\n");
  }
};

// The losses on a held-out batch of full difficulty.
absl::Status LogHeldOut(const Bench& bench, const std::string& stage,
                        Trainer& trainer) {
  ESP_ASSIGN_OR_RETURN(const std::vector<TrainSequence> batch,
                       DrawBatch(bench, kHeldOutStep, 1, 0.5, 0));
  ESP_ASSIGN_OR_RETURN(StepMetrics metrics, trainer.Evaluate(batch));
  metrics.step = trainer.steps_done();
  LogMetrics(bench.options.work + "/metrics.jsonl", stage, metrics, true);
  return absl::OkStatus();
}

absl::Status RunStage(Bench& bench, const Stage& stage) {
  Trainer trainer(*bench.net, stage.trainer);
  const std::string place = absl::StrCat(bench.options.work, "/", stage.name);
  StageCost cost;
  if (fs::exists(place + ".state")) {
    ESP_RETURN_IF_ERROR(trainer.Load(place + ".state"));
    cost.Load(place + ".cost.json");
  }
  Progress progress(
      absl::StrCat("train ", bench.options.family, " ", stage.name),
      stage.steps, "steps");
  progress.Set(trainer.steps_done(), trainer.steps_done());
  if (trainer.steps_done() == 0) {
    ESP_RETURN_IF_ERROR(LogHeldOut(bench, stage.name, trainer));
  }
  while (trainer.steps_done() < stage.steps) {
    const int64_t step = trainer.steps_done();
    const double done =
        static_cast<double>(step) / static_cast<double>(stage.steps);
    ESP_ASSIGN_OR_RETURN(
        const std::vector<TrainSequence> batch,
        DrawBatch(bench, step + static_cast<int64_t>(stage.data_offset),
                  stage.curriculum ? done : 1, stage.planted, stage.own_share));
    ESP_ASSIGN_OR_RETURN(const StepMetrics metrics, trainer.Step(batch));
    cost.tokens += metrics.tokens;
    cost.seconds += metrics.seconds;
    progress.SetNote(absl::StrFormat(
        "lm %.3f step %.3f path %.3f %.0f tokens/s", metrics.lm_loss,
        metrics.step_bce, metrics.path_bce, metrics.tokens_per_second));
    progress.Add(1);
    if (metrics.step % 10 == 0) {
      LogMetrics(bench.options.work + "/metrics.jsonl", stage.name, metrics,
                 false);
    }
    if (metrics.step % 500 == 0 || metrics.step == stage.steps) {
      ESP_RETURN_IF_ERROR(LogHeldOut(bench, stage.name, trainer));
    }
    if (metrics.step % 100 == 0 || metrics.step == stage.steps) {
      ESP_RETURN_IF_ERROR(trainer.Save(place + ".state"));
      ESP_RETURN_IF_ERROR(cost.Save(place + ".cost.json"));
    }
  }
  bench.stages.push_back({stage.name, stage.steps, cost.tokens, cost.seconds});
  return absl::OkStatus();
}

absl::Status PrepareTokenizer(Bench& bench) {
  const std::string file = bench.options.work + "/tokenizer.json";
  if (!fs::exists(file)) {
    std::vector<std::string> corpus;
    RandomStream rng(StreamKey(1, 0, 0, Purpose::kTrain));
    for (int i = 0; i < 3000; ++i) {
      const ZooExample drawn = bench.family->Draw(1, 0, rng);
      ESP_ASSIGN_OR_RETURN(std::string text,
                           bench.task->Render(drawn.problem.problem));
      for (const JudgedLine& line : drawn.lines) {
        absl::StrAppend(&text, line.text, "\n");
      }
      corpus.push_back(std::move(text));
    }
    ESP_ASSIGN_OR_RETURN(
        const std::string json,
        TrainByteBpe(corpus, {.vocab_size = 512, .special = {kEndText}}));
    ESP_RETURN_IF_ERROR(WriteFileAtomic(file, json));
  }
  ESP_ASSIGN_OR_RETURN(bench.tokenizer_json, ReadFile(file));
  ESP_ASSIGN_OR_RETURN(bench.tokenizer, Tokenizer::Load(file));
  return absl::OkStatus();
}

// The model's own responses to training problems, judged line by line.
absl::Status SampleOwn(Bench& bench, int round) {
  const std::string folder = bench.options.work + "/current";
  ESP_RETURN_IF_ERROR(
      ExportCheckpoint(*bench.net, bench.tokenizer_json, folder));
  ESP_ASSIGN_OR_RETURN(
      const auto engine,
      Engine::Create(
          {.policy = folder, .threads = bench.options.threads, .live = 64}));
  std::vector<GradedProblem> graded;
  std::vector<Problem> problems;
  for (int i = 0; i < bench.options.own_responses; ++i) {
    graded.push_back(bench.family->OwnProblem(
        kOwnSeed + static_cast<uint64_t>(round), static_cast<uint64_t>(i)));
    problems.push_back(graded.back().problem);
  }
  Progress progress(
      absl::StrCat("sample ", bench.options.family, " round ", round),
      static_cast<int64_t>(problems.size()), "responses");
  std::vector<std::string> responses(problems.size());
  ESP_RETURN_IF_ERROR(engine->SolveAll(
      problems, *bench.task,
      {.method = "sample", .max_tokens = 1000, .seed = bench.options.seed}, {},
      [&](size_t i, SearchResult result) {
        responses[i] = std::move(result.response);
        progress.Add(1);
      }));
  progress.Finish();
  bench.own.clear();
  for (size_t i = 0; i < problems.size(); ++i) {
    ESP_ASSIGN_OR_RETURN(
        const std::vector<JudgedLine> lines,
        JudgeResponse(graded[i], *bench.verifier, responses[i]));
    if (lines.empty()) continue;
    ESP_ASSIGN_OR_RETURN(TrainSequence sequence,
                         bench.sequences->Make(problems[i], lines, false));
    bench.own.push_back(std::move(sequence));
  }
  return absl::OkStatus();
}

// Fills options that the caller left open with the family's.
ZooOptions Complete(ZooOptions o, const ZooRecipe& recipe) {
  const auto fill = [](auto& figure, auto own) {
    if (figure < 0) figure = own;
  };
  fill(o.grow_steps, recipe.grow_steps);
  fill(o.judge_steps, recipe.judge_steps);
  fill(o.judge_rounds, recipe.judge_rounds);
  fill(o.own_responses, recipe.own_responses);
  fill(o.batch_tokens, recipe.batch_tokens);
  fill(o.learning_rate, recipe.learning_rate);
  fill(o.hidden_size, recipe.hidden_size);
  fill(o.layers, recipe.layers);
  return o;
}

absl::Status TrainStages(Bench& bench) {
  const ZooOptions& options = bench.options;
  const TrainerOptions grow = {.learning_rate = options.learning_rate,
                               .total_steps = options.grow_steps,
                               .threads = options.threads};
  const ZooRecipe recipe = bench.family->recipe();
  Stage stage{.name = "grow",
              .steps = options.grow_steps,
              .trainer = grow,
              .curriculum = true,
              .planted = recipe.planted};
  stage.trainer.reward_coef = recipe.reward_coef;
  ESP_RETURN_IF_ERROR(RunStage(bench, stage));
  for (int round = 0; round < options.judge_rounds; ++round) {
    ESP_RETURN_IF_ERROR(SampleOwn(bench, round));
    TrainerOptions judge = grow;
    judge.total_steps = options.judge_steps;
    judge.learning_rate /= 2;
    judge.lm_coef = options.judge_lm_coef;
    ESP_RETURN_IF_ERROR(RunStage(
        bench, {.name = absl::StrCat("judge", round),
                .steps = options.judge_steps,
                .trainer = judge,
                .planted = 0.3,
                .own_share = 0.3,
                .data_offset = 1000000u * static_cast<uint64_t>(round + 1)}));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ZooReport> TrainZooModel(const ZooOptions& given) {
  ESP_ASSIGN_OR_RETURN(const ZooFamily* family, FindZooFamily(given.family));
  const ZooOptions options = Complete(given, family->recipe());
  if (options.hidden_size % 64 != 0 || options.hidden_size == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "hidden size ", options.hidden_size, ": expected a multiple of 64"));
  }
  std::error_code error;
  fs::create_directories(options.work, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(
        options.work, ": cannot make the folder: ", error.message()));
  }
  Bench bench{.options = options, .family = family};
  ESP_ASSIGN_OR_RETURN(bench.task, FindTask(std::string(family->task())));
  ESP_ASSIGN_OR_RETURN(bench.verifier,
                       FindVerifier(std::string(family->task())));
  ESP_RETURN_IF_ERROR(PrepareTokenizer(bench));
  const int32_t end = bench.tokenizer->vocab_size() - 1;
  bench.sequences =
      std::make_unique<StepSequences>(*bench.task, *bench.tokenizer, end);
  const int hidden = options.hidden_size;
  const TrunkConfig config = {.vocab_size = 512,
                              .hidden_size = hidden,
                              .intermediate_size = hidden * 11 / 4 / 32 * 32,
                              .layers = options.layers,
                              .heads = hidden / 32,
                              .kv_heads = hidden / 64,
                              .head_dim = 32,
                              .context_length = 2048,
                              .reward_head = true,
                              .end_token = end};
  ESP_ASSIGN_OR_RETURN(bench.net, net::LlamaNet::Create(config, options.seed));
  ESP_RETURN_IF_ERROR(TrainStages(bench));
  ESP_RETURN_IF_ERROR(
      ExportCheckpoint(*bench.net, bench.tokenizer_json, options.out));
  return ZooReport{
      .family = family,
      .seed = options.seed,
      .threads = options.threads,
      .parameters = static_cast<int64_t>(bench.net->parameter_count()),
      .stages = std::move(bench.stages)};
}

}  // namespace espalier
