#include "src/eval/best_of_n.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/random.h"

namespace espalier {
namespace {

constexpr size_t kAggregates = kReplayAggregates.size();

// A problem's samples with one score per aggregate.
struct ScoredProblem {
  const ReplayProblem* problem = nullptr;
  std::vector<std::array<double, kAggregates>> scores;  // by sample
  std::vector<int> answers;  // by sample: index of its answer; -1: none
};

ScoredProblem ScoreSamples(const ReplayProblem& problem) {
  ScoredProblem out{.problem = &problem};
  std::vector<std::string> known;
  for (const ReplaySample& sample : problem.samples) {
    ESP_CHECK(!sample.scores.empty());
    std::vector<StepScores> path;
    for (const double score : sample.scores) {
      path.push_back({.step = static_cast<float>(score)});
    }
    auto& scores = out.scores.emplace_back();
    for (size_t a = 0; a < kAggregates; ++a) {
      scores[a] = CombineScores(
          path, {.level = Level::kStep, .aggregate = kReplayed[a]}, {});
    }
    if (sample.answer.empty()) {
      out.answers.push_back(-1);
      continue;
    }
    const auto at = std::find(known.begin(), known.end(), sample.answer);
    out.answers.push_back(static_cast<int>(at - known.begin()));
    if (at == known.end()) known.push_back(sample.answer);
  }
  return out;
}

// Expected accuracy of the best of n by `aggregate`: the sample with `worse`
// others below it is the best of C(worse, n - 1) of the C(size, n) sets.
double ExpectedBest(const ScoredProblem& scored, size_t aggregate, int n) {
  const size_t size = scored.scores.size();
  std::vector<size_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return scored.scores[a][aggregate] > scored.scores[b][aggregate];
  });
  double expected = 0, reached = 1;  // reached: no better one is in the set
  for (size_t rank = 0; rank + static_cast<size_t>(n) <= size; ++rank) {
    // Given that, this one is in the set with n / (samples left).
    const double in = n / static_cast<double>(size - rank);
    if (scored.problem->samples[order[rank]].correct) expected += reached * in;
    reached *= 1 - in;
  }
  return expected;
}

// Expected share of sets with a right response.
double ExpectedAny(const ScoredProblem& scored, int n) {
  const auto size = static_cast<int>(scored.scores.size());
  const auto right = static_cast<int>(std::count_if(
      scored.problem->samples.begin(), scored.problem->samples.end(),
      [](const ReplaySample& sample) { return sample.correct; }));
  double none = 1;
  for (int i = 0; i < n; ++i) {
    none *= std::max(0, size - right - i) / static_cast<double>(size - i);
  }
  return 1 - none;
}

// Whether the vote of `set`, ascending indexes of samples, is right.
// `aggregate` kAggregates: every response counts one.
bool VoteIsRight(const ScoredProblem& scored, absl::Span<const size_t> set,
                 size_t aggregate) {
  struct Group {
    int answer = -1;
    double weight = 0;
    size_t chosen = 0;
  };
  std::vector<Group> groups;  // in order of first appearance
  const bool weighted = aggregate < kAggregates;
  const auto score = [&](size_t sample) {
    return weighted ? scored.scores[sample][aggregate] : 1.0;
  };
  for (const size_t sample : set) {
    const int answer = scored.answers[sample];
    auto group =
        std::find_if(groups.begin(), groups.end(),
                     [&](const Group& g) { return g.answer == answer; });
    if (group == groups.end()) {
      groups.push_back({.answer = answer, .chosen = sample});
      group = groups.end() - 1;
    }
    group->weight += score(sample);
    if (score(sample) > score(group->chosen)) group->chosen = sample;
  }
  const Group* winner = &groups[0];
  for (const Group& group : groups) {
    const bool answers = group.answer >= 0, held = winner->answer >= 0;
    if (answers != held ? answers : group.weight > winner->weight) {
      winner = &group;
    }
  }
  return scored.problem->samples[winner->chosen].correct;
}

