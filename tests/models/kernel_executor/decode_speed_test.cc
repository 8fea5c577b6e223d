// Long: the gain of a second thread and the cost of a busy neighbour, on the
// 100 M shape. The tests measure time, so the machine must be quiet.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "models/kernel_executor/kernel_trunk.h"
#include "models/kernels/choose_kernels.h"
#include "tests/models/testing/paths.h"
#include "tests/models/testing/random_source.h"

namespace espalier {
namespace {

const KernelPath& Path() {
  return *ChooseKernels("", WeightKind::kBf16, 64).value();
}

// Seconds per step of 32 sequences at position 256.
class Decoding {
 public:
  explicit Decoding(KernelTrunk& trunk, int threads)
      : executor_(threads), paths_(trunk, 32, 256, 0, 257, executor_) {}
  // Over `times` steps: an average, as the neighbour's load varies.
  double Seconds(int times) {
    const double start = espalier::Seconds();
    for (int i = 0; i < times; ++i) paths_.Step(256);
    return (espalier::Seconds() - start) / times;
  }

 private:
  Executor executor_;
  Paths paths_;
};

class DecodeSpeedTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2) {
      GTEST_SKIP() << "this machine has one core";
    }
    Executor both(2);
    trunk_ = std::make_unique<KernelTrunk>(
        Network::Pack(RandomSource(Llama100M()), Path(), WeightKind::kBf16,
                      &both),
        Path());
    one_ = std::make_unique<Decoding>(*trunk_, 1);
    two_ = std::make_unique<Decoding>(*trunk_, 2);
  }
  std::unique_ptr<KernelTrunk> trunk_;
  std::unique_ptr<Decoding> one_, two_;
};

TEST_F(DecodeSpeedTest, LongTwoThreadsAreWorthOneAndSevenTenths) {
  double one = 1e9, two = 1e9;
  for (int round = 0; round < 20; ++round) {
    one = std::min(one, one_->Seconds(5));
    two = std::min(two, two_->Seconds(5));
  }
  std::printf("figure: 32 sequences, two threads %.2f times as fast as one\n",
              one / two);
  EXPECT_GE(one / two, 1.7);
}

TEST_F(DecodeSpeedTest, LongABusyNeighbourCostsAFifthAtMost) {
  // One thread without a neighbour; two threads with one on one of the cores.
  double one = 1e9;
  for (int round = 0; round < 20; ++round) {
    one = std::min(one, one_->Seconds(5));
  }
  std::atomic<bool> stop{false};
  std::thread neighbour([&] {
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(0, &core);
    sched_setaffinity(0, sizeof core, &core);
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  double total = 0;
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) total += two_->Seconds(5);
  stop = true;
  neighbour.join();
  const double kept = one / (total / kRounds);
  std::printf("figure: two threads beside a busy loop keep %.2f of one\n",
              kept);
  EXPECT_GE(kept, 0.8);
}

}  // namespace
}  // namespace espalier
