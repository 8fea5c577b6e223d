#include "base/executor.h"

#include <atomic>
#include <chrono>
#include <climits>
#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

// Waits until `n` threads have arrived. A test that gets fewer threads than n
// fails after the time limit instead of passing.
class Meeting {
 public:
  explicit Meeting(int n) : wanted_(n) {}
  // False if not all threads arrived within `seconds`.
  bool Arrive(double seconds = 20) {
    ++here_;
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::duration<double>(seconds);
    while (here_ < wanted_) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  const int wanted_;
  std::atomic<int> here_{0};  // arrivals so far
};

TEST(ExecutorTest, EveryIndexIsVisitedOnce) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  for (const int threads : {1, 2, 3, 8}) {
    Executor executor(threads);
    for (const int n : {0, 1, 2, 7, 64, 1000, 4097}) {
      for (const int grain : {1, 2, 5, 64, 5000}) {
        std::vector<int> visits(n, 0);
        executor.ParallelFor(n, grain, [&](int begin, int end) {
          EXPECT_LT(begin, end);
          EXPECT_LE(end - begin, grain);
          for (int i = begin; i < end; ++i) ++visits[i];
        });
        EXPECT_EQ(visits, std::vector<int>(n, 1))
            << threads << " threads, n " << n << ", grain " << grain;
      }
    }
  }
}

TEST(ExecutorTest, LargestRangeDoesNotOverflow) {
  for (const int threads : {1, 4}) {
    Executor executor(threads);
    std::atomic<int64_t> covered{0};
    executor.ParallelFor(INT_MAX, INT_MAX - 5,
                         [&](int begin, int end) { covered += end - begin; });
    EXPECT_EQ(covered, INT_MAX);
  }
}

TEST(ExecutorTest, EightThreadsTakePartOnAnyMachine) {
  Executor executor(8);
  Meeting meeting(8);
  std::atomic<int> missed{0};
  executor.ParallelFor(8, 1, [&](int, int) {
    if (!meeting.Arrive()) ++missed;
  });
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(executor.last_participants(), 8);
}

TEST(ExecutorTest, SmallExecutorDoesNotNarrowALargeOne) {
  Executor small(2);
  Executor large(8);
  Executor another_small(2);
  Meeting meeting(8);
  std::atomic<int> missed{0};
  large.ParallelFor(8, 1, [&](int, int) {
    if (!meeting.Arrive()) ++missed;
  });
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(large.last_participants(), 8);
}

TEST(ExecutorTest, NeverMoreThreadsThanAskedFor) {
  Executor executor(3);
  std::atomic<int> inside{0}, most{0};
  executor.ParallelFor(200, 1, [&](int, int) {
    const int now = ++inside;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    --inside;
  });
  EXPECT_LE(most, 3);
}

TEST(ExecutorTest, OneThreadIsTheCaller) {
  Executor executor(1);
  std::set<std::thread::id> ids;
  executor.ParallelFor(
      100, 3, [&](int, int) { ids.insert(std::this_thread::get_id()); });
  EXPECT_EQ(ids, std::set<std::thread::id>{std::this_thread::get_id()});
  EXPECT_EQ(executor.last_participants(), 1);
}

// Each call reads what the previous call wrote, in another order and on other
// threads: a chain of prefix sums over plain, unguarded memory.
TEST(ExecutorTest, NextCallSeesWhatTheLastOneWrote) {
  Executor executor(4);
  constexpr int kN = 512;
  std::vector<int64_t> from(kN, 1), to(kN);
  for (int step = 1; step < kN; step *= 2) {
    executor.ParallelFor(kN, 16, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        const int at = kN - 1 - i;
        to[at] = from[at] + (at >= step ? from[at - step] : 0);
      }
    });
    from.swap(to);
  }
  std::vector<int64_t> expected(kN);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(from, expected);
}

TEST(ExecutorTest, InnerCallsReadWhatTheirOuterChunkWrote) {
  Executor executor(4);
  constexpr int kRows = 37, kColumns = 53;
  std::vector<int> sums(kRows, 0);
  executor.ParallelFor(kRows, 1, [&](int begin, int end) {
    for (int row = begin; row < end; ++row) {
      std::vector<int> values(kColumns), doubled(kColumns);
      std::iota(values.begin(), values.end(), row);
      executor.ParallelFor(kColumns, 4, [&](int b, int e) {
        for (int i = b; i < e; ++i) doubled[i] = 2 * values[i];
      });
      sums[row] = std::accumulate(doubled.begin(), doubled.end(), 0);
    }
  });
  for (int row = 0; row < kRows; ++row) {
    EXPECT_EQ(sums[row], 2 * kColumns * row + kColumns * (kColumns - 1));
  }
}

