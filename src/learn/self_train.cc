#include "src/learn/self_train.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/settings.h"
#include "base/status_macros.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "models/tokenizer/same_tokens.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json.hpp"
#include "src/engine/generate.h"
#include "src/engine/response_length.h"
#include "src/learn/train_run.h"

namespace espalier {

namespace fs = std::filesystem;

void SelfTrainOptions::Visit(OptionVisitor& v) {
  v.Text("set", &set, "problems to learn from: a set or a file");
  v.Int("rounds", &rounds, 1, 1000, "maximum number of rounds");
  v.Int("problems", &problems, 1, 100000000, "new problems in each round");
  v.Int("set_seed", &set_seed, 0, 1999,
        "seed of a generated set; below 2000, since tests use larger ones");
  v.Int("seed", &seed, 0, 1000000000,
        "seed of the searches and of the order of the data");
  v.Text("search", &search, "method with options");
  v.Int("budget_tokens", &budget_tokens, 1, 100000000, "tokens per search");
  v.Int("per_problem", &per_problem, 0, 1000000,
        "maximum distinct responses imitated per problem; 0: all");
  v.Flag("restart", &restart,
         "train the first model on all rounds' data, not the last one on this "
         "round's");
  v.Real("epochs", &epochs, 0.001f, 1000, "passes over the responses");
  v.Real("learning_rate", &learning_rate, 1e-9f, 1,
         "learning rate of the policy");
  v.Int("batch_tokens", &batch_tokens, 1, 100000000,
        "tokens per optimiser step");
  v.Int("lora_rank", &lora_rank, 0, 1000000,
        "train adapters of this rank; 0: all weights");
  v.Real("min_perplexity", &min_perplexity, 0, 1e30f,
         "do not imitate steps with a lower perplexity");
  v.Real("max_perplexity", &max_perplexity, 0, 1e30f,
         "do not imitate steps with a higher perplexity; 0: no limit");
  v.Flag("train_reward", &train_reward, "train a reward model, too");
  v.Flag("quality", &quality,
         "label steps by quality values, not by outcome shares");
  v.Real("reward_epochs", &reward_epochs, 0.001f, 1000,
         "passes over the judged paths");
  v.Real("reward_learning_rate", &reward_learning_rate, 1e-9f, 1,
         "learning rate of the reward model");
  v.Text("gate_method", &gate_method,
         "method with which the gate compares models");
  v.Int("gate_tokens", &gate_tokens, 1, 100000000,
        "tokens per search of the gate");
  v.Int("gate_problems", &gate_problems, 1, 100000000,
        "number of problems of the gate");
  v.Int("gate_seed", &gate_seed, 0, 1999, "seed of the gate's set");
  v.Real("alpha", &alpha, 1e-9f, 1,
         "promote a model if the p-value of the one-sided test is lower");
}

namespace {

// The models that a round trains and searches with.
struct Models {
  std::string policy;
  std::string reward;  // "": the policy's own heads
};

nlohmann::json ToJson(const RoundSummary& s) {
  return {{"round", s.round},
          {"searches", s.searches},
          {"solved", s.solved},
          {"tokens", s.tokens},
          {"examples", s.examples},
          {"reward_examples", s.reward_examples},
          {"n", s.gate.n},
          {"right_before", s.gate.right_before},
          {"right_after", s.gate.right_after},
          {"gained", s.gate.gained},
          {"lost", s.gate.lost},
          {"p_value", s.gate.p_value},
          {"promote", s.gate.promote},
          {"reason", s.gate.reason},
          {"generate_seconds", s.generate_seconds},
          {"reward_seconds", s.reward_seconds},
          {"policy_seconds", s.policy_seconds},
          {"gate_seconds", s.gate_seconds}};
}

RoundSummary FromJson(const nlohmann::json& j) {
  RoundSummary s{.round = j.at("round"),
                 .searches = j.at("searches"),
                 .solved = j.at("solved"),
                 .tokens = j.at("tokens"),
                 .examples = j.at("examples"),
                 .reward_examples = j.at("reward_examples"),
                 .generate_seconds = j.at("generate_seconds"),
                 .reward_seconds = j.at("reward_seconds"),
                 .policy_seconds = j.at("policy_seconds"),
                 .gate_seconds = j.at("gate_seconds")};
  s.gate = {.n = j.at("n"),
            .right_before = j.at("right_before"),
            .right_after = j.at("right_after"),
            .gained = j.at("gained"),
            .lost = j.at("lost"),
            .p_value = j.at("p_value"),
            .promote = j.at("promote"),
            .reason = j.at("reason")};
  return s;
}

class SelfTraining {
 public:
  SelfTraining(const SelfTrainOptions& options, const SelfTrainHooks& hooks)
      : options_(options),
        hooks_(hooks),
        work_(options.work.empty() ? options.out + ".work" : options.work) {}

