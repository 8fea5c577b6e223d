// What numbers options take. CLI11's own checks let NaN through, read "" as 0,
// wrap numbers that do not fit, and print bounds with 309 digits.
//
//   app.add_option("--limit", limit)->check(WholeFrom(0));
//   app.add_option("--top-p", top_p)->check(RealAbove(0, 1));
//   CheckNumbers(app);   // last: what is true of all options
//
// A refusal is "VALUE: expected ...". Stateless: thread-safe.
#ifndef ESPALIER_TOOLS_ESPALIER_OPTION_CHECKS_H_
#define ESPALIER_TOOLS_ESPALIER_OPTION_CHECKS_H_

#include <cstdint>
#include <limits>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace espalier {

// The most that an option of type int takes.
constexpr int64_t kMostInt = std::numeric_limits<int>::max();

// As `most` of RealFrom: infinity, too.
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// A whole number from `least` to `most`.
CLI::Validator WholeFrom(int64_t least,
                         int64_t most = std::numeric_limits<int64_t>::max());

// A number from `least`, or above `least`, to `most`; finite by default.
CLI::Validator RealFrom(double least,
                        double most = std::numeric_limits<double>::max());
CLI::Validator RealAbove(double least,
                         double most = std::numeric_limits<double>::max());

// Has every option of `app` and its subcommands that takes a number refuse what
// is none, NaN, and whole numbers that fit in no variable.
void CheckNumbers(CLI::App& app);

// Whether `count` seeds from `first` on are below 2^64, so that none comes
// twice.
absl::Status CheckSeeds(uint64_t first, int64_t count);

// Prints help or a version to standard output and a refusal to the error
// output, there without bytes that would move a terminal's cursor. 0, or 2 for
// a refusal.
int EndParse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_OPTION_CHECKS_H_
