#include "datasets/tasks/proofs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "datasets/tasks/proof_rules.h"
#include "datasets/tasks/proof_task.h"

namespace espalier {
namespace {

constexpr std::string_view kQuestion =
    "1. p\n2. p -> ~q\n3. r & ~s -> q\n4. r | t\n5. ~s\n6. t -> u\n"
    "prove u in 4\n";

// By truth tables: whether the premises are consistent, and whether they imply
// `literal`.
struct Truth {
  bool possible = false;
  bool follows = true;
};
Truth ByTable(const ProofPuzzle& puzzle, Literal literal) {
  std::vector<int> letters;
  for (const Premise& premise : puzzle.premises) {
    for (const Literal l : premise.clause) letters.push_back(std::abs(l));
  }
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  Truth truth;
  for (uint32_t row = 0; row < 1u << letters.size(); ++row) {
    const auto is_true = [&](Literal l) {
      const auto it = std::find(letters.begin(), letters.end(), std::abs(l));
      return (row >> (it - letters.begin()) & 1) == (l > 0 ? 1u : 0u);
    };
    const bool all = std::all_of(
        puzzle.premises.begin(), puzzle.premises.end(), [&](const Premise& p) {
          return std::any_of(p.clause.begin(), p.clause.end(), is_true);
        });
    if (!all) continue;
    truth.possible = true;
    truth.follows = truth.follows && is_true(literal);
  }
  return truth;
}

// The shortest proof, by iterative deepening over sequences of lines.
int ByIteration(const ProofPuzzle& puzzle, Literal goal,
                std::vector<Literal> known, int most) {
  const auto reach = [&](const auto& self, std::vector<Literal>& have,
                         int left) -> bool {
    if (std::find(have.begin(), have.end(), goal) != have.end()) return true;
    if (left == 0) return false;
    std::set<Literal> tried;
    for (const Premise& premise : puzzle.premises) {
      for (const Literal l : premise.clause) {
        if (std::find(have.begin(), have.end(), l) != have.end()) continue;
        bool yields = true;
        for (const Literal other : premise.clause) {
          yields = yields && (other == l || std::find(have.begin(), have.end(),
                                                      -other) != have.end());
        }
        if (!yields || !tried.insert(l).second) continue;
        have.push_back(l);
        const bool done = self(self, have, left - 1);
        have.pop_back();
        if (done) return true;
      }
    }
    return false;
  };
  for (int lines = 0; lines <= most; ++lines) {
    if (reach(reach, known, lines)) return lines;
  }
  return -1;
}

TEST(ProofRules, QuestionsAreReadAsWritten) {
  const auto puzzle = ParseProof(kQuestion);
  ASSERT_TRUE(puzzle.ok()) << puzzle.status();
  EXPECT_EQ(FormatProof(*puzzle), kQuestion);
  EXPECT_EQ(puzzle->premises[2].clause, (std::vector<Literal>{-'r', 's', 'q'}));
  EXPECT_EQ(puzzle->goal, 'u');
  EXPECT_EQ(puzzle->lines, 4);
  for (const char* bad :
       {"", "1. p\n", "prove p in 1", "1. p\nprove p in 0",
        "2. p\nprove p in 1", "1. p -> q -> r\nprove p in 1",
        "1. p & q\nprove p in 1", "1. P\nprove p in 1",
        "1. p\n2. ~p\nprove p in 1", "1. p\nprove p in 1\n3. q",
        "1. p | q | r | s | t\nprove p in 1",
        "1. p\n2. p -> q\n3. p -> ~q\nprove q in 1"}) {
    EXPECT_FALSE(ParseProof(bad).ok()) << bad;
  }
}

TEST(ProofVerifier, JudgesLines) {
  const Problem problem{"", "", std::string(kQuestion)};
  const auto judge = [&](const std::string& response) {
    const auto verdicts =
        ProofVerifier().CheckSteps(problem, Reference{}, response);
    std::string text;
    for (const StepVerdict& v : *verdicts) {
      text += v.path_ok ? 'P' : v.step_ok ? 's' : 'x';
    }
    const bool correct =
        ProofVerifier().Check(problem, Reference{}, response).correct;
    return text + (correct ? " right" : "");
  };
  const std::string proof = "~q : 2\n~r : 3\nt : 4\nu : 6\n";
  EXPECT_EQ(judge(proof + "= u"), "PPPPP right");
  EXPECT_EQ(judge("~q : 2\nt : 4\n"), "Px");  // r may still be true
  EXPECT_EQ(judge("u : 6\n"), "x");
  EXPECT_EQ(judge("q : 2\n"), "x");
  EXPECT_EQ(judge("~q : 3\n"), "x");
  EXPECT_EQ(judge("~q : 9\n"), "x");
  EXPECT_EQ(judge("~q : 02\n"), "x");
  EXPECT_EQ(judge("~q 2\n"), "x");
  EXPECT_EQ(judge("= u\n"), "x");
  EXPECT_EQ(judge(proof + "= t\n"), "PPPPx");
  // A wrong line counts as stated: lines that follow from it are right.
  EXPECT_EQ(judge("t : 4\nu : 6\n= u\n"), "xss");
  // A repeated line is right but uses up the remaining lines.
  EXPECT_EQ(judge("~q : 2\n~q : 2\n"), "Ps");
  EXPECT_EQ(judge("~q : 2\n" + proof + "= u\n"), "Pssssx");
}

TEST(ProofSolver, AgreesWithTruthTablesAndIteration) {
  std::map<std::string_view, std::set<int>> lengths;
  for (const std::string_view band : ProofBands()) {
    const int count = band == "hard" ? 12 : 40;
    for (int i = 0; i < count; ++i) {
      const GradedProblem p = MakeProof(band, 1, static_cast<uint64_t>(i));
      const auto parsed = ParseProof(p.problem.question);
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      const ProofPuzzle& puzzle = *parsed;
      const std::vector<Literal> start = KnownAtStart(puzzle);
      // Sound: everything derived line by line follows by the truth table.
      for (const Literal l : Closure(puzzle, start)) {
        const Truth truth = ByTable(puzzle, l);
        EXPECT_TRUE(truth.possible && truth.follows) << p.problem.question;
      }
      const auto distance = ProofDistance(puzzle, puzzle.goal, start);
      ASSERT_TRUE(distance);
      EXPECT_EQ(ByIteration(puzzle, puzzle.goal, start, *distance), *distance)
          << p.problem.question;
      EXPECT_EQ(p.reference.steps.size(), static_cast<size_t>(*distance) + 1);
      const int spare = band == "easy" ? 2 : band == "middle" ? 1 : 0;
      EXPECT_EQ(puzzle.lines, *distance + spare);
      lengths[band].insert(*distance);
    }
  }
  EXPECT_EQ(lengths["easy"], (std::set<int>{2, 3}));
  EXPECT_EQ(lengths["middle"], (std::set<int>{4, 5}));
  EXPECT_EQ(*lengths["hard"].begin(), 6);
}

// The state value in every state reached by random lines.
TEST(ProofSolver, DistancesFromAnyStateAreExact) {
  RandomStream rng(StreamKey(12, 0, 0, Purpose::kTest));
  int unreachable = 0;
  for (uint64_t i = 0; i < 30; ++i) {
    const ProofPuzzle puzzle =
        ParseProof(MakeProof("middle", 1, i).problem.question).value();
    std::vector<Literal> known = KnownAtStart(puzzle);
    const std::vector<Literal> all = Closure(puzzle, known);
    for (int lines = 0; lines < 3; ++lines) {
      const Literal goal =
          rng.Below(4) == 0 ? -all[rng.Below(static_cast<uint32_t>(all.size()))]
                            : puzzle.goal;
      const auto distance = ProofDistance(puzzle, goal, known);
      EXPECT_EQ(ByIteration(puzzle, goal, known, 6), distance.value_or(-1));
      unreachable += !distance;
      // Any right line, useful or not.
      std::vector<Literal> next;
      for (const Literal l : all) {
        for (const Premise& premise : puzzle.premises) {
          if (std::find(known.begin(), known.end(), l) == known.end() &&
              Yields(premise, l, known)) {
            next.push_back(l);
          }
        }
      }
      if (next.empty()) break;
      known.push_back(next[rng.Below(static_cast<uint32_t>(next.size()))]);
    }
  }
  EXPECT_GT(unreachable, 5);
}

}  // namespace
}  // namespace espalier
