// A program with a real data race in work that an Executor runs. Its test
// passes if ThreadSanitizer reports the race: proof that the suppressions do
// not hide races of this project.
#include <atomic>
#include <cstdio>

#include "base/executor.h"

namespace {

int planted_counter = 0;

void PlantedIncrement() { ++planted_counter; }

}  // namespace

int main() {
  espalier::Executor executor(4);
  std::atomic<int> here{0};  // arrivals; relaxed: no synchronisation
  executor.ParallelFor(4, 1, [&](int, int) {
    here.fetch_add(1, std::memory_order_relaxed);
    while (here.load(std::memory_order_relaxed) < 4) {
    }
    for (int i = 0; i < 1000; ++i) PlantedIncrement();
  });
  std::printf("counted to %d\n", planted_counter);
  return 0;
}
