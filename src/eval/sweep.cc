#include "src/eval/sweep.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/error_list.h"
#include "base/executor.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "datasets/sets/problem_set.h"
#include "espalier/engine.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "src/engine/response_length.h"
#include "src/engine/search_json.h"
#include "src/engine/verifier_reward.h"
#include "src/engine/written_answer.h"
#include "src/eval/judges.h"
#include "src/eval/statistics.h"

namespace espalier {
namespace {

bool Stopped(const SweepOptions& options) {
  return options.stop != nullptr && options.stop->load();
}

// What one row needs to know of the sweep.
struct SweepInput {
  Engine& engine;
  const std::string& set_name;
  const ProblemBlocks& problems;
  const Task& task;
  const Verifier& verifier;
  const SweepOptions& options;
  const RunHooks& hooks;
  std::shared_ptr<ScratchFile> scratch;  // of the rows' lists
};

enum class Judged : char { kNot, kRight, kUndecided };

// What is kept of a search.
struct Outcome {
  bool whole = false;  // false: cut short, so not counted
  Judged judged = Judged::kNot;
  AnswerStage stage = AnswerStage::kNone;
  std::string answer;
  std::string error;
};

// Judges the responses of a block's searches as they arrive, several at a time
// if verdicts are slow.
class BlockJudge {
 public:
  BlockJudge(const Verifier& verifier, absl::Span<const GradedProblem> block)
      : verifier_(verifier),
        block_(block),
        executor_(verifier.slow() ? 0 : 1),
        outcomes_(block.size()) {}

  void Add(size_t i, SearchResult result) {
    Outcome& outcome = outcomes_[i];
    outcome.whole = result.stop_reason != kStoppedFromOutside;
    outcome.stage = result.stage;
    outcome.answer = AnswerAsWritten(result.answer, result.response);
    outcome.error = std::string(result.status.message());
    if (!outcome.whole) return;
    waiting_.push_back({i, std::move(result.response)});
    if (waiting_.size() == kAtOnce) Judge();
  }

  const std::vector<Outcome>& Finish() {
    Judge();
    return outcomes_;
  }
  double seconds() const { return seconds_; }

 private:
  static constexpr size_t kAtOnce = 64;
  struct Response {
    size_t of;
    std::string text;
  };

  void Judge() {
    const double start = Clock::Real().Seconds();
    executor_.ParallelFor(
        static_cast<int>(waiting_.size()), 1, [&](int begin, int end) {
          for (auto i = static_cast<size_t>(begin);
               i < static_cast<size_t>(end); ++i) {
            const GradedProblem& graded = block_[waiting_[i].of];
            const Verdict verdict = verifier_.Check(
                graded.problem, graded.reference, waiting_[i].text);
            outcomes_[waiting_[i].of].judged = verdict.correct ? Judged::kRight
                                               : verdict.undecided
                                                   ? Judged::kUndecided
                                                   : Judged::kNot;
          }
        });
    waiting_.clear();
    seconds_ += Clock::Real().Seconds() - start;
  }

