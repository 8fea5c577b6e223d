#include "datasets/tasks/proofs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/random.h"
#include "base/text.h"
#include "datasets/tasks/proof_rules.h"
#include "datasets/tasks/split.h"

namespace espalier {
namespace {

struct Band {
  std::string_view name;
  int letters;
  int shortest, longest;  // shortest proof of the goal, in lines
  int spare;              // lines allowed in addition
};
constexpr Band kBands[] = {
    {"easy", 6, 2, 3, 2}, {"middle", 9, 4, 5, 1}, {"hard", 12, 6, 9, 0}};

std::string JoinLiterals(const std::vector<Literal>& literals,
                         std::string_view between) {
  return absl::StrJoin(literals, AbslView(between),
                       [](std::string* out, Literal literal) {
                         out->append(FormatLiteral(literal));
                       });
}

// `body` implies `head`, in one of the equivalent forms.
Premise Implication(std::vector<Literal> body, Literal head,
                    RandomStream& rng) {
  Premise premise{{head}, ""};
  for (const Literal literal : body) premise.clause.push_back(-literal);
  const uint32_t form = rng.Below(4);
  if (form == 0) {
    for (size_t i = premise.clause.size(); i > 1; --i) {
      std::swap(premise.clause[i - 1],
                premise.clause[rng.Below(static_cast<uint32_t>(i))]);
    }
    premise.text = JoinLiterals(premise.clause, " | ");
    return premise;
  }
  if (form == 1) {  // contraposition with one of the body
    const size_t turned = rng.Below(static_cast<uint32_t>(body.size()));
    const Literal other = std::exchange(body[turned], -head);
    head = -other;
  }
  premise.text =
      absl::StrCat(JoinLiterals(body, " & "), " -> ", FormatLiteral(head));
  return premise;
}

// Premises over `letters` letters; the goal is not chosen yet.
ProofPuzzle DrawPremises(int letters, RandomStream& rng) {
  std::vector<Literal> truths;  // each letter's true literal
  std::vector<char> names(26);
  for (int i = 0; i < 26; ++i) names[i] = static_cast<char>('a' + i);
  for (int i = 0; i < letters; ++i) {
    std::swap(names[i], names[rng.Range(i, 25)]);
    truths.push_back(rng.Below(3) == 0 ? -names[i] : names[i]);
  }
  const auto draw = [&] {
    return truths[rng.Below(static_cast<uint32_t>(letters))];
  };
  ProofPuzzle puzzle;
  // Mostly from earlier to later letters, so that proofs are long.
  const int facts = 1 + letters / 5;
  for (int i = 0; i < facts; ++i) {
    puzzle.premises.push_back({{truths[i]}, FormatLiteral(truths[i])});
  }
  for (int i = facts; i < letters; ++i) {
    std::vector<Literal> body = {truths[rng.Range(std::max(0, i - 3), i - 1)]};
    const Literal second = truths[rng.Range(0, i - 1)];
    if (second != body[0] && rng.Below(2) == 0) body.push_back(second);
    puzzle.premises.push_back(Implication(std::move(body), truths[i], rng));
  }
  // A few more, which shorten proofs or lead nowhere.
  for (int i = 0; i < letters / 3; ++i) {
    const Literal head = draw();
    Literal first = draw(), second = draw();
    while (first == head) first = draw();
    while (second == head || second == first) second = draw();
    std::vector<Literal> body = {first, second};
    // A body that is false proves nothing.
    if (rng.Below(2) == 0) body[0] = -body[0];
    puzzle.premises.push_back(Implication(std::move(body), head, rng));
  }
  for (size_t i = puzzle.premises.size(); i > 1; --i) {
    std::swap(puzzle.premises[i - 1],
              puzzle.premises[rng.Below(static_cast<uint32_t>(i))]);
  }
  return puzzle;
}

// Chooses a goal whose shortest proof fits the band; false if there is none.
bool ChooseGoal(const Band& band, ProofPuzzle& puzzle, RandomStream& rng) {
  const std::vector<Literal> start = KnownAtStart(puzzle);
  const std::vector<Literal> all = Closure(puzzle, start);
  std::vector<std::pair<Literal, int>> goals;
  for (size_t i = start.size(); i < all.size(); ++i) {
    const auto distance = ProofDistance(puzzle, all[i], start);
    if (distance && *distance >= band.shortest && *distance <= band.longest) {
      goals.emplace_back(all[i], *distance);
    }
  }
  if (goals.empty()) return false;
  const auto& [goal, distance] =
      goals[rng.Below(static_cast<uint32_t>(goals.size()))];
  puzzle.goal = goal;
  puzzle.lines = distance + band.spare;
  return true;
}

// The premises in canonical order, so that the split does not depend on their
// order in the question.
std::string Content(const ProofPuzzle& puzzle) {
  std::vector<std::string> texts;
  for (const Premise& premise : puzzle.premises) texts.push_back(premise.text);
  std::sort(texts.begin(), texts.end());
  return absl::StrJoin(texts, "\n");
}

}  // namespace

const std::vector<std::string_view>& ProofBands() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Band& band : kBands) all.push_back(band.name);
    return all;
  }();
  return names;
}

GradedProblem MakeProof(std::string_view band, uint64_t seed, uint64_t index) {
  const Band* const found =
      std::find_if(std::begin(kBands), std::end(kBands),
                   [&](const Band& b) { return b.name == band; });
  ESP_CHECK(found != std::end(kBands));
  const std::string set = absl::StrCat("proof:", AbslView(band));
  RandomStream rng(StreamKey(seed, StableHash(set), index, Purpose::kGenerate));
  ProofPuzzle puzzle;
  do {
    puzzle = DrawPremises(found->letters, rng);
  } while (!BelongsToSeed(Content(puzzle), seed) ||
           !ChooseGoal(*found, puzzle, rng));
  GradedProblem out;
  out.problem.question = "Premises:\n" + FormatProof(puzzle);
  out.problem.set = set;
  out.problem.id = absl::StrCat(set, "/", seed, "/", index);
  out.reference.answer = FormatLiteral(puzzle.goal);
  out.reference.steps = ShortestProof(puzzle);
  return out;
}

}  // namespace espalier
