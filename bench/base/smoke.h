// Smoke runs, in which a benchmark only shows that it works: tests set
// ESPALIER_BENCH_SMOKE. Sizes shrink then, and figures mean nothing.
#ifndef ESPALIER_BENCH_BASE_SMOKE_H_
#define ESPALIER_BENCH_BASE_SMOKE_H_

#include <cstdlib>

namespace espalier {

inline bool Smoke() { return std::getenv("ESPALIER_BENCH_SMOKE") != nullptr; }

// `whole`, or `smoke` in a smoke run.
template <class T>
T SmokeOr(T smoke, T whole) {
  return Smoke() ? smoke : whole;
}

}  // namespace espalier

#endif  // ESPALIER_BENCH_BASE_SMOKE_H_
