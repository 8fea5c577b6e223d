#include "src/eval/sweep.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "datasets/readers/problem_set.h"
#include "search/algorithm.h"
#include "src/base/clock.h"
#include "src/base/error_list.h"
#include "src/base/executor.h"
#include "src/base/status_macros.h"
#include "src/engine/response_length.h"
#include "src/engine/search_json.h"
#include "src/engine/verifier_reward.h"
#include "src/eval/judges.h"
#include "src/eval/statistics.h"

namespace espalier {
namespace {

// What a run of one row needs to know of the sweep.
struct SweepInput {
  Engine& engine;
  const std::string& set_name;
  absl::Span<const GradedProblem> graded;
  std::vector<Problem> problems;  // without references
  const Task& task;
  const Verifier& verifier;
  const SweepOptions& options;
};

enum class Judged : char { kNot, kRight, kUndecided };

// Of each result that there is; several at a time where a verdict takes long.
std::vector<Judged> Judge(const SweepInput& in,
                          absl::Span<const SearchResult> results,
                          const std::vector<bool>& have) {
  std::vector<Judged> judged(results.size(), Judged::kNot);
  Executor executor(in.verifier.slow() ? 0 : 1);
  executor.ParallelFor(
      static_cast<int>(results.size()), 1, [&](int begin, int end) {
        for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end);
             ++i) {
          if (!have[i]) continue;
          const GradedProblem& graded = in.graded[i];
          const Verdict verdict = in.verifier.Check(
              graded.problem, graded.reference, results[i].response);
          judged[i] = verdict.correct     ? Judged::kRight
                      : verdict.undecided ? Judged::kUndecided
                                          : Judged::kNot;
        }
      });
  return judged;
}

absl::StatusOr<ResultRow> RunRow(const SweepInput& in,
                                 const SearchOptions& search, RunHooks hooks,
                                 int64_t done_before, int64_t all) {
  ESP_ASSIGN_OR_RETURN(const auto algorithm, MakeAlgorithm(search.method));
  ResultRow row{.set = in.set_name,
                .method = search.method,
                .configuration = CanonicalMethod(*algorithm),
                .budget_tokens = search.max_tokens,
                .limits = ExtraLimitsJson(search),
                .seed = search.seed,
                .oracle = in.options.reward == RewardSource::kOracle};
  const double start = Clock::Real().Seconds();
  std::vector<SearchResult> results(in.problems.size());
  std::vector<bool> have(in.problems.size(), false);
  int64_t done = 0;
  ESP_RETURN_IF_ERROR(in.engine.SolveAll(
      in.problems, in.task, search, hooks, [&](size_t i, SearchResult result) {
        results[i] = std::move(result);
        have[i] = true;
        ++done;
        if (in.options.progress) in.options.progress(done_before + done, all);
      }));
  row.seconds = Clock::Real().Seconds() - start;
  const std::vector<Judged> judged = Judge(in, results, have);
  for (size_t i = 0; i < results.size(); ++i) {
    const SearchResult& result = results[i];
    // One that was cut short says nothing of its method.
    const bool whole = have[i] && result.stop_reason != kStoppedFromOutside;
    row.complete &= whole;
    if (!whole) continue;
    const GradedProblem& graded = in.graded[i];
    row.ids.push_back(graded.problem.id);
    row.correct.push_back(judged[i] == Judged::kRight ? 1 : 0);
    row.undecided += judged[i] == Judged::kUndecided ? 1 : 0;
    row.answers.push_back(result.answer);
    row.stages.emplace_back(AnswerStageName(result.stage));
    row.tokens_per_problem += static_cast<double>(result.tokens);
    row.prompt_tokens += static_cast<double>(result.prompt_tokens);
    row.reward_tokens += static_cast<double>(result.reward_tokens);
    row.model_calls += static_cast<double>(result.model_calls);
    if (!result.status.ok()) {
      row.errors.push_back(
          absl::StrCat(graded.problem.id, ": ", result.status.message()));
    }
  }
  const double n = std::max<double>(1, static_cast<double>(row.ids.size()));
  row.tokens_per_problem /= n;
  row.prompt_tokens /= n;
  row.reward_tokens /= n;
  row.model_calls /= n;
  return row;
}

}  // namespace

