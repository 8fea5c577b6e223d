// Checks of numeric options. CLI11's own checks let NaN through, read "" as 0,
// wrap numbers that do not fit, and print bounds with 309 digits.
//
//   app.add_option("--limit", limit)->check(WholeFrom(0));
//   app.add_option("--top-p", top_p)->check(RealAbove(0, 1));
//   CheckNumbers(app);   // last: what is true of all options
//
// Error messages are "VALUE: expected ..." or "expected ..., found VALUE".
// Stateless: thread-safe.
#ifndef ESPALIER_TOOLS_ESPALIER_OPTION_CHECKS_H_
#define ESPALIER_TOOLS_ESPALIER_OPTION_CHECKS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace espalier {

// The largest value of an option of type int.
constexpr int64_t kMostInt = std::numeric_limits<int>::max();

// As `most` of RealFrom: also allows infinity.
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// An integer from `least` to `most`.
CLI::Validator WholeFrom(int64_t least,
                         int64_t most = std::numeric_limits<int64_t>::max());

// RealFrom: a number >= `least`. RealAbove: > `least`. Both at most `most`;
// finite by default.
CLI::Validator RealFrom(double least,
                        double most = std::numeric_limits<double>::max());
CLI::Validator RealAbove(double least,
                         double most = std::numeric_limits<double>::max());

// Makes every numeric option of `app` and its subcommands refuse text that is
// not a number, NaN, and integers that do not fit. Integers may be written as
// 1e6.
void CheckNumbers(CLI::App& app);

// Checks that `count` seeds from `first` on are below 2^64, so that none
// repeats.
absl::Status CheckSeeds(uint64_t first, int64_t count);

// One of `choices`; --help lists them.
CLI::Validator OneOf(std::vector<std::string> choices);

// A number of bytes with or without a unit, replaced by the number.
CLI::Validator ByteSize();

// Prints help or a version to standard output, and an error to stderr, with the
// command that it is about ("PROGRAM COMMAND: ...") and without bytes that
// would move a terminal's cursor. Returns 0, or 2 for an error.
int EndParse(const CLI::App& app, const CLI::ParseError& error,
             const std::string& program = "espalier");

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_OPTION_CHECKS_H_
