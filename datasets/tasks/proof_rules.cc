#include "datasets/tasks/proof_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr size_t kMaxPremises = 64;
constexpr size_t kMaxLiterals = 4;    // per premise
constexpr size_t kMaxDerivable = 16;  // 65,536 sets of known literals
constexpr int kMaxLines = 64;

bool Contains(const std::vector<Literal>& literals, Literal literal) {
  return std::find(literals.begin(), literals.end(), literal) != literals.end();
}

// Literals separated by `between`; empty if the text has another form.
std::vector<Literal> ParseLiterals(std::string_view text,
                                   std::string_view between) {
  std::vector<Literal> literals;
  for (const absl::string_view part :
       absl::StrSplit(AbslView(text), absl::ByString(AbslView(between)))) {
    const auto literal = ParseLiteral({part.data(), part.size()});
    if (!literal) return {};
    literals.push_back(*literal);
  }
  return literals;
}

// The clause of a premise's text; empty if it is not one.
std::vector<Literal> ParseClause(std::string_view text) {
  constexpr std::string_view kArrow = " -> ";
  const size_t arrow = text.find(kArrow);
  if (arrow == std::string_view::npos) return ParseLiterals(text, " | ");
  std::vector<Literal> clause = ParseLiterals(text.substr(0, arrow), " & ");
  const auto head = ParseLiteral(text.substr(arrow + kArrow.size()));
  if (!head || clause.empty()) return {};
  for (Literal& literal : clause) literal = -literal;
  clause.push_back(*head);
  return clause;
}

absl::Status BadProof(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "proof question: ", AbslView(what),
      "; expected lines \"1. p\", \"2. p & ~q -> r\", \"3. p | q\" and then ",
      "\"prove r in 4\""));
}

// "12. text": the text, if the number is the expected one.
std::optional<std::string_view> AfterNumber(std::string_view line,
                                            size_t expected) {
  const std::string prefix = absl::StrCat(expected, ". ");
  if (!line.starts_with(prefix)) return std::nullopt;
  return line.substr(prefix.size());
}

// The goal line "prove r in 4".
bool ParseGoal(std::string_view line, ProofPuzzle& puzzle) {
  constexpr std::string_view kProve = "prove ";
  if (!line.starts_with(kProve)) return false;
  line.remove_prefix(kProve.size());
  const size_t in = line.find(" in ");
  if (in == std::string_view::npos) return false;
  const auto goal = ParseLiteral(line.substr(0, in));
  int lines = 0;
  if (!goal || !absl::SimpleAtoi(AbslView(line.substr(in + 4)), &lines) ||
      lines < 1 || lines > kMaxLines) {
    return false;
  }
  puzzle.goal = *goal;
  puzzle.lines = lines;
  return true;
}

// For the search: sets of known literals as bits over the derivable ones.
struct Derivations {
  // The literals derivable from `known` that are useful for `goal`.
  Derivations(const ProofPuzzle& puzzle, Literal goal,
              const std::vector<Literal>& known) {
    std::vector<Literal> all = Closure(puzzle, known);
    all.erase(all.begin(),
              all.begin() + static_cast<std::ptrdiff_t>(known.size()));
    if (!Contains(all, goal)) return;
    literals = {goal};
    for (size_t i = 0; i < literals.size(); ++i) {
      for (const Premise& premise : puzzle.premises) {
        if (!Contains(premise.clause, literals[i])) continue;
        for (const Literal other : premise.clause) {
          if (other == literals[i] || !Contains(all, -other) ||
              Contains(literals, -other)) {
            continue;
          }
          literals.push_back(-other);
        }
      }
    }
    needs.resize(literals.size());
    for (size_t i = 0; i < literals.size(); ++i) {
      for (const Premise& premise : puzzle.premises) {
        if (const auto mask = Needs(premise, literals[i], known)) {
          needs[i].push_back(*mask);
        }
      }
    }
  }