int64_t ResultRow::successes() const {
  return std::count(correct.begin(), correct.end(), 1);
}

double ResultRow::answered() const {
  const auto none = std::count(answers.begin(), answers.end(), "");
  return answers.empty() ? 0
                         : 1 - static_cast<double>(none) /
                                   static_cast<double>(answers.size());
}

double ResultRow::accuracy() const {
  return correct.empty() ? 0
                         : static_cast<double>(successes()) /
                               static_cast<double>(correct.size());
}

absl::StatusOr<std::vector<ResultRow>> RunSweep(
    Engine& engine, const std::string& set_name,
    absl::Span<const GradedProblem> problems, const Task& task,
    const Verifier& verifier, const SweepOptions& options) {
  ESP_RETURN_IF_ERROR(verifier.Ready());
  SweepInput in{engine, set_name, problems, ProblemsOf(problems),
                task,   verifier, options};
  ConstantReward constant;
  OracleReward oracle(verifier, problems);
  RunHooks hooks{.verifier = verifier.ForSearch(),
                 .stop = options.stop,
                 .slow_checks = verifier.slow()};
  if (options.reward == RewardSource::kConstant) hooks.reward = &constant;
  if (options.reward == RewardSource::kOracle) hooks.reward = &oracle;
  std::optional<VerifierReward> verdicts;
  if (options.reward == RewardSource::kVerifier) {
    ESP_ASSIGN_OR_RETURN(verdicts, VerifierReward::Create(verifier));
    hooks.reward = &*verdicts;
  }
  // A method that these models cannot serve is refused before any work.
  ErrorList refused;
  for (const std::string& method : options.methods) {
    SearchOptions search = options.search;
    search.method = method;
    if (!options.budgets.empty()) search.max_tokens = options.budgets.front();
    refused.Add(
        engine.SolveAll({}, task, search, hooks, [](size_t, SearchResult) {}));
  }
  ESP_RETURN_IF_ERROR(refused.Status());
  const int64_t all = static_cast<int64_t>(
      problems.size() * options.methods.size() * options.budgets.size() *
      static_cast<size_t>(options.seeds));
  SearchOptions shared = options.search;
  ESP_RETURN_IF_ERROR(
      MeasureResponseTokens(engine, in.problems, task, options.stop, shared));
  std::vector<ResultRow> rows;
  int64_t done = 0;
  for (const std::string& method : options.methods) {
    for (const int64_t budget : options.budgets) {
      for (int seed = 0; seed < options.seeds; ++seed) {
        SearchOptions search = shared;
        search.method = method;
        search.max_tokens = budget;
        search.seed = options.seed + static_cast<uint64_t>(seed);
        ESP_ASSIGN_OR_RETURN(ResultRow row,
                             RunRow(in, search, hooks, done, all));
        done += static_cast<int64_t>(problems.size());
        if (options.on_row) options.on_row(row);
        rows.push_back(std::move(row));
        if (options.stop != nullptr && options.stop->load()) return rows;
      }
    }
  }
  return rows;
}

