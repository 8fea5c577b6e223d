#include "src/eval/bench_world.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "search/presets.h"
#include "search/stop.h"

namespace espalier {
namespace {

constexpr int kMoves = 4;
constexpr int32_t kForcedToken = 99;

// In [0, 1) with 24 bits: the same float on every machine.
float Chance(uint64_t hash) {
  return static_cast<float>(hash >> 40) * 0x1.0p-24f;
}

class BenchTask : public Task {
 public:
  explicit BenchTask(const StepFormat& format) : format_(format) {}
  std::string_view name() const override { return "bench"; }
  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    return problem.question;
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    const size_t at = response.rfind("= ");
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view answer = response.substr(at + 2);
    return std::string(answer.substr(0, answer.find('\n')));
  }
  bool SameAnswer(std::string_view a, std::string_view b) const override {
    return a == b;
  }

 private:
  const StepFormat& format_;
};

}  // namespace

struct BenchWorld::Place {
  uint64_t hash = 0;
  int depth = 0;   // steps written, without forced ones
  int length = 0;  // of a response to this problem
  bool right = true;
  bool last_right = true;  // the last step
  std::array<float, kMoves> chance = {};
};

BenchWorld::BenchWorld() : format_{.max_step_tokens = 8, .max_steps = 32} {}

BenchWorld::Place BenchWorld::At(const Tree& tree, NodeId node,
                                 uint64_t problem) const {
  Place at{.hash = MixHash(problem, 0xBE9C4)};
  at.length = 8 + static_cast<int>(at.hash % 5);
  for (const NodeId id : tree.Path(node)) {
    const int32_t token = tree.tokens(id)[0];
    if (token == kForcedToken) continue;
    at.hash = MixHash(at.hash, static_cast<uint64_t>(token));
    at.last_right = token == 0;
    at.right = at.right && at.last_right;
    ++at.depth;
  }
  // Move 0 is the right one.
  at.chance[0] = 0.35f + 0.6f * Chance(MixHash(at.hash, 1));
  const float first = 0.5f + 0.4f * Chance(MixHash(at.hash, 2));
  const float rest = 1 - at.chance[0];
  at.chance[1] = rest * first;
  at.chance[2] = rest * (1 - first) * 0.75f;
  at.chance[3] = rest * (1 - first) * 0.25f;
  return at;
}

SampledStep BenchWorld::Sample(const Place& at, const SearchRequest& request,
                               int index) const {
  const float temperature = request.expand.temperature;
  int32_t move = 0;
  if (temperature == 0) {
    move = at.chance[0] >= at.chance[1] ? 0 : 1;
  } else {
    std::array<double, kMoves> weight = {};
    double sum = 0;
    for (size_t m = 0; m < kMoves; ++m) {
      weight[m] = temperature == 1 ? static_cast<double>(at.chance[m])
                                   : std::pow(at.chance[m], 1 / temperature);
      sum += weight[m];
    }
    double left = sum * static_cast<double>(RandomStream::UniformAt(
                            request.stream, static_cast<uint64_t>(index)));
    while (move + 1 < kMoves && left >= weight[static_cast<size_t>(move)]) {
      left -= weight[static_cast<size_t>(move++)];
    }
  }
  const uint64_t hash = MixHash(at.hash, static_cast<uint64_t>(move));
  const int wanted = 1 + static_cast<int>(MixHash(hash, 3) % 5);
  SampledStep step{{}, absl::StrCat("s", move, "\n")};
  step.truncated = wanted > request.max_tokens;
  step.ended = at.depth + 1 == at.length && !step.truncated;
  if (step.ended) {
    const bool right = at.right && move == 0;
    step.text = absl::StrCat(
        "= ", right ? RightAnswer() : std::to_string(50 + hash % 4), "\n");
  }
  if (step.truncated) step.text.resize(1);
  // The first token gives the move; all others repeat it.
  step.tokens.assign(static_cast<size_t>(std::min(wanted, request.max_tokens)),
                     move);
  const float logprob = std::log(at.chance[static_cast<size_t>(move)]);
  step.logprobs.assign(step.tokens.size(), 0);
  step.logprobs[0] = logprob;
  step.sampler_logprobs = step.logprobs;
  step.logprob = logprob;
  step.mean_entropy = 0;
  float sum = 0;
  for (const float chance : at.chance) {
    step.mean_entropy -= chance * std::log(chance);
    sum += std::log(chance);
  }
  if (request.expand.top_logprobs > 0) {
    step.confidences.assign(step.tokens.size(), -sum / kMoves);
  }
  return step;
}

SearchCompletion BenchWorld::Reply(const Tree& tree,
                                   const SearchRequest& request,
                                   uint64_t problem) const {
  SearchCompletion out{.number = request.number};
  switch (request.kind) {
    case RequestKind::kExpand: {
      if (!request.expand.forced.empty()) {
        out.samples.push_back({{.tokens = {kForcedToken},
                                .logprobs = {0},
                                .sampler_logprobs = {0}},
                               std::string(request.expand.forced)});
        break;
      }
      const Place at = At(tree, request.nodes[0], problem);
      for (int i = 0; i < request.expand.n; ++i) {
        out.samples.push_back(Sample(at, request, request.first_sample + i));
      }
      break;
    }
    case RequestKind::kEvaluate:
      for (const NodeId node : request.nodes) {
        const Place at = At(tree, node, problem);
        const float path = Chance(MixHash(at.hash, 4));
        const float step = Chance(MixHash(at.hash, 5));
        // Scores of right and wrong steps overlap between .45 and .7.
        out.scores.push_back(
            {.step = at.last_right ? 0.45f + 0.54f * step : 0.7f * step,
             .path = at.right ? 0.45f + 0.54f * path : 0.7f * path});
      }
      break;
    default: {  // Verify, Grade
      const Place at = At(tree, request.nodes[0], problem);
      out.correct = at.right && at.depth == at.length;
    }
  }
  return out;
}