// Without isolation a thread waiting for its inner chunks would start another
// outer chunk on the same stack.
TEST(ExecutorTest, WaitingInnerCallStartsNoOuterChunk) {
  Executor executor(4);
  std::atomic<int> reentered{0};
  executor.ParallelFor(64, 1, [&](int, int) {
    thread_local int depth = 0;
    if (++depth > 1) ++reentered;
    executor.ParallelFor(8, 1, [](int, int) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
    --depth;
  });
  EXPECT_EQ(reentered, 0);
}

TEST(ExecutorTest, ManyCallersShareOneExecutor) {
  Executor executor(3);
  std::vector<std::vector<int>> results(6, std::vector<int>(300, 0));
  std::vector<std::thread> callers;
  for (size_t c = 0; c < results.size(); ++c) {
    callers.emplace_back([&, c] {
      for (int round = 0; round < 20; ++round) {
        executor.ParallelFor(300, 7, [&](int begin, int end) {
          for (int i = begin; i < end; ++i) {
            results[c][i] += static_cast<int>(c) + i;
          }
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (size_t c = 0; c < results.size(); ++c) {
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(results[c][i], 20 * (static_cast<int>(c) + i));
    }
  }
}

TEST(ExecutorTest, ExecutorsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    auto executor = std::make_unique<Executor>(1 + i % 5);
    std::atomic<int> sum{0};
    executor->ParallelFor(100, 9, [&](int begin, int end) {
      for (int k = begin; k < end; ++k) sum += k;
    });
    ASSERT_EQ(sum, 4950);
  }
}

TEST(ExecutorTest, PhasesFollowOneAnotherAndCoverTheirChunks) {
  RandomStream rng(StreamKey(9, 0, 0, Purpose::kTest));
  for (const int threads : {1, 2, 3, 8}) {
    Executor executor(threads);
    for (int round = 0; round < 100; ++round) {
      std::vector<int> chunks;
      for (int i = rng.Range(0, 12); i > 0; --i)
        chunks.push_back(rng.Range(0, 9));
      // Each chunk reads what all chunks of the previous phase wrote. The
      // integers are plain, so that ThreadSanitizer reports a phase that starts
      // too early.
      std::vector<std::vector<int>> done;
      for (const int n : chunks) done.emplace_back(static_cast<size_t>(n), 0);
      std::atomic<int> wrong{0};
      executor.RunPhases(chunks, [&](int phase, int chunk) {
        const size_t p = static_cast<size_t>(phase);
        if (p > 0) {
          for (const int count : done[p - 1]) wrong += count != 1;
        }
        ++done[p][static_cast<size_t>(chunk)];
      });
      EXPECT_EQ(wrong, 0);
      for (const auto& phase : done) {
        EXPECT_EQ(phase, std::vector<int>(phase.size(), 1));
      }
    }
  }
}

TEST(ExecutorTest, AllThreadsTakePartInPhases) {
  Executor executor(3);
  bool met = false;
  // Some calls run without helpers, so retry.
  for (int i = 0; i < 300 && !met; ++i) {
    Meeting meeting(3);
    std::atomic<int> arrived{0};
    constexpr int kChunks[] = {3};
    executor.RunPhases(kChunks,
                       [&](int, int) { arrived += meeting.Arrive(0.2); });
    met = arrived == 3;
  }
  EXPECT_TRUE(met);
  EXPECT_EQ(executor.last_participants(), 3);
}

TEST(ExecutorTest, AHelperThatStallsIsLeftOut) {
  Executor executor(2);
  const auto caller = std::this_thread::get_id();
  int stalls = 0, alone = 0;
  for (int i = 0; i < 60; ++i) {
    std::atomic<bool> helped{false};
    executor.RunPhases(std::vector<int>{2, 2, 2}, [&](int, int) {
      if (std::this_thread::get_id() == caller) {
        std::this_thread::sleep_for(std::chrono::microseconds(300));
      } else {
        helped = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
      }
    });
    (helped ? stalls : alone) += 1;
  }
  EXPECT_GT(stalls, 0);
  EXPECT_LT(stalls, 20);
  EXPECT_GT(alone, 40);
}

}  // namespace
}  // namespace espalier
