#include "src/learn/zoo.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "datasets/generators/corrupt.h"
#include "datasets/generators/stories.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "models/net/llama_net.h"
#include "models/tokenizer/bpe_trainer.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json.hpp"
#include "src/base/files.h"
#include "src/base/progress.h"
#include "src/base/status_macros.h"
#include "src/learn/export.h"
#include "src/learn/step_sequences.h"
#include "src/learn/trainer.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr char kEndText[] = "<|end|>";
constexpr uint64_t kOwnSeed = 500;  // training seeds of own responses: 500 + r

// Everything that the stages share.
struct Bench {
  const ZooOptions& options;
  const Task* task = nullptr;
  const Verifier* verifier = nullptr;
  std::string tokenizer_json;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<StepSequences> sequences;
  std::unique_ptr<net::LlamaNet> net;
  std::vector<TrainSequence> own;  // the model's own judged responses
};

// Shares of easy, middle and hard problems at a point of the curriculum.
const StoryBand& PickBand(double progress, RandomStream& rng) {
  const double middle = std::clamp((progress - 0.05) * 8, 0.0, 1.0) * 0.45;
  const double hard = std::clamp((progress - 0.1) * 8, 0.0, 1.0) * 0.35;
  const double u = rng.UniformDouble();
  const auto bands = StoryBands();
  return bands[u < hard ? 2 : u < hard + middle ? 1 : 0];
}

// A reference solution, or one with planted errors of which only the right
// lines are imitated.
absl::StatusOr<TrainSequence> DrawStory(const Bench& bench, double progress,
                                        double planted, RandomStream& rng) {
  GradedProblem story = MakeStory(PickBand(progress, rng).options, rng);
  if (rng.UniformDouble() >= planted) {
    return bench.sequences->Make(story.problem, ReferenceLines(story), true);
  }
  std::vector<JudgedLine> lines;
  const double p_line = 0.1 + rng.UniformDouble() * 0.4;
  for (const CorruptedLine& line : CorruptStory(story, p_line, rng)) {
    lines.push_back({line.text, line.verdict, line.verdict.step_ok});
  }
  return bench.sequences->Make(story.problem, lines, false);
}

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
    if (!bench.own.empty() && rng.UniformDouble() < own_share) {
      batch.push_back(
          bench.own[rng.Below(static_cast<uint32_t>(bench.own.size()))]);
    } else {
      ESP_ASSIGN_OR_RETURN(TrainSequence drawn,
                           DrawStory(bench, progress, planted, rng));
      batch.push_back(std::move(drawn));
    }
    tokens += static_cast<int64_t>(batch.back().tokens.size());
  }
  return batch;
}

void LogMetrics(const std::string& file, const std::string& stage,
                const StepMetrics& m) {
  std::ofstream(file, std::ios::app)
      << nlohmann::json{{"stage", stage},
                        {"step", m.step},
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
  double planted = 0.5;      // share of sequences with planted errors
  double own_share = 0;      // share of the model's own responses
  uint64_t data_offset = 0;  // so that stages draw different data
};

absl::Status RunStage(Bench& bench, const Stage& stage) {
  Trainer trainer(*bench.net, stage.trainer);
  const std::string state =
      absl::StrCat(bench.options.work, "/", stage.name, ".state");
  if (fs::exists(state)) ESP_RETURN_IF_ERROR(trainer.Load(state));
  Progress progress(
      absl::StrCat("train ", bench.options.family, " ", stage.name),
      stage.steps - trainer.steps_done(), "steps");
  while (trainer.steps_done() < stage.steps) {
    const int64_t step = trainer.steps_done();
    const double done =
        static_cast<double>(step) / static_cast<double>(stage.steps);
    ESP_ASSIGN_OR_RETURN(
        const std::vector<TrainSequence> batch,
        DrawBatch(bench, step + static_cast<int64_t>(stage.data_offset),
                  stage.curriculum ? done : 1, stage.planted, stage.own_share));
    ESP_ASSIGN_OR_RETURN(const StepMetrics metrics, trainer.Step(batch));
    progress.SetNote(absl::StrFormat(
        "lm %.3f step %.3f path %.3f %.0f tokens/s", metrics.lm_loss,
        metrics.step_bce, metrics.path_bce, metrics.tokens_per_second));
    progress.Add(1);
    if (metrics.step % 10 == 0) {
      LogMetrics(bench.options.work + "/metrics.jsonl", stage.name, metrics);
    }
    if (metrics.step % 100 == 0 || metrics.step == stage.steps) {
      ESP_RETURN_IF_ERROR(trainer.Save(state));
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareTokenizer(Bench& bench) {
  const std::string file = bench.options.work + "/tokenizer.json";
  if (!fs::exists(file)) {
    std::vector<std::string> corpus;
    for (uint64_t i = 0; i < 3000; ++i) {
      const GradedProblem story =
          MakeStory(StoryBands()[i % StoryBands().size()], 1, i);
      ESP_ASSIGN_OR_RETURN(std::string text, bench.task->Render(story.problem));
      for (const std::string& line : story.reference.steps) {
        absl::StrAppend(&text, line, "\n");
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
  const auto bands = StoryBands();
  for (int i = 0; i < bench.options.own_responses; ++i) {
    // Long responses hold the errors that matter: half are hard problems.
    const size_t band = i % 2 == 0 ? 2 : i % 4 == 1 ? 1 : 0;
    graded.push_back(MakeStory(bands[band],
                               kOwnSeed + static_cast<uint64_t>(round),
                               static_cast<uint64_t>(i)));
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

}  // namespace

absl::Status TrainZooModel(const ZooOptions& options) {
  if (options.family != "stories") {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown family \"", options.family, "\": expected stories"));
  }
  std::error_code error;
  fs::create_directories(options.work, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(
        options.work, ": cannot make the folder: ", error.message()));
  }
  Bench bench{.options = options};
  ESP_ASSIGN_OR_RETURN(bench.task, FindTask(options.family));
  ESP_ASSIGN_OR_RETURN(bench.verifier, FindVerifier(options.family));
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
  const TrainerOptions grow = {.learning_rate = options.learning_rate,
                               .total_steps = options.grow_steps,
                               .threads = options.threads};
  ESP_RETURN_IF_ERROR(RunStage(bench, {.name = "grow",
                                       .steps = options.grow_steps,
                                       .trainer = grow,
                                       .curriculum = true,
                                       .planted = 0.6}));
  for (int round = 0; round < options.judge_rounds; ++round) {
    ESP_RETURN_IF_ERROR(SampleOwn(bench, round));
    TrainerOptions judge = grow;
    judge.total_steps = options.judge_steps;
    judge.learning_rate = options.learning_rate / 2;
    judge.lm_coef = options.judge_lm_coef;
    ESP_RETURN_IF_ERROR(RunStage(
        bench, {.name = absl::StrCat("judge", round),
                .steps = options.judge_steps,
                .trainer = judge,
                .planted = 0.4,
                .own_share = 0.5,
                .data_offset = 1000000u * static_cast<uint64_t>(round + 1)}));
  }
  return ExportCheckpoint(*bench.net, bench.tokenizer_json, options.out);
}

}  // namespace espalier