  absl::StatusOr<std::vector<RoundSummary>> Run() {
    ESP_RETURN_IF_ERROR(Prepare());
    Models best{options_.model, options_.reward_model};
    for (int round = 1; round <= options_.rounds; ++round) {
      const std::string place = absl::StrCat(work_, "/round", round);
      RoundSummary summary{.round = round};
      Models next = best;
      ESP_ASSIGN_OR_RETURN(const bool known, Recall(place, summary));
      if (known) {
        Name(place, next);
      } else {
        ESP_RETURN_IF_ERROR(Round(place, best, next, summary));
        ESP_RETURN_IF_ERROR(WriteFileAtomic(
            place + ".json", JsonText(ToJson(summary), 1) + "\n"));
      }
      if (summary.gate.promote) best = next;
      summaries_.push_back(summary);
      if (hooks_.round_done) hooks_.round_done(summary);
    }
    if (!fs::exists(options_.out)) ESP_RETURN_IF_ERROR(Publish(best));
    return summaries_;
  }

 private:
  absl::Status Prepare() {
    // An existing output that an earlier call of this self-training wrote is
    // fine.
    if (fs::exists(options_.out) && !fs::exists(PublishedMark())) {
      return absl::AlreadyExistsError(absl::StrCat(
          options_.out, ": already exists; remove it or name another --out"));
    }
    ESP_RETURN_IF_ERROR(CheckSearch(
        {.method = options_.search, .max_tokens = options_.budget_tokens},
        true));
    ESP_RETURN_IF_ERROR(CheckSearch(
        {.method = options_.gate_method, .max_tokens = options_.gate_tokens}));
    ESP_ASSIGN_OR_RETURN(
        gate_, LoadSet(options_.set,
                       {.limit = options_.gate_problems,
                        .seed = static_cast<uint64_t>(options_.gate_seed),
                        .strict = true}));
    for (const GradedProblem& graded : gate_.problems) {
      gate_questions_.push_back(graded.problem.question);
    }
    ESP_ASSIGN_OR_RETURN(task_, FindTask(gate_.task));
    ESP_ASSIGN_OR_RETURN(verifier_, FindVerifier(gate_.task));
    ESP_RETURN_IF_ERROR(verifier_->Ready());
    ESP_RETURN_IF_ERROR(KeepJudged(*verifier_, gate_).status());
    ESP_RETURN_IF_ERROR(CheckProblems());
    // Fail before any folder is created if a model cannot be served, or the
    // reward model cannot learn from the policy's tokens.
    if (!options_.reward_model.empty()) {
      ESP_ASSIGN_OR_RETURN(const auto policy, Tokenizer::Load(options_.model));
      ESP_ASSIGN_OR_RETURN(const auto reward,
                           Tokenizer::Load(options_.reward_model));
      ESP_RETURN_IF_ERROR(CheckSameTokens(options_.reward_model,
                                          "a reward model in training", *reward,
                                          *policy));
    }
    ESP_RETURN_IF_ERROR(Engine::Create({.policy = options_.model,
                                        .critic = options_.reward_model,
                                        .threads = 1})
                            .status());
    std::error_code error;
    fs::create_directories(work_, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrCat(work_, ": cannot make the folder: ", error.message()));
    }
    return SettleConfig();
  }

  // If rounds and gate use the same file or the same seed, the rounds' problems
  // begin after the gate's.
  SetOptions SetOfRound(int round) const {
    const std::vector<std::string> generated = SetNames();
    const bool drawn = std::find(generated.begin(), generated.end(),
                                 options_.set) != generated.end();
    const bool apart = drawn && options_.set_seed != options_.gate_seed;
    return {.limit = options_.problems,
            .seed = static_cast<uint64_t>(options_.set_seed),
            .first = (apart ? 0 : int64_t{options_.gate_problems}) +
                     static_cast<int64_t>(round - 1) * options_.problems,
            .strict = true};
  }