std::string SweepTable(const std::vector<ResultRow>& rows) {
  struct Sum {
    int64_t successes = 0, n = 0, undecided = 0;
    double tokens = 0, seconds = 0, calls = 0;
    bool oracle = false;
  };
  std::vector<std::pair<std::string, int64_t>> order;
  std::map<std::pair<std::string, int64_t>, Sum> sums;
  size_t width = 6;
  for (const ResultRow& row : rows) {
    const auto key = std::make_pair(row.method, row.budget_tokens);
    if (sums.find(key) == sums.end()) order.push_back(key);
    Sum& sum = sums[key];
    const double n = static_cast<double>(row.correct.size());
    sum.successes += row.successes();
    sum.undecided += row.undecided;
    sum.n += static_cast<int64_t>(row.correct.size());
    sum.tokens += row.tokens_per_problem * n;
    sum.calls += row.model_calls * n;
    sum.seconds += row.seconds;
    sum.oracle = row.oracle;
    width = std::max(width, row.method.size() + (row.oracle ? 9 : 0));
  }
  std::string table = absl::StrFormat(
      "%-*s %8s %8s %16s %10s %9s %8s\n", static_cast<int>(width), "method",
      "budget", "correct", "95 % interval", "tokens", "calls", "seconds");
  for (const auto& key : order) {
    const Sum& sum = sums[key];
    const Interval ci = WilsonInterval(sum.successes, sum.n);
    const double n = std::max<double>(1, static_cast<double>(sum.n));
    absl::StrAppendFormat(
        &table, "%-*s %8d %7.1f%% %6.1f%% - %5.1f%% %10.1f %9.1f %8.1f\n",
        static_cast<int>(width), key.first + (sum.oracle ? " (oracle)" : ""),
        key.second, 100.0 * static_cast<double>(sum.successes) / n,
        100 * ci.low, 100 * ci.high, sum.tokens / n, sum.calls / n,
        sum.seconds);
  }
  for (const ResultRow& row : rows) {
    if (row.complete) continue;
    absl::StrAppendFormat(&table,
                          "%s, %d tokens: cut short after %d problems, those "
                          "that were done first; not compared\n",
                          row.method, row.budget_tokens, row.correct.size());
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

nlohmann::json SweepJson(const std::vector<ResultRow>& rows) {
  nlohmann::json results = nlohmann::json::array();
  for (const ResultRow& row : rows) {
    const Interval ci = WilsonInterval(
        row.successes(), static_cast<int64_t>(row.correct.size()));
    results.push_back({{"set", row.set},
                       {"method", row.method},
                       {"configuration", row.configuration},
                       {"config_hash", MethodHash(row.configuration)},
                       {"budget_tokens", row.budget_tokens},
                       {"limits", row.limits},
                       {"n", row.correct.size()},
                       {"accuracy", row.accuracy()},
                       {"ci_low", ci.low},
                       {"ci_high", ci.high},
                       {"tokens_per_problem", row.tokens_per_problem},
                       {"prompt_tokens", row.prompt_tokens},
                       {"reward_tokens", row.reward_tokens},
                       {"model_calls", row.model_calls},
                       {"seconds", row.seconds},
                       {"seed", row.seed},
                       {"oracle", row.oracle},
                       {"complete", row.complete},
                       {"ids", row.ids},
                       {"correct", row.correct},
                       {"undecided", row.undecided},
                       {"answers", row.answers},
                       {"answered", row.answered()},
                       {"stages", row.stages},
                       {"errors", row.errors}});
  }
  return {{"results", results}};
}

namespace {

// Each problem's share of right answers over the seeds.
std::map<std::string, double> MeanByProblem(const std::vector<ResultRow>& rows,
                                            const std::string& method,
                                            int64_t budget) {
  std::map<std::string, std::pair<double, double>> sums;
  for (const ResultRow& row : rows) {
    if (row.method != method || row.budget_tokens != budget) continue;
    if (!row.complete) continue;  // of the problems that were quick
    for (size_t i = 0; i < row.ids.size(); ++i) {
      sums[row.ids[i]].first += row.correct[i];
      sums[row.ids[i]].second += 1;
    }
  }
  std::map<std::string, double> means;
  for (const auto& [id, sum] : sums) means[id] = sum.first / sum.second;
  return means;
}

}  // namespace

std::vector<Comparison> CompareWith(const std::string& method,
                                    const std::vector<ResultRow>& rows) {
  std::vector<Comparison> out;
  for (const ResultRow& row : rows) {
    const bool seen = std::any_of(out.begin(), out.end(), [&](const auto& c) {
      return c.other == row.method && c.budget_tokens == row.budget_tokens;
    });
    if (row.method == method || seen) continue;
    const auto others = MeanByProblem(rows, row.method, row.budget_tokens);
    std::vector<double> a, b;
    for (const auto& [id, mean] :
         MeanByProblem(rows, method, row.budget_tokens)) {
      const auto other = others.find(id);
      if (other == others.end()) continue;
      a.push_back(mean);
      b.push_back(other->second);
    }
    if (a.empty()) continue;
    out.push_back({method, row.method, row.budget_tokens,
                   static_cast<int64_t>(a.size()), ComparePaired(a, b, 0)});
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