  const Verifier& verifier_;
  const absl::Span<const GradedProblem> block_;
  Executor executor_;
  std::vector<Response> waiting_;
  std::vector<Outcome> outcomes_;
  double seconds_ = 0;
};

void AddOutcome(const std::string& id, const Outcome& outcome, bool list,
                ResultRow& row) {
  row.complete &= outcome.whole;
  row.done.push_back(outcome.whole);
  row.right.push_back(outcome.whole && outcome.judged == Judged::kRight);
  if (!outcome.whole) return;
  row.undecided += outcome.judged == Judged::kUndecided ? 1 : 0;
  row.with_answer += outcome.answer.empty() ? 0 : 1;
  if (list) {
    row.ids.push_back(id);
    row.answers.push_back(outcome.answer);
    row.stages.push_back(AnswerStageName(outcome.stage));
  }
  if (!outcome.error.empty()) {
    row.errors.push_back(absl::StrCat(id, ": ", outcome.error));
  }
}

// Searches a block and adds the results to the row; its means are still sums.
absl::Status RunBlock(const SweepInput& in, const SearchOptions& search,
                      absl::Span<const GradedProblem> block, ResultRow& row,
                      const std::function<void()>& searched) {
  const std::vector<Problem> problems = ProblemsOf(block);
  OracleReward oracle(in.verifier, block);
  RunHooks hooks = in.hooks;
  if (row.oracle) hooks.reward = &oracle;
  BlockJudge judge(in.verifier, block);
  const double start = Clock::Real().Seconds();
  ESP_RETURN_IF_ERROR(in.engine.SolveAll(
      problems, in.task, search, hooks, [&](size_t i, SearchResult result) {
        const bool whole = result.stop_reason != kStoppedFromOutside;
        if (whole) {
          row.tokens_per_problem += static_cast<double>(result.tokens);
          row.prompt_tokens += static_cast<double>(result.prompt_tokens);
          row.reward_tokens += static_cast<double>(result.reward_tokens);
          row.verdict_tokens += static_cast<double>(result.verdict_tokens);
          row.speculated_tokens +=
              static_cast<double>(result.speculated_tokens);
          row.model_calls += static_cast<double>(result.model_calls);
        }
        judge.Add(i, std::move(result));
        if (whole) searched();
      }));
  row.seconds += Clock::Real().Seconds() - start - judge.seconds();
  const std::vector<Outcome>& outcomes = judge.Finish();
  for (size_t i = 0; i < block.size(); ++i) {
    AddOutcome(block[i].problem.id, outcomes[i], in.options.lists, row);
  }
  return absl::OkStatus();
}

absl::StatusOr<ResultRow> RunRow(const SweepInput& in,
                                 const SearchOptions& search,
                                 int64_t done_before, int64_t all) {
  ESP_ASSIGN_OR_RETURN(const auto algorithm, MakeAlgorithm(search.method));
  ResultRow row{.set = in.set_name,
                .method = search.method,
                .configuration = CanonicalMethod(*algorithm),
                .budget_tokens = search.max_tokens,
                .limits = ExtraLimitsJson(search).dump(),
                .seed = search.seed,
                .oracle = in.options.reward == RewardSource::kOracle,
                .ids = TextList(in.scratch),
                .answers = TextList(in.scratch),
                .stages = TextList(in.scratch),
                .errors = TextList(in.scratch)};
  int64_t done = done_before;
  const auto searched = [&] {
    ++done;
    if (in.options.progress) in.options.progress(done, all);
  };
  ESP_RETURN_IF_ERROR(
      in.problems([&](absl::Span<const GradedProblem> block) -> absl::Status {
        if (Stopped(in.options)) {
          row.complete = false;
          return absl::OkStatus();
        }
        return RunBlock(in, search, block, row, searched);
      }));
  for (TextList* list : {&row.ids, &row.answers, &row.stages, &row.errors}) {
    list->Seal();
  }
  const double n = std::max<double>(1, static_cast<double>(row.n()));
  row.tokens_per_problem /= n;
  row.prompt_tokens /= n;
  row.reward_tokens /= n;
  row.verdict_tokens /= n;
  row.speculated_tokens /= n;
  row.model_calls /= n;
  return row;
}

// Refuses a method that these models cannot serve before any work.
absl::Status CheckMethods(const SweepInput& in) {
  ErrorList refused;
  OracleReward oracle(in.verifier, {});
  RunHooks hooks = in.hooks;
  if (in.options.reward == RewardSource::kOracle) hooks.reward = &oracle;
  for (const std::string& method : in.options.methods) {
    SearchOptions search = in.options.search;
    search.method = method;
    if (!in.options.budgets.empty()) {
      search.max_tokens = in.options.budgets.front();
    }
    refused.Add(in.engine.SolveAll({}, in.task, search, hooks,
                                   [](size_t, SearchResult) {}));
  }
  return refused.Status();
}

}  // namespace

absl::Status CheckRepeats(const SweepOptions& options) {
  ErrorList repeats;
  std::map<std::string, std::string> methods;  // by configuration
  for (const std::string& method : options.methods) {
    // Unknown methods are reported elsewhere.
    const auto algorithm = MakeAlgorithm(method);
    const std::string configuration =
        algorithm.ok() ? CanonicalMethod(**algorithm) : method;
    const auto [first, fresh] = methods.try_emplace(configuration, method);
    if (fresh) continue;
    repeats.Add(absl::InvalidArgumentError(
        first->second == method
            ? absl::StrCat("method ", method, " is given twice")
            : absl::StrCat("methods ", first->second, " and ", method,
                           " are the same, ", configuration)));
  }
  for (size_t i = 0; i < options.budgets.size(); ++i) {
    const auto* const begin = options.budgets.data();
    if (std::find(begin, begin + i, options.budgets[i]) == begin + i) continue;
    repeats.Add(absl::InvalidArgumentError(
        absl::StrCat("budget ", options.budgets[i], " tokens is given twice")));
  }
  return repeats.Status();
}

int64_t ResultRow::n() const {
  return std::count(done.begin(), done.end(), true);
}

int64_t ResultRow::successes() const {
  return std::count(right.begin(), right.end(), true);
}

double ResultRow::answered() const {
  return static_cast<double>(with_answer) /
         static_cast<double>(std::max<int64_t>(1, n()));
}

double ResultRow::accuracy() const {
  return static_cast<double>(successes()) /
         static_cast<double>(std::max<int64_t>(1, n()));
}

absl::StatusOr<std::vector<Problem>> FirstProblems(
    const ProblemBlocks& problems, size_t n) {
  std::vector<Problem> first;
  // Ends the reading once there are enough.
  const absl::Status enough = absl::OutOfRangeError("enough");
  const absl::Status read =
      problems([&](absl::Span<const GradedProblem> block) -> absl::Status {
        for (const GradedProblem& graded : block) {
          if (first.size() == n) return enough;
          first.push_back(graded.problem);
        }
        return absl::OkStatus();
      });
  if (!read.ok() && read != enough) return read;
  return first;
}

absl::Status RunSweep(Engine& engine, const std::string& set_name,
                      const ProblemBlocks& problems, int64_t count,
                      const Task& task, const Verifier& verifier,
                      const SweepOptions& options,
                      std::vector<ResultRow>& rows) {
  ESP_RETURN_IF_ERROR(CheckRepeats(options));
  ESP_RETURN_IF_ERROR(verifier.Ready());
  ConstantReward constant;
  RunHooks hooks{.verifier = verifier.ForSearch(),
                 .stop = options.stop,
                 .background_checks = verifier.slow()};
  if (options.reward == RewardSource::kConstant) hooks.reward = &constant;
  std::optional<VerifierReward> verdicts;
  if (options.reward == RewardSource::kVerifier) {
    ESP_ASSIGN_OR_RETURN(verdicts, VerifierReward::Create(verifier));
    hooks.reward = &*verdicts;
  }
  const SweepInput in{
      engine,   set_name, problems, task,
      verifier, options,  hooks,    std::make_shared<ScratchFile>()};
  ESP_RETURN_IF_ERROR(CheckMethods(in));
  const int64_t all =
      count *
      static_cast<int64_t>(options.methods.size() * options.budgets.size()) *
      options.seeds;
  SearchOptions shared = options.search;
  ESP_ASSIGN_OR_RETURN(const std::vector<Problem> first,
                       FirstProblems(problems, kMeasuredProblems));
  ESP_RETURN_IF_ERROR(
      MeasureResponseTokens(engine, first, task, options.stop, shared));
  int64_t done = 0;
  for (const std::string& method : options.methods) {
    for (const int64_t budget : options.budgets) {
      for (int seed = 0; seed < options.seeds; ++seed) {
        SearchOptions search = shared;
        search.method = method;
        search.max_tokens = budget;
        search.seed = options.seed + static_cast<uint64_t>(seed);
        ESP_ASSIGN_OR_RETURN(ResultRow row, RunRow(in, search, done, all));
        done += count;
        rows.push_back(std::move(row));
        if (Stopped(options)) return absl::OkStatus();
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ResultRow>> RunSweep(
    Engine& engine, const std::string& set_name,
    absl::Span<const GradedProblem> problems, const Task& task,
    const Verifier& verifier, const SweepOptions& options) {
  std::vector<ResultRow> rows;
  ESP_RETURN_IF_ERROR(RunSweep(
      engine, set_name, [&](const UseProblems& use) { return use(problems); },
      static_cast<int64_t>(problems.size()), task, verifier, options, rows));
  return rows;
}

namespace {

using MethodAtBudget = std::pair<std::string, int64_t>;

// The seeds of one method at one budget.
std::vector<const ResultRow*> RowsOf(const std::vector<ResultRow>& rows,
                                     const MethodAtBudget& key) {
  std::vector<const ResultRow*> seeds;
  for (const ResultRow& row : rows) {
    if (row.method == key.first && row.budget_tokens == key.second) {
      seeds.push_back(&row);
    }
  }
  return seeds;
}

// Rows that were cut short have only the quick problems.
std::vector<const ResultRow*> CompleteRowsOf(const std::vector<ResultRow>& rows,
                                             const MethodAtBudget& key) {
  std::vector<const ResultRow*> seeds = RowsOf(rows, key);
  std::erase_if(seeds, [](const ResultRow* row) { return !row->complete; });
  return seeds;
}

size_t Positions(const std::vector<const ResultRow*>& seeds) {
  size_t most = 0;
  for (const ResultRow* row : seeds) most = std::max(most, row->done.size());
  return most;
}

// The share of right answers to the problem at position `i` over the seeds that
// finished it, if any did.
std::optional<double> ShareAt(const std::vector<const ResultRow*>& seeds,
                              size_t i) {
  double right = 0, done = 0;
  for (const ResultRow* row : seeds) {
    if (i >= row->done.size() || !row->done[i]) continue;
    done += 1;
    right += row->right[i] ? 1 : 0;
  }
  if (done == 0) return std::nullopt;
  return right / done;
}

std::vector<double> Shares(const std::vector<const ResultRow*>& seeds) {
  std::vector<double> shares;
  const size_t positions = Positions(seeds);
  shares.reserve(positions);
  for (size_t i = 0; i < positions; ++i) {
    if (const auto share = ShareAt(seeds, i)) shares.push_back(*share);
  }
  return shares;
}

}  // namespace

std::string SweepTable(const std::vector<ResultRow>& rows) {
  struct Sum {
    int64_t successes = 0, n = 0, undecided = 0;
    double tokens = 0, seconds = 0, calls = 0, verdict_tokens = 0;
    double speculated_tokens = 0;
    bool oracle = false;
  };
  std::vector<MethodAtBudget> order;
  std::map<MethodAtBudget, Sum> sums;
  size_t width = 6;
  for (const ResultRow& row : rows) {
    const auto key = std::make_pair(row.method, row.budget_tokens);
    if (sums.find(key) == sums.end()) order.push_back(key);
    Sum& sum = sums[key];
    const auto n = static_cast<double>(row.n());
    sum.successes += row.successes();
    sum.undecided += row.undecided;
    sum.n += row.n();
    sum.tokens += row.tokens_per_problem * n;
    sum.calls += row.model_calls * n;
    sum.verdict_tokens += row.verdict_tokens * n;
    sum.speculated_tokens += row.speculated_tokens * n;
    sum.seconds += row.seconds;
    sum.oracle = row.oracle;
    width = std::max(width, row.method.size() + (row.oracle ? 9 : 0));
  }
  std::string table = absl::StrFormat(
      "%-*s %8s %8s %16s %10s %9s %8s\n", static_cast<int>(width), "method",
      "budget", "correct", "95 % interval", "tokens", "calls", "seconds");
  for (const auto& key : order) {
    const Sum& sum = sums[key];
    const std::string name = key.first + (sum.oracle ? " (oracle)" : "");
    if (sum.n == 0) {
      absl::StrAppendFormat(&table, "%-*s %8d  no problem finished\n",
                            static_cast<int>(width), name, key.second);
      continue;
    }
    const std::vector<const ResultRow*> seeds = RowsOf(rows, key);
    const Interval ci = seeds.size() == 1 ? WilsonInterval(sum.successes, sum.n)
                                          : ShareInterval(Shares(seeds));
    const auto n = static_cast<double>(sum.n);
    absl::StrAppendFormat(
        &table, "%-*s %8d %7.1f%% %6.1f%% - %5.1f%% %10.1f %9.1f %8.1f\n",
        static_cast<int>(width), name, key.second,
        100.0 * static_cast<double>(sum.successes) / n, 100 * ci.low,
        100 * ci.high, sum.tokens / n, sum.calls / n, sum.seconds);
  }
  for (const auto& key : order) {
    const Sum& sum = sums[key];
    if (sum.verdict_tokens == 0) continue;
    absl::StrAppendFormat(
        &table,
        "%s, %d tokens: the reward model wrote %.1f tokens of verdicts per "
        "problem\n",
        key.first, key.second, sum.verdict_tokens / static_cast<double>(sum.n));
  }
  for (const auto& key : order) {
    const Sum& sum = sums[key];
    if (sum.speculated_tokens == 0) continue;
    absl::StrAppendFormat(
        &table,
        "%s, %d tokens: %.1f more tokens per problem were sampled ahead and "
        "not used\n",
        key.first, key.second,
        sum.speculated_tokens / static_cast<double>(sum.n));
  }
  for (const ResultRow& row : rows) {
    if (row.complete || row.n() == 0) continue;
    absl::StrAppendFormat(&table,
                          "%s, %d tokens: stopped after the first %d finished "
                          "problems; not compared\n",
                          row.method, row.budget_tokens, row.n());
  }
  for (const auto& key : order) {
    if (sums[key].undecided == 0) continue;
    absl::StrAppendFormat(
        &table,
        "%s, %d tokens: %d answers are undecided and counted as not right\n",
        key.first, key.second, sums[key].undecided);
  }
  return table;
}

LongJson SweepJson(const std::vector<ResultRow>& rows) {
  LongJson report;
  nlohmann::json results = nlohmann::json::array();
  const auto texts = [&](const TextList& list) {
    return report.Array([&list](const LongJson::Put& put) {
      return list.ForEach([&](std::string_view text) { return put(text); });
    });
  };
  for (const ResultRow& row : rows) {
    const int64_t n = row.n();
    if (n == 0) continue;  // no problem done, nothing to compare
    const auto correct = [&row](const LongJson::Put& put) -> absl::Status {
      for (size_t i = 0; i < row.done.size(); ++i) {
        if (row.done[i]) ESP_RETURN_IF_ERROR(put(row.right[i] ? 1 : 0));
      }
      return absl::OkStatus();
    };
    const Interval ci = WilsonInterval(row.successes(), n);
    results.push_back({{"set", row.set},
                       {"method", row.method},
                       {"configuration", row.configuration},
                       {"config_hash", MethodHash(row.configuration)},
                       {"budget_tokens", row.budget_tokens},
                       {"limits", ParseJsonOrNull(row.limits)},
                       {"n", n},
                       {"accuracy", row.accuracy()},
                       {"ci_low", ci.low},
                       {"ci_high", ci.high},
                       {"tokens_per_problem", row.tokens_per_problem},
                       {"prompt_tokens", row.prompt_tokens},
                       {"reward_tokens", row.reward_tokens},
                       {"verdict_tokens", row.verdict_tokens},
                       {"speculated_tokens", row.speculated_tokens},
                       {"model_calls", row.model_calls},
                       {"seconds", row.seconds},
                       {"seed", row.seed},
                       {"oracle", row.oracle},
                       {"complete", row.complete},
                       {"ids", texts(row.ids)},
                       {"correct", report.Array(correct)},
                       {"undecided", row.undecided},
                       {"answers", texts(row.answers)},
                       {"answered", row.answered()},
                       {"stages", texts(row.stages)},
                       {"errors", texts(row.errors)}});
  }
  report.json["results"] = std::move(results);
  return report;
}

std::vector<Comparison> CompareWith(const std::string& method,
                                    const std::vector<ResultRow>& rows) {
  std::vector<Comparison> out;
  for (const ResultRow& row : rows) {
    const bool seen = std::any_of(out.begin(), out.end(), [&](const auto& c) {
      return c.other == row.method && c.budget_tokens == row.budget_tokens;
    });
    if (row.method == method || seen) continue;
    const std::vector<const ResultRow*> ours =
        CompleteRowsOf(rows, {method, row.budget_tokens});
    const std::vector<const ResultRow*> theirs =
        CompleteRowsOf(rows, {row.method, row.budget_tokens});
    std::vector<double> lead;
    const size_t positions = std::min(Positions(ours), Positions(theirs));
    lead.reserve(positions);
    for (size_t i = 0; i < positions; ++i) {
      const auto a = ShareAt(ours, i), b = ShareAt(theirs, i);
      if (a && b) lead.push_back(*a - *b);
    }
    if (lead.empty()) continue;
    out.push_back({method, row.method, row.budget_tokens,
                   static_cast<int64_t>(lead.size()), BootstrapMean(lead, 0)});
  }
  return out;
}

std::string ComparisonTable(const std::vector<Comparison>& comparisons) {
  size_t width = 6;
  for (const Comparison& c : comparisons) {
    width = std::max(width, c.other.size());
  }
  std::string table;
  for (const Comparison& c : comparisons) {
    absl::StrAppendFormat(
        &table, "%s against %-*s %8d %+7.1f points  %+6.1f to %+6.1f (95 %%)\n",
        c.method, static_cast<int>(width), c.other, c.budget_tokens,
        100 * c.difference.mean, 100 * c.difference.interval.low,
        100 * c.difference.interval.high);
  }
  return table;
}

nlohmann::json ComparisonJson(const std::vector<Comparison>& comparisons) {
  nlohmann::json out = nlohmann::json::array();
  for (const Comparison& c : comparisons) {
    out.push_back({{"method", c.method},
                   {"other", c.other},
                   {"budget_tokens", c.budget_tokens},
                   {"n", c.n},
                   {"difference", c.difference.mean},
                   {"ci_low", c.difference.interval.low},
                   {"ci_high", c.difference.interval.high}});
  }
  return out;
}

}  // namespace espalier