  // A file may run out before the rounds do, or be used up by the gate.
  absl::Status CheckProblems() const {
    ESP_ASSIGN_OR_RETURN(const ProblemSet first,
                         LoadSet(options_.set, SetOfRound(1)));
    const SetOptions last_options = SetOfRound(options_.rounds);
    ESP_ASSIGN_OR_RETURN(const ProblemSet last,
                         LoadSet(options_.set, last_options));
    if (last.problems.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(options_.set, ": has no problems from ",
                       last_options.first, " on, where round ", options_.rounds,
                       " begins; lower gate_problems, rounds or problems"));
    }
    const bool outside = std::any_of(
        first.problems.begin(), first.problems.end(), [&](const auto& graded) {
          return std::find(gate_questions_.begin(), gate_questions_.end(),
                           graded.problem.question) == gate_questions_.end();
        });
    if (outside) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        options_.set,
        ": all problems of round 1 are among the gate's, which must not be "
        "trained on; lower gate_problems or raise problems"));
  }

  // Everything except threads determines the result.
  absl::Status SettleConfig() {
    SelfTrainOptions copy = options_;
    OptionLister lister;
    copy.Visit(lister);
    nlohmann::json json = {{"model", options_.model},
                           {"reward_model", options_.reward_model}};
    for (const OptionInfo& option : lister.options()) {
      json[option.name] = option.value;
    }
    return espalier::SettleConfig(work_ + "/config.json", json,
                                  "a self-training",
                                  "give those, or another --work");
  }

  // True if an earlier call finished the round.
  absl::StatusOr<bool> Recall(const std::string& place, RoundSummary& summary) {
    const std::string path = place + ".json";
    if (!fs::exists(path)) return false;
    ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    try {
      summary = FromJson(ParseJsonOrNull(text));
    } catch (const nlohmann::json::exception& e) {
      return absl::DataLossError(
          absl::StrCat(path, ": damaged (", e.what(),
                       "); remove it to do the round's gate "
                       "again"));
    }
    return true;
  }

  void Name(const std::string& place, Models& next) const {
    next.policy = place + "-policy";
    if (options_.train_reward) next.reward = place + "-reward";
  }

  absl::Status Round(const std::string& place, const Models& best, Models& next,
                     RoundSummary& summary) {
    ESP_RETURN_IF_ERROR(Generate(best, summary));
    if (options_.train_reward) {
      ESP_RETURN_IF_ERROR(Train(true, best, place, summary));
    }
    ESP_RETURN_IF_ERROR(Train(false, best, place, summary));
    Name(place, next);
    const double start = Clock::Real().Seconds();
    ESP_ASSIGN_OR_RETURN(const std::vector<bool> before, Answer(best));
    ESP_ASSIGN_OR_RETURN(const std::vector<bool> after, Answer(next));
    summary.gate = CompareOneSided(after, before, options_.alpha);
    summary.gate_seconds = Clock::Real().Seconds() - start;
    return absl::OkStatus();
  }

  // Searches the round's problems with the best models so far.
  absl::Status Generate(const Models& models, RoundSummary& summary) {
    const double start = Clock::Real().Seconds();
    const SetOptions set_options = SetOfRound(summary.round);
    ESP_ASSIGN_OR_RETURN(const ProblemSet set,
                         LoadSet(options_.set, set_options));
    GenerateOptions generate{
        .search = {.method = options_.search,
                   .max_tokens = options_.budget_tokens,
                   .seed = static_cast<uint64_t>(options_.seed)}};
    const EngineOptions engine_options{.policy = models.policy,
                                       .critic = models.reward,
                                       .threads = options_.threads,
                                       .live = 64};
    ESP_ASSIGN_OR_RETURN(const auto engine, Engine::Create(engine_options));
    const std::vector<Problem> problems = ProblemsOf(set.problems);
    ESP_RETURN_IF_ERROR(MeasureResponseTokens(*engine, problems, *task_,
                                              hooks_.stop, generate.search));
    if (hooks_.stop != nullptr && hooks_.stop->load()) return Stopped();
    ESP_ASSIGN_OR_RETURN(
        const RunInfo info,
        DescribeRun(generate, set, set_options, engine_options));
    const std::string path = work_ + "/run.db";
    ESP_ASSIGN_OR_RETURN(
        const auto db,
        RunDb::Open(path, fs::exists(path) ? Sqlite::kWrite : Sqlite::kCreate));
    ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db->Runs());
    int64_t run_id = 0;
    for (const RunRow& run : runs) {
      if (run.config_hash == ConfigHash(info)) run_id = run.run_id;
    }
    if (run_id == 0) {
      ESP_ASSIGN_OR_RETURN(run_id, OpenRun(*db, info, false));
    }
    runs_.push_back(run_id);
    Progress progress(
        absl::StrCat("round ", summary.round, ": search ", options_.set),
        static_cast<int64_t>(set.problems.size()), "problems");
    const auto show = [&](const GenerateTotals& totals) {
      progress.Set(totals.done, totals.done - totals.searched);
    };
    const GenerateHooks hooks{.stop = hooks_.stop,
                              .progress = show,
                              .verifier = hooks_.search_verifier};
    ESP_ASSIGN_OR_RETURN(
        const GenerateTotals totals,
        espalier::Generate(*engine, *db, run_id, set, generate, hooks));
    show(totals);  // even if there was nothing left to search
    progress.Finish();
    if (totals.stopped) return Stopped();
    summary.searches = totals.done;
    summary.solved = totals.solved;
    summary.tokens = totals.tokens;
    summary.generate_seconds = Clock::Real().Seconds() - start;
    return absl::OkStatus();
  }

  static absl::Status Stopped() {
    return absl::CancelledError(
        "stopped; the same command continues from here");
  }

  absl::Status Train(bool reward, const Models& best, const std::string& place,
                     RoundSummary& summary) {
    TrainRunOptions train{
        .model = FirstModel(reward, best),
        .data = work_ + "/run.db",
        .out = place + (reward ? "-reward" : "-policy"),
        .epochs = reward ? options_.reward_epochs : options_.epochs,
        .batch_tokens = options_.batch_tokens,
        .learning_rate =
            reward ? options_.reward_learning_rate : options_.learning_rate,
        .lora = {.rank = options_.lora_rank},
        .seed = static_cast<uint64_t>(options_.seed),
        .threads = options_.threads};
    train.objective = reward ? "bce" : "sft";
    train.train_data.run = options_.restart ? 0 : runs_.back();
    train.train_data.paths.per_problem = options_.per_problem;
    train.train_data.paths.min_perplexity = options_.min_perplexity;
    if (options_.max_perplexity > 0) {
      train.train_data.paths.max_perplexity = options_.max_perplexity;
    }
    train.train_data.steps.quality = options_.quality;
    train.train_data.contamination.questions = gate_questions_;
    FilterLog log;
    ESP_ASSIGN_OR_RETURN(const TrainReport report,
                         TrainModel(train, hooks_.stop, log));
    (reward ? summary.reward_examples : summary.examples) = report.sequences;
    (reward ? summary.reward_seconds : summary.policy_seconds) = report.seconds;
    return absl::OkStatus();
  }

  // The model that training starts from.
  std::string FirstModel(bool reward, const Models& best) const {
    const Models from =
        options_.restart ? Models{options_.model, options_.reward_model} : best;
    return reward && !from.reward.empty() ? from.reward : from.policy;
  }

  // Which of the gate's problems the models answer correctly.
  absl::StatusOr<std::vector<bool>> Answer(const Models& models) {
    ESP_ASSIGN_OR_RETURN(const auto engine,
                         Engine::Create({.policy = models.policy,
                                         .critic = models.reward,
                                         .threads = options_.threads,
                                         .live = 64}));
    const std::vector<Problem> problems = ProblemsOf(gate_.problems);
    SearchOptions search{.method = options_.gate_method,
                         .max_tokens = options_.gate_tokens,
                         .seed = static_cast<uint64_t>(options_.seed)};
    ESP_RETURN_IF_ERROR(
        MeasureResponseTokens(*engine, problems, *task_, hooks_.stop, search));
    Progress progress("gate", static_cast<int64_t>(problems.size()),
                      "problems");
    std::vector<bool> right(problems.size());
    absl::Status failed;
    ESP_RETURN_IF_ERROR(engine->SolveAll(
        problems, *task_, search, {.stop = hooks_.stop},
        [&](size_t i, const SearchResult& result) {
          progress.Add(1);
          if (!result.status.ok()) failed = result.status;
          right[i] = !result.answer.empty() &&
                     verifier_
                         ->Check(gate_.problems[i].problem,
                                 gate_.problems[i].reference, result.response)
                         .correct;
        }));
    progress.Finish();
    ESP_RETURN_IF_ERROR(failed);
    if (hooks_.stop != nullptr && hooks_.stop->load()) return Stopped();
    return right;
  }

  // Copies the best models to the output folder, atomically.
  absl::Status Publish(const Models& best) const {
    const std::string part = options_.out + ".part";
    std::error_code error;
    fs::remove_all(part, error);
    fs::copy(best.policy, part, fs::copy_options::recursive, error);
    if (!error && !best.reward.empty() && options_.train_reward) {
      fs::copy(best.reward, part + "/reward", fs::copy_options::recursive,
               error);
    }
    if (!error) {
      ESP_RETURN_IF_ERROR(
          WriteFileAtomic(PublishedMark(), options_.out + "\n"));
      fs::rename(part, options_.out, error);
    }
    if (!error) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat(options_.out, ": cannot be written: ", error.message()));
  }

  // Created just before the result appears.
  std::string PublishedMark() const { return work_ + "/published"; }

  const SelfTrainOptions& options_;
  const SelfTrainHooks& hooks_;
  const std::string work_;
  ProblemSet gate_;
  std::vector<std::string> gate_questions_;
  const Task* task_ = nullptr;
  const Verifier* verifier_ = nullptr;
  std::vector<int64_t> runs_;
  std::vector<RoundSummary> summaries_;
};

}  // namespace

absl::StatusOr<std::vector<RoundSummary>> SelfTrain(
    const SelfTrainOptions& options, const SelfTrainHooks& hooks) {
  return SelfTraining(options, hooks).Run();
}

}  // namespace espalier