BenchRun BenchWorld::Run(const SearchAlgorithm& algorithm, uint64_t problem,
                         int64_t tokens, uint64_t seed) const {
  const BenchTask task(format_);
  const Problem asked{.id = absl::StrCat(problem),
                      .question = absl::StrCat("problem ", problem)};
  SearchOptions options{.max_tokens = tokens, .seed = seed};
  options.response_tokens = kResponseTokens;
  Stoppers stoppers = MakeStoppers(options);
  SearchContext ctx(asked, task, stoppers, BudgetOf(options, asked), seed);
  SearchDriver driver(ctx);
  std::deque<SearchRequest> open;
  BenchRun run;
  {
    Co<> search = algorithm.Run(ctx);
    search.Start();
    while (true) {
      driver.Advance();
      for (SearchRequest& request : driver.TakeRequests()) {
        open.push_back(std::move(request));
      }
      if (search.done() || !driver.failure().ok()) break;
      if (open.empty()) {
        run.status = absl::InternalError(
            "the search has not ended and has no open request");
        break;
      }
      const SearchRequest request = std::move(open.front());
      open.pop_front();
      driver.Put(Reply(ctx.tree(), request, problem));
    }
  }
  run.status.Update(driver.failure());
  const Tree& tree = ctx.tree();
  uint64_t hash = 0;
  for (NodeId id = 0; id < tree.size(); ++id) {
    hash = MixHash(hash, tree[id].parent);
    hash = MixHash(hash, StableHash(tree.text(id)));
    hash = MixHash(hash, uint64_t{tree[id].visits} << 16 | tree.step(id).draws);
  }
  for (const AnytimeAnswer& at : driver.anytime()) {
    hash = MixHash(hash, static_cast<uint64_t>(at.tokens) << 32 | at.node);
  }
  run.signature = hash;
  run.tokens = ctx.usage().tokens;
  run.stage = driver.best_stage();
  if (driver.best_answer() >= 0) {
    run.answer = tree.answer_text(driver.best_answer());
  }
  return run;
}

namespace {

// All methods, and all presets as MakeAlgorithm reads them.
std::vector<std::string> AllMethods() {
  std::vector<std::string> methods;
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    methods.push_back(info->name);
  }
  for (const Preset& preset : ListPresets()) {
    methods.push_back(absl::StrCat("preset=", preset.name));
  }
  return methods;
}

// How many of the ranked problems a method answers correctly.
absl::StatusOr<int> RightOf(const BenchWorld& world, const std::string& method,
                            int64_t tokens) {
  // Not a problem that a signature uses.
  constexpr uint64_t kFirst = 100;
  ESP_ASSIGN_OR_RETURN(const auto algorithm, MakeAlgorithm(method));
  int right = 0;
  for (uint64_t problem = 0; problem < kRankedProblems; ++problem) {
    const BenchRun run = world.Run(*algorithm, kFirst + problem, tokens);
    if (!run.status.ok()) {
      return absl::InternalError(
          absl::StrCat(method, ": ", run.status.message()));
    }
    right += run.answer == BenchWorld::RightAnswer();
  }
  return right;
}

}  // namespace

absl::StatusOr<std::vector<Signature>> BenchSignatures() {
  constexpr uint64_t kProblems = 6;
  const BenchWorld world;
  std::vector<Signature> signatures;
  for (const std::string& method : AllMethods()) {
    ESP_ASSIGN_OR_RETURN(const auto algorithm, MakeAlgorithm(method));
    Signature signature{.method = method};
    for (uint64_t problem = 0; problem < kProblems; ++problem) {
      // A tight budget and an ample one.
      const int64_t tokens =
          BenchWorld::kResponseTokens * (problem % 2 == 0 ? 4 : 16);
      const BenchRun run = world.Run(*algorithm, problem, tokens);
      if (!run.status.ok()) {
        return absl::InternalError(
            absl::StrCat(method, ": ", run.status.message()));
      }
      signature.hash = MixHash(signature.hash, run.signature);
    }
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

absl::StatusOr<std::vector<Ranked>> BenchRanking() {
  const BenchWorld world;
  std::vector<Ranked> ranking;
  for (const std::string& method : AllMethods()) {
    Ranked one{.method = method};
    ESP_ASSIGN_OR_RETURN(
        one.right_at_4,
        RightOf(world, method, 4 * BenchWorld::kResponseTokens));
    ESP_ASSIGN_OR_RETURN(
        one.right_at_8,
        RightOf(world, method, 8 * BenchWorld::kResponseTokens));
    ranking.push_back(std::move(one));
  }
  std::sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
    return std::tie(b.right_at_8, a.method) < std::tie(a.right_at_8, b.method);
  });
  return ranking;
}

std::string RankingText(const std::vector<Ranked>& ranking) {
  std::string text;
  for (const Ranked& one : ranking) {
    absl::StrAppendFormat(&text, "%-36s %3d %3d\n", one.method, one.right_at_4,
                          one.right_at_8);
  }
  return text;
}

std::string SignatureText(const std::vector<Signature>& signatures) {
  std::string text;
  uint64_t all = 0;
  for (const Signature& signature : signatures) {
    absl::StrAppendFormat(&text, "%-36s %016x\n", signature.method,
                          signature.hash);
    all = MixHash(all, signature.hash);
  }
  absl::StrAppendFormat(&text, "%-36s %016x\n", "all", all);
  return text;
}

}  // namespace espalier