  // The bits of the literals that must be known for the premise to yield
  // `literal`.
  std::optional<uint32_t> Needs(const Premise& premise, Literal literal,
                                const std::vector<Literal>& known) const {
    if (!Contains(premise.clause, literal)) return std::nullopt;
    uint32_t mask = 0;
    for (const Literal other : premise.clause) {
      if (other == literal || Contains(known, -other)) continue;
      const auto it = std::find(literals.begin(), literals.end(), -other);
      if (it == literals.end()) return std::nullopt;
      mask |= 1u << (it - literals.begin());
    }
    return mask;
  }

  bool MayFollow(size_t literal, uint32_t set) const {
    return std::any_of(needs[literal].begin(), needs[literal].end(),
                       [&](uint32_t mask) { return (mask & ~set) == 0; });
  }

  std::vector<Literal> literals;             // [0] the goal; empty: no proof
  std::vector<std::vector<uint32_t>> needs;  // for each, one of these sets
};

}  // namespace

std::string FormatLiteral(Literal literal) {
  std::string text = literal < 0 ? "~" : "";
  text += static_cast<char>(literal < 0 ? -literal : literal);
  return text;
}

std::optional<Literal> ParseLiteral(std::string_view text) {
  const bool negative = text.starts_with('~');
  if (negative) text.remove_prefix(1);
  if (text.size() != 1 || text[0] < 'a' || text[0] > 'z') return std::nullopt;
  return negative ? -text[0] : text[0];
}

absl::StatusOr<ProofPuzzle> ParseProof(std::string_view question) {
  ProofPuzzle puzzle;
  bool goal = false;
  for (const absl::string_view part :
       absl::StrSplit(AbslView(question), '\n')) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(part);
    const std::string_view line(stripped.data(), stripped.size());
    if (line.empty()) continue;
    if (goal) return BadProof("text after the goal");
    if (puzzle.premises.empty() && line == "Premises:") continue;
    if (ParseGoal(line, puzzle)) {
      goal = true;
      continue;
    }
    const auto text = AfterNumber(line, puzzle.premises.size() + 1);
    std::vector<Literal> clause;
    if (text) clause = ParseClause(*text);
    if (clause.empty() || clause.size() > kMaxLiterals ||
        puzzle.premises.size() == kMaxPremises) {
      return BadProof(absl::StrCat("cannot read the line \"",
                                   AbslView(line.substr(0, 80)), "\""));
    }
    puzzle.premises.push_back({std::move(clause), std::string(*text)});
  }
  if (!goal || puzzle.premises.empty()) return BadProof("no goal or premises");
  const std::vector<Literal> start = KnownAtStart(puzzle);
  const std::vector<Literal> all = Closure(puzzle, start);
  for (const Literal literal : all) {
    if (Contains(all, -literal)) {
      return BadProof(absl::StrCat("the premises yield both ",
                                   FormatLiteral(literal), " and ",
                                   FormatLiteral(-literal)));
    }
  }
  if (all.size() - start.size() > kMaxDerivable) {
    return BadProof(absl::StrCat(all.size() - start.size(),
                                 " literals follow, more than ",
                                 kMaxDerivable));
  }
  return puzzle;
}

std::string FormatProof(const ProofPuzzle& puzzle) {
  std::string text;
  for (size_t i = 0; i < puzzle.premises.size(); ++i) {
    absl::StrAppend(&text, i + 1, ". ", puzzle.premises[i].text, "\n");
  }
  absl::StrAppend(&text, "prove ", FormatLiteral(puzzle.goal), " in ",
                  puzzle.lines, "\n");
  return text;
}

std::vector<Literal> KnownAtStart(const ProofPuzzle& puzzle) {
  std::vector<Literal> known;
  for (const Premise& premise : puzzle.premises) {
    if (premise.clause.size() == 1 && !Contains(known, premise.clause[0])) {
      known.push_back(premise.clause[0]);
    }
  }
  return known;
}

bool Yields(const Premise& premise, Literal literal,
            const std::vector<Literal>& known) {
  return Contains(premise.clause, literal) &&
         std::all_of(premise.clause.begin(), premise.clause.end(),
                     [&](Literal other) {
                       return other == literal || Contains(known, -other);
                     });
}

