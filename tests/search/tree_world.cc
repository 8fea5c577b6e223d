#include "tests/search/tree_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"

namespace espalier {
namespace {

// The token of a forced step, which is no move.
constexpr int32_t kForcedToken = 9999;

const Problem& TheProblem() {
  static const Problem* problem =
      new Problem{.id = "world", .set = "tree_world", .question = "?"};
  return *problem;
}

std::string TreeText(const Tree& tree) {
  std::string text;
  for (NodeId id = 0; id < tree.size(); ++id) {
    const Node& n = tree[id];
    const Step& step = tree.step(id);
    absl::StrAppend(&text, n.parent, "|", std::string(tree.text(id)), "|",
                    n.visits, "|", step.draws, "|", n.q, "|", n.prior, "|",
                    step.logprob, "|", step.path_score, "|", step.step_score,
                    ";");
  }
  return text;
}

void CountOpen(const std::vector<SearchRequest>& open, SearchRun& run) {
  int requests = 0, samples = 0;
  for (const SearchRequest& request : open) {
    if (request.kind != RequestKind::kExpand) continue;
    ++requests;
    samples += request.expand.n;
  }
  run.open_requests = std::max(run.open_requests, requests);
  run.open_samples = std::max(run.open_samples, samples);
}

}  // namespace

std::optional<std::string> TreeWorldTask::FindAnswer(
    std::string_view response) const {
  const size_t at = response.rfind("= ");
  if (at == std::string_view::npos) return std::nullopt;
  const size_t end = response.find('\n', at);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(response.substr(at + 2, end - at - 2));
}

TreeWorld::TreeWorld(const WorldOptions& options)
    : options_(options), task_(options.step_tokens) {
  Grow(-1, 0, 0);
}

int TreeWorld::Grow(int parent, int move, int depth) {
  const int id = size();
  RandomStream random(
      StreamKey(options_.seed, 0, static_cast<uint64_t>(id), Purpose::kTest));
  places_.emplace_back();
  places_.back().parent = parent;
  places_.back().move = move;
  const bool leaf = depth == options_.depth ||
                    (depth > 0 && random.UniformDouble() < options_.early_leaf);
  Place made = places_.back();
  if (leaf) {
    made.reward = random.Uniform();
    made.best = made.mean = made.reward;
    made.best_leaf = id;
  } else {
    double sum = 0;
    for (int m = 0; m < options_.branching; ++m) {
      made.logprobs.push_back(2 * random.Uniform());
      sum += std::exp(made.logprobs.back());
    }
    for (float& l : made.logprobs) l -= static_cast<float>(std::log(sum));
    for (int m = 0; m < options_.branching; ++m) {
      const int child = Grow(id, m, depth + 1);
      const Place& below = (*this)[child];
      made.children.push_back(child);
      made.mean += below.mean / static_cast<float>(options_.branching);
      if (made.best_leaf < 0 || below.best > made.best) {
        made.best = below.best;
        made.best_leaf = below.best_leaf;
      }
    }
  }
  made.noisy =
      std::clamp(made.mean + (random.Uniform() - 0.5f) * 0.5f, 0.0f, 1.0f);
  places_[static_cast<size_t>(id)] = made;
  return id;
}

int TreeWorld::Find(const Tree& tree, NodeId node) const {
  int place = 0;
  for (const NodeId step : tree.Path(node)) {
    if (tree.tokens(step)[0] == kForcedToken) continue;
    place = (*this)[place].children[static_cast<size_t>(tree.tokens(step)[0])];
  }
  return place;
}

float TreeWorld::Score(int place) const {
  const Place& p = (*this)[place];
  switch (options_.scores) {
    case Scores::kBest:
      return p.best;
    case Scores::kMean:
      return p.mean;
    case Scores::kNoisy:
      return p.noisy;
    case Scores::kLeaf:
      return p.children.empty() ? p.reward : 0.5f;
    case Scores::kEqual:
      return 0.5f;
  }
  return 0;
}

int TreeWorld::Move(int place, const StreamKey& stream, int index,
                    float temperature) const {
  const Place& p = (*this)[place];
  if (options_.enumerate) return index % options_.branching;
  if (temperature == 0) {
    return static_cast<int>(
        std::max_element(p.logprobs.begin(), p.logprobs.end()) -
        p.logprobs.begin());
  }
  double total = 0;
  for (const float l : p.logprobs) total += std::exp(l / temperature);
  double left =
      RandomStream::UniformAt(stream, static_cast<uint64_t>(index)) * total;
  for (int m = 0; m < options_.branching; ++m) {
    left -= std::exp(p.logprobs[static_cast<size_t>(m)] / temperature);
    if (left < 0) return m;
  }
  return options_.branching - 1;
}

std::string TreeWorld::Text(int place) const {
  const Place& p = (*this)[place];
  return p.children.empty() ? absl::StrCat("= ", Answer(place), "\n")
                            : absl::StrCat("s", p.move, "\n");
}

int TreeWorld::StepTokens(int place) const {
  const uint64_t hash = MixHash(options_.seed, static_cast<uint64_t>(place));
  return 1 +
         static_cast<int>(hash % static_cast<uint64_t>(options_.step_tokens));
}

void TreeWorld::Tell(int place, int tokens, SampledStep& step) const {
  double entropy = 0, sum = 0;
  for (const float l : (*this)[place].logprobs) {
    entropy -= std::exp(static_cast<double>(l)) * static_cast<double>(l);
    sum -= static_cast<double>(l);
  }
  step.mean_entropy = static_cast<float>(entropy);
  step.entropies.assign(static_cast<size_t>(tokens), step.mean_entropy);
  step.confidences.assign(static_cast<size_t>(tokens),
                          static_cast<float>(sum / options_.branching));
}

SearchCompletion TreeWorld::Reply(const Tree& tree,
                                  const SearchRequest& request) const {
  SearchCompletion completion{.number = request.number};
  if (request.kind == RequestKind::kExpand) {
    const int place = Find(tree, request.nodes[0]);
    if (!request.expand.forced.empty()) {
      completion.samples.push_back(
          {{.tokens = {kForcedToken}}, std::string(request.expand.forced)});
      return completion;
    }
    for (int i = 0; i < request.expand.n; ++i) {
      const int move = Move(place, request.stream, request.first_sample + i,
                            request.expand.temperature);
      const int child = (*this)[place].children[static_cast<size_t>(move)];
      SampledStep step{
          {}, Text(child), (*this)[place].logprobs[static_cast<size_t>(move)]};
      const int wanted = StepTokens(child);
      step.truncated = wanted > request.max_tokens;
      const int tokens = std::min(wanted, request.max_tokens);
      step.tokens.assign(static_cast<size_t>(tokens), move);
      if (step.truncated) step.text = "...";
      if (request.expand.top_logprobs > 0) Tell(place, tokens, step);
      completion.samples.push_back(std::move(step));
    }
  } else if (request.kind == RequestKind::kEvaluate) {
    for (const NodeId node : request.nodes) {
      const float score = Score(Find(tree, node));
      completion.scores.push_back({score, score});
    }
  } else if (request.kind == RequestKind::kVerify) {
    completion.correct = Find(tree, request.nodes[0]) == places_[0].best_leaf;
  } else {
    completion.status = absl::UnimplementedError("not of this world");
  }
  return completion;
}

// An upper bound of what a reply adds to Usage::bytes.
static int64_t ReplyBytes(const SearchCompletion& reply) {
  // Each scored response may vote, and each offer may be listed.
  size_t bytes = reply.scores.size() * 2 * sizeof(AnytimeAnswer);
  for (const SampledStep& sample : reply.samples) {
    bytes += 160 + sample.text.size() + 4 * sample.tokens.size();
  }
  return static_cast<int64_t>(bytes);
}

SearchRun RunSearch(const std::string& method, const TreeWorld& world,
                    const RunLimits& limits) {
  SearchRun run;
  const auto algorithm = MakeAlgorithm(method);
  if (!algorithm.ok()) {
    ADD_FAILURE() << algorithm.status();
    run.status = algorithm.status();
    return run;
  }
  SearchOptions options = limits.more;
  options.max_tokens = limits.tokens;
  options.max_simulations = limits.simulations;
  options.max_nodes = limits.nodes;
  Stoppers stoppers = MakeStoppers(options);
  run.context = std::make_unique<SearchContext>(
      TheProblem(), world.task(), stoppers, BudgetOf(options, TheProblem()),
      limits.seed);
  SearchDriver driver(*run.context);
  RandomStream order(StreamKey(limits.shuffle, 0, 0, Purpose::kTest));
  std::vector<SearchRequest> open;
  {
    Co<> search = (*algorithm)->Run(*run.context);
    search.Start();
    while (!search.done() && driver.failure().ok()) {
      driver.Advance();
      for (SearchRequest& request : driver.TakeRequests()) {
        open.push_back(std::move(request));
      }
      if (search.done() || !driver.failure().ok()) break;
      CountOpen(open, run);
      if (run.replies == limits.destroy_after) break;
      if (open.empty()) {
        ADD_FAILURE() << method << " waits for nothing";
        break;
      }
      run.most_open = std::max(run.most_open, open.size());
      const size_t next = limits.shuffle == 0
                              ? 0
                              : order.Below(static_cast<uint32_t>(open.size()));
      const SearchRequest request = std::move(open[next]);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(next));
      SearchCompletion reply = limits.reply
                                   ? limits.reply(run.context->tree(), request)
                                   : world.Reply(run.context->tree(), request);
      run.largest_reply_bytes =
          std::max(run.largest_reply_bytes, ReplyBytes(reply));
      driver.Put(std::move(reply));
      ++run.replies;
    }
    run.ended = search.done();
  }
  run.status = driver.failure();
  run.stop_reason = driver.stop_reason();
  run.stage = driver.best_stage();
  run.usage = run.context->usage();
  run.anytime = driver.anytime();
  run.node = driver.best_node();
  run.score = driver.best_score();
  if (driver.best_answer() >= 0) {
    run.answer = run.tree().answer_text(driver.best_answer());
  }
  run.tree_text = TreeText(run.tree());
  if (run.status.ok()) {
    const absl::Status check = CheckTree(run.tree(), limits.check);
    EXPECT_TRUE(check.ok()) << method << ": " << check;
  }
  return run;
}

double Regret(const TreeWorld& world, const SearchRun& run) {
  const double reached =
      run.answer.empty() ? 0 : world[std::stoi(run.answer)].reward;
  return world[0].best - reached;
}

std::vector<double> RegretCurve(const std::string& method,
                                const std::vector<int64_t>& tokens,
                                RunLimits limits) {
  constexpr int kWorlds = 30;
  std::vector<double> curve;
  std::cout << method << "\n  mean regret by tokens:";
  for (const int64_t budget : tokens) {
    double sum = 0;
    for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
      const TreeWorld world(
          {.seed = seed, .branching = 3, .depth = 4, .enumerate = true});
      limits.tokens = budget;
      limits.seed = seed;
      sum += Regret(world, RunSearch(method, world, limits));
    }
    curve.push_back(sum / kWorlds);
    std::cout << "  " << budget << ": "
              << absl::StrFormat("%.4f", curve.back());
  }
  std::cout << "\n";
  return curve;
}

}  // namespace espalier