// C(size, n), or kMostSets + 1 if it is more than kMostSets.
int CountSets(size_t size, size_t n) {
  double count = 1;
  for (size_t i = 0; i < n; ++i) {
    count = count * static_cast<double>(size - i) / static_cast<double>(i + 1);
    if (count > kMostSets + 0.5) return kMostSets + 1;
  }
  return static_cast<int>(count + 0.5);
}

// The sets of n samples that votes are taken of.
std::vector<std::vector<size_t>> SetsOf(size_t size, size_t n,
                                        const std::string& id, uint64_t seed) {
  std::vector<std::vector<size_t>> sets;
  // The count grows up to the middle: it is that of the samples left out.
  if (CountSets(size, std::min(n, size - n)) <= kMostSets) {
    std::vector<bool> in(size, false);
    std::fill(in.begin(), in.begin() + static_cast<int64_t>(n), true);
    do {
      auto& set = sets.emplace_back();
      for (size_t i = 0; i < size; ++i) {
        if (in[i]) set.push_back(i);
      }
    } while (std::prev_permutation(in.begin(), in.end()));
    return sets;
  }
  RandomStream random(StreamKey(seed, StableHash(id), n, Purpose::kBootstrap));
  std::vector<size_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  for (int k = 0; k < kMostSets; ++k) {
    for (size_t i = 0; i < n; ++i) {
      std::swap(all[i], all[i + random.Below(static_cast<uint32_t>(size - i))]);
    }
    auto& set =
        sets.emplace_back(all.begin(), all.begin() + static_cast<int64_t>(n));
    std::sort(set.begin(), set.end());
  }
  return sets;
}

MeanWithInterval Figure(const std::vector<double>& shares) {
  return {std::accumulate(shares.begin(), shares.end(), 0.0) /
              static_cast<double>(shares.size()),
          ShareInterval(shares)};
}

ReplayRow ReplayRowOf(const std::vector<ScoredProblem>& all, int n,
                      uint64_t seed) {
  std::array<std::vector<double>, kAggregates> best, weighted;
  std::vector<double> majority, any;
  for (const ScoredProblem& scored : all) {
    const size_t size = scored.scores.size();
    if (size < static_cast<size_t>(n)) continue;
    const auto sets =
        SetsOf(size, static_cast<size_t>(n), scored.problem->id, seed);
    const auto vote = [&](size_t aggregate) {
      int64_t right = 0;
      for (const auto& set : sets) right += VoteIsRight(scored, set, aggregate);
      return static_cast<double>(right) / static_cast<double>(sets.size());
    };
    for (size_t a = 0; a < kAggregates; ++a) {
      best[a].push_back(ExpectedBest(scored, a, n));
      weighted[a].push_back(vote(a));
    }
    majority.push_back(vote(kAggregates));
    any.push_back(ExpectedAny(scored, n));
  }
  ReplayRow row{.n = n, .problems = static_cast<int64_t>(any.size())};
  for (size_t a = 0; a < kAggregates; ++a) {
    row.best[a] = Figure(best[a]);
    row.weighted[a] = Figure(weighted[a]);
  }
  row.majority = Figure(majority);
  row.any = Figure(any);
  return row;
}

}  // namespace

ReplayReport ReplayBestOfN(absl::Span<const ReplayProblem> problems,
                           uint64_t seed) {
  ReplayReport report{.problems = static_cast<int64_t>(problems.size())};
  std::vector<ScoredProblem> all;
  size_t most = 0;
  for (const ReplayProblem& problem : problems) {
    all.push_back(ScoreSamples(problem));
    most = std::max(most, problem.samples.size());
    report.samples += static_cast<int64_t>(problem.samples.size());
  }
  std::vector<int> ns;
  for (size_t n = 1; n < most; n *= 2) ns.push_back(static_cast<int>(n));
  if (most > 0) ns.push_back(static_cast<int>(most));
  for (const int n : ns) report.rows.push_back(ReplayRowOf(all, n, seed));
  return report;
}

}  // namespace espalier