std::vector<Literal> Closure(const ProofPuzzle& puzzle,
                             std::vector<Literal> known) {
  for (bool grown = true; grown;) {
    grown = false;
    for (const Premise& premise : puzzle.premises) {
      for (const Literal literal : premise.clause) {
        if (Contains(known, literal) || !Yields(premise, literal, known)) {
          continue;
        }
        known.push_back(literal);
        grown = true;
      }
    }
  }
  return known;
}

std::optional<int> ProofDistance(const ProofPuzzle& puzzle, Literal goal,
                                 const std::vector<Literal>& known) {
  if (Contains(known, goal)) return 0;
  const Derivations derivations(puzzle, goal, known);
  const size_t n = derivations.literals.size();
  if (n == 0 || n > kMaxDerivable) return std::nullopt;
  std::vector<bool> seen(size_t{1} << n, false);
  std::vector<uint32_t> level = {0};
  for (int distance = 1; !level.empty(); ++distance) {
    std::vector<uint32_t> next;
    for (const uint32_t set : level) {
      for (size_t i = 0; i < n; ++i) {
        const uint32_t with = set | 1u << i;
        if (with == set || seen[with] || !derivations.MayFollow(i, set)) {
          continue;
        }
        if (i == 0) return distance;  // the goal
        seen[with] = true;
        next.push_back(with);
      }
    }
    level = std::move(next);
  }
  return std::nullopt;
}

std::vector<std::string> ShortestProof(const ProofPuzzle& puzzle) {
  std::vector<std::string> lines;
  std::vector<Literal> known = KnownAtStart(puzzle);
  std::optional<int> left = ProofDistance(puzzle, puzzle.goal, known);
  if (!left) return {};
  while (*left > 0) {
    bool found = false;
    for (size_t i = 0; i < puzzle.premises.size() && !found; ++i) {
      for (const Literal literal : puzzle.premises[i].clause) {
        if (Contains(known, literal) ||
            !Yields(puzzle.premises[i], literal, known)) {
          continue;
        }
        known.push_back(literal);
        const auto after = ProofDistance(puzzle, puzzle.goal, known);
        if (after && *after < *left) {
          lines.push_back(absl::StrCat(FormatLiteral(literal), " : ", i + 1));
          left = after;
          found = true;
          break;
        }
        known.pop_back();
      }
    }
  }
  lines.push_back("= " + FormatLiteral(puzzle.goal));
  return lines;
}

ProofJudge::ProofJudge(ProofPuzzle puzzle)
    : puzzle_(std::move(puzzle)),
      known_(KnownAtStart(puzzle_)),
      lines_left_(puzzle_.lines) {}

StepVerdict ProofJudge::Next(std::string_view line) {
  StepVerdict verdict;
  bool reachable = false;
  const size_t colon = line.find(" : ");
  size_t number = 0;
  if (ended_) {
    // Nothing may follow.
  } else if (line.starts_with("= ")) {
    ended_ = true;
    verdict.step_ok = ParseLiteral(line.substr(2)) == puzzle_.goal &&
                      Contains(known_, puzzle_.goal) && lines_left_ >= 0;
    reachable = verdict.step_ok;
  } else if (colon != std::string_view::npos &&
             absl::SimpleAtoi(AbslView(line.substr(colon + 3)), &number) &&
             line.substr(colon + 3) == absl::StrCat(number)) {
    const auto literal = ParseLiteral(line.substr(0, colon));
    if (literal) {
      verdict.step_ok = number >= 1 && number <= puzzle_.premises.size() &&
                        Yields(puzzle_.premises[number - 1], *literal, known_);
      if (!Contains(known_, *literal)) known_.push_back(*literal);
      --lines_left_;
      if (right_so_far_ && verdict.step_ok) {
        const auto left = ProofDistance(puzzle_, puzzle_.goal, known_);
        reachable = left && *left <= lines_left_;
      }
    }
  }
  right_so_far_ = right_so_far_ && verdict.step_ok;
  verdict.path_ok = right_so_far_ && reachable;
  return verdict;
}

}  // namespace espalier
