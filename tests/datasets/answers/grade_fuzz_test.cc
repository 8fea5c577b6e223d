// Random changes to a corpus of answers: no crash, no hang, little memory, and
// no equal pair is found different with its sides swapped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "datasets/answers/grade_answer.h"
#include "tests/base/one_thread.h"
#include "tests/base/resident_memory.h"
#include "tests/datasets/answers/pair_file.h"

namespace espalier {
namespace {

double ResidentMib() {
  return static_cast<double>(ResidentBytes()) / (1 << 20);
}

// The pair being graded, printed on a crash.
std::string pair_under_way;

void NamePairAndCrash(int signal) {
  const auto written =
      ::write(STDERR_FILENO, pair_under_way.data(), pair_under_way.size());
  std::signal(written < 0 ? SIGABRT : signal, SIG_DFL);
  ::raise(signal);
}

class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, uint64_t seed)
      : corpus_(std::move(corpus)),
        rng_(StreamKey(seed, 0, 0, Purpose::kTest)) {}

  std::string Next() {
    std::string text = Pick();
    const int changes = static_cast<int>(Below(6));
    for (int i = 0; i < changes; ++i) Change(text);
    if (text.size() > 4000) text.resize(4000);
    return text;
  }
  size_t Below(size_t n) { return rng_.Below(static_cast<uint32_t>(n)); }

 private:
  const std::string& Pick() { return corpus_[Below(corpus_.size())]; }

  void Change(std::string& text) {
    static constexpr const char* kPieces[] = {"^",
                                              "_",
                                              "{",
                                              "}",
                                              "(",
                                              ")",
                                              "[",
                                              "]",
                                              "\\frac",
                                              "\\sqrt",
                                              "!",
                                              "%",
                                              "|",
                                              "\\pm",
                                              "\\cup",
                                              "\\infty",
                                              "\\sin",
                                              "\\log",
                                              "e",
                                              "i",
                                              "99999",
                                              "^{999}",
                                              "!!",
                                              ",",
                                              ";",
                                              "=",
                                              "<",
                                              "\\in",
                                              "\\text{",
                                              "\\boxed{",
                                              "$",
                                              "\\\\",
                                              "&",
                                              "\\begin{pmatrix}",
                                              "\\end{pmatrix}",
                                              "\\sum_{k=1}^",
                                              "\\int",
                                              "dx",
                                              "\xf0\x9f\x98\x80",
                                              "\xff",
                                              "\\left(",
                                              "\\right.",
                                              "0.\\overline{3}",
                                              "/0",
                                              "10^",
                                              " and ",
                                              " or ",
                                              "\\binom",
                                              "\\ln",
                                              "\\circ",
                                              "mod",
                                              "x",
                                              "-"};
    const size_t at = Below(text.size() + 1);
    switch (Below(6)) {
      case 0:
        text.insert(at, kPieces[Below(std::size(kPieces))]);
        break;
      case 1:
        if (!text.empty()) text.erase(Below(text.size()), 1 + Below(4));
        break;
      case 2: {
        const std::string& other = Pick();
        text.insert(at, other.substr(Below(other.size() + 1), Below(30)));
        break;
      }
      case 3:
        if (!text.empty()) {
          text[Below(text.size())] = static_cast<char>(Below(256));
        }
        break;
      case 4: {
        // Repeats a part many times.
        const std::string part = text.substr(at, 1 + Below(12));
        std::string many;
        for (size_t k = Below(30); k > 0; --k) many += part;
        text.insert(at, many);
        break;
      }
      default:
        text = "(" + text + ")" + kPieces[Below(std::size(kPieces))];
    }
  }

  std::vector<std::string> corpus_;
  RandomStream rng_;
};

void Fuzz(double seconds, uint64_t seed) {
  for (const int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS}) {
    // Sanitizers install their own handlers, which report more.
    if (kResidentMemoryTells) std::signal(signal, NamePairAndCrash);
  }
  const Clock& clock = Clock::Real();
  Mutator mutator(Corpus(), seed);
  // One-time allocations of libraries do not count as growth.
  for (const std::string& text : Corpus()) GradeAnswer(text, "x + \\sqrt 2");
  const double before = ResidentMib();
  double most = before, slowest = 0;
  std::string slowest_pair;
  int64_t pairs = 0;
  const double end = clock.Seconds() + seconds;
  while (clock.Seconds() < end) {
    const std::string a = mutator.Next();
    // Half of the pairs are close to each other, which reaches the deep stages.
    const std::string b = mutator.Below(2) == 0 ? mutator.Next() : "1*" + a;
    pair_under_way = "crash: " + a + "  |  " + b + "\n";
    const double start = clock.Seconds();
    const bool forth = GradeAnswer(a, b).equal;
    const double took = clock.Seconds() - start;
    if (took > slowest) {
      slowest = took;
      slowest_pair = a + "  |  " + b;
    }
    // Generous: a loaded machine may deschedule the test for a while.
    ASSERT_LT(took, 5.0) << a << "  |  " << b;
    ++pairs;
    if (pairs % 8 == 0) {
      const GradeVerdict back = GradeAnswer(b, a);
      ASSERT_TRUE(!forth || back.equal || back.undecided) << a << "  |  " << b;
    }
    if (pairs % 256 == 0) {
      most = std::max(most, ResidentMib());
      ASSERT_TRUE(most - before < 64 || !kResidentMemoryTells)
          << most - before << " "
          << "MiB grown; last: " << a << "  |  " << b;
    }
  }
  std::cout << "figure: " << pairs << " fuzzed pairs in " << seconds
            << " s, slowest " << slowest * 1e3 << " ms (" << slowest_pair
            << "), memory grew by " << most - before << " MiB\n";
  EXPECT_GT(pairs, 100);
}

// Long enough to show memory errors; the hour-long run below covers the rest.
TEST(GradeFuzz, FewSeconds) {
  ESP_ONE_THREAD();
#ifdef __SANITIZE_ADDRESS__
  Fuzz(30, 1);
#else
  Fuzz(5, 1);
#endif
}

// An hour in two halves, for two cores.
TEST(GradeFuzz, LongHalfAnHour) { Fuzz(1800, 2); }

TEST(GradeFuzz, LongOtherHalfOfTheHour) { Fuzz(1800, 3); }

}  // namespace
}  // namespace espalier
