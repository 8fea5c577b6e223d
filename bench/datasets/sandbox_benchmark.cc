// Small programs through the sandbox, each in its own worker.
//
//   programs_per_s   with as many callers as the machine has cores
//   latency          one caller: from the call to the verdict, including the
//                    worker's end; the pool hides its start if cores are free
//
// A program is a function of a few lines with three tests, as in MBPP; numpy is
// one whose tests import numpy, as in HumanEval+; input reads a line and writes
// one.
#include <atomic>
#include <memory>
#include <string>

#include "base/executor.h"
#include "benchmark/benchmark.h"
#include "datasets/programs/sandbox.h"

namespace espalier {
namespace {

constexpr int kPrograms = 16;  // per iteration

PythonProgram Small(bool numpy) {
  return {.code = "def square(x):\n    return x * x\n",
          .names = {"square"},
          .before = numpy ? "import numpy" : "",
          .tests = {"assert square(7) == 49", "assert square(-4) == 16",
                    "assert square(0) == 0"}};
}

// Calls run(sandbox) for every program; false ends the benchmark.
template <typename Run>
void RunPrograms(benchmark::State& state, int callers, const Run& run) {
  Executor executor(callers);
  SandboxOptions options;
  options.warm = executor.threads();
  auto sandbox = Sandbox::Create(options);
  if (!sandbox.ok()) {
    state.SkipWithError(std::string(sandbox.status().message()).c_str());
    return;
  }
  std::atomic<bool> failed = false;
  for (auto _ : state) {
    executor.ParallelFor(kPrograms, 1, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        if (!run(**sandbox)) failed = true;
      }
    });
  }
  if (failed) state.SkipWithError("a program did not pass");
  const auto programs = static_cast<double>(state.iterations() * kPrograms);
  state.counters["programs_per_s"] =
      benchmark::Counter(programs, benchmark::Counter::kIsRate);
  if (callers == 1) {
    state.counters["latency"] = benchmark::Counter(
        programs, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  }
}

bool Passes(Sandbox& sandbox, const PythonProgram& program) {
  const auto verdict = sandbox.Run(program);
  return verdict.ok() && verdict->kind == VerdictKind::kPassed;
}

void BM_SmallPrograms(benchmark::State& state) {
  RunPrograms(state, 0,
              [](Sandbox& sandbox) { return Passes(sandbox, Small(false)); });
}

void BM_SmallProgramsAlone(benchmark::State& state) {
  RunPrograms(state, 1,
              [](Sandbox& sandbox) { return Passes(sandbox, Small(false)); });
}

void BM_NumpyInTests(benchmark::State& state) {
  RunPrograms(state, 0,
              [](Sandbox& sandbox) { return Passes(sandbox, Small(true)); });
}

void BM_Input(benchmark::State& state) {
  RunPrograms(state, 0, [](Sandbox& sandbox) {
    const auto run = sandbox.RunInput("print(int(input()) ** 2)", "7\n");
    return run.ok() && run->output == "49\n";
  });
}

BENCHMARK(BM_SmallPrograms)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SmallProgramsAlone)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_NumpyInTests)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Input)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier
