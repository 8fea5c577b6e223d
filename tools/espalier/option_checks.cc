#include "tools/espalier/option_checks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

constexpr int64_t kMostWhole = std::numeric_limits<int64_t>::max();
constexpr double kMostReal = std::numeric_limits<double>::max();

std::string Refusal(const std::string& text, const std::string& expected) {
  return absl::StrCat(text.empty() ? "\"\"" : text, ": expected ", expected);
}

// "" for an integer that fits, else an error: CLI11 would clamp it to the range
// and take a negative seed as a huge one.
std::string CheckWhole(const std::string& text, bool may_be_negative) {
  const bool negative = !text.empty() && text[0] == '-';
  const size_t first = !text.empty() && (negative || text[0] == '+') ? 1 : 0;
  const bool digits =
      first < text.size() &&
      text.find_first_not_of("0123456789", first) == std::string::npos;
  int64_t whole = 0;
  uint64_t natural = 0;
  const bool fits =
      digits &&
      (may_be_negative
           ? absl::SimpleAtoi(text.substr(text[0] == '+'), &whole)
           : !negative && absl::SimpleAtoi(text.substr(first), &natural));
  if (fits) return "";
  return Refusal(text, absl::StrCat("a whole number from ",
                                    may_be_negative ? "-2^63 to 2^63 - 1"
                                                    : "0 to 2^64 - 1"));
}

// A decimal number, as in methods' options: no blanks, no 0x10.
bool ReadReal(const std::string& text, double* value) {
  if (text.find_first_of(" \t\r\n\v\fxXpP") != text.npos) return false;
  return absl::SimpleAtod(text, value) && !std::isnan(*value);
}

std::string CheckReal(const std::string& text) {
  double value = 0;
  return ReadReal(text, &value) ? "" : Refusal(text, "a number");
}

// Writes a whole number plainly: "1e6" as "1000000", "2.50e2" as "250". "010"
// is ten; CLI11 would read it as octal. Leaves any other text as it is.
std::string WritePlainly(std::string& text) {
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  size_t at = sign;
  std::string digits;
  const auto take_digits = [&] {
    const size_t begin = digits.size();
    while (at < text.size() && absl::ascii_isdigit(text[at])) {
      digits += text[at++];
    }
    return static_cast<int64_t>(digits.size() - begin);
  };
  int64_t zeros = 0;  // that the exponent adds; negative: digits it takes
  if (take_digits() == 0) return "";
  if (at < text.size() && text[at] == '.') {
    ++at;
    zeros -= take_digits();
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::string power = text.substr(at + 1);
    int exponent = 0;
    if (power.find_first_not_of("+-0123456789") != power.npos ||
        !absl::SimpleAtoi(power, &exponent)) {
      return "";
    }
    zeros += exponent;
  } else if (at < text.size() || text.find('.') != text.npos) {
    return "";  // "1.0" is a real number
  }
  for (; zeros < 0 && digits.ends_with('0'); ++zeros) digits.pop_back();
  constexpr int64_t kMostZeros = 20;  // in any number that fits
  if (zeros < 0 || zeros > kMostZeros) return "";
  digits.append(static_cast<size_t>(zeros), '0');
  const size_t first = digits.find_first_not_of('0');
  digits.erase(0, first == digits.npos ? digits.size() - 1 : first);
  text = text.substr(0, sign) + digits;
  return "";
}

std::string Bound(double bound) { return absl::StrCat(bound); }

// `above`: excludes the lower bound.
CLI::Validator Real(double least, double most, bool above) {
  const std::string expected = absl::StrCat(
      "a number ",
      above ? absl::StrCat("above ", Bound(least),
                           most < kMostReal ? " up to " + Bound(most) : "")
      : most < kMostReal
          ? absl::StrCat("from ", Bound(least), " to ", Bound(most))
          : absl::StrCat("of ", Bound(least), " or more"));
  return CLI::Validator(
      [=](const std::string& text) {
        double value = 0;
        const bool fits = ReadReal(text, &value) &&
                          (above ? value > least : value >= least) &&
                          value <= most;
        return fits ? std::string() : Refusal(text, expected);
      },
      above || most >= kMostReal
          ? std::string()
          : absl::StrCat("in [", Bound(least), " - ", Bound(most), "]"));
}

// The names of an app's options or of its subcommands.
std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* below : app.get_subcommands(nullptr)) {
    if (!below->get_name().empty()) names.push_back(below->get_name());
  }
  return names;
}

// What is wrong with the arguments of `app`, the last subcommand given below
// `root`. An argument that nothing takes comes before one that is missing.
std::string Described(const CLI::App& app, const CLI::App& root,
                      const CLI::ParseError& error) {
  const bool missing = error.get_name() == "RequiredError";
  if (missing || error.get_name() == "ExtrasError") {
    const std::vector<std::string> unknown = root.remaining(true);
    const auto option = std::find_if(
        unknown.begin(), unknown.end(), [](const std::string& argument) {
          return argument.size() > 1 && argument[0] == '-' && argument != "--";
        });
    if (option != unknown.end()) {
      const std::string near = NearestName(*option, OptionNames(app));
      return absl::StrCat("unknown option ", *option,
                          near.empty() ? "" : "; did you mean " + near + "?");
    }
    const std::vector<std::string> commands = CommandNames(app);
    const bool no_command = !commands.empty() && app.get_subcommands().empty();
    if (missing && no_command) {
      return absl::StrCat(unknown.empty()
                              ? "a subcommand is missing"
                              : "unknown subcommand " + unknown.front(),
                          "; expected one of ", absl::StrJoin(commands, ", "));
    }
  }
  return error.what();
}

}  // namespace

CLI::Validator WholeFrom(int64_t least, int64_t most) {
  const std::string expected =
      most == kMostWhole
          ? absl::StrCat("a whole number of ", least, " or more, below 2^63")
          : absl::StrCat("a whole number from ", least, " to ", most);
  return CLI::Validator(
      [=](const std::string& text) {
        int64_t value = 0;
        const bool fits = CheckWhole(text, true).empty() &&
                          absl::SimpleAtoi(text, &value) && value >= least &&
                          value <= most;
        return fits ? std::string() : Refusal(text, expected);
      },
      most < kMostInt ? absl::StrCat("in [", least, " - ", most, "]")
                      : std::string());
}

CLI::Validator RealFrom(double least, double most) {
  return Real(least, most, false);
}

CLI::Validator RealAbove(double least, double most) {
  return Real(least, most, true);
}

void CheckNumbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string kind = option->get_type_name();
    const bool natural = kind.starts_with("UINT");
    if (natural || kind.starts_with("INT")) {
      option->check(CLI::Validator(
          [natural](const std::string& text) {
            return CheckWhole(text, !natural);
          },
          ""));
      option->transform(CLI::Validator(&WritePlainly, ""));
    } else if (kind.starts_with("FLOAT")) {
      option->check(CLI::Validator(&CheckReal, ""));
    }
  }
  for (CLI::App* below : app.get_subcommands(nullptr)) CheckNumbers(*below);
}

absl::Status CheckSeeds(uint64_t first, int64_t count) {
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  if (count < 1 || first <= kLast - static_cast<uint64_t>(count - 1)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--seed ", first, ": the last of ", count,
                   " seeds is beyond 2^64 - 1; begin with a smaller one"));
}

CLI::Validator OneOf(std::vector<std::string> choices) {
  const std::string help = absl::StrCat("{", absl::StrJoin(choices, ","), "}");
  return CLI::Validator(
      [choices = std::move(choices)](const std::string& text) {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) {
          return std::string();
        }
        return absl::StrCat("expected one of ", absl::StrJoin(choices, ", "),
                            ", found ", text.empty() ? "\"\"" : text);
      },
      help);
}

CLI::Validator ByteSize() {
  const CLI::AsSizeValue size(false);
  return CLI::Validator(
      [size](std::string& text) {
        std::string bytes = text;
        std::string wrong;
        try {
          wrong = size(bytes);
        } catch (const CLI::ParseError& error) {
          wrong = error.what();
        }
        if (!wrong.empty()) {
          return Refusal(text, "bytes such as 500000, 64KiB or 2GiB");
        }
        text = bytes;
        return std::string();
      },
      size.get_description());
}

int EndParse(const CLI::App& app, const CLI::ParseError& error,
             const std::string& program) {
  if (error.get_exit_code() == 0) return app.exit(error);
  std::string command = program;
  const CLI::App* below = &app;  // the last subcommand that was given
  while (!below->get_subcommands().empty()) {
    below = below->get_subcommands().back();
    absl::StrAppend(&command, " ", below->get_name());
  }
  std::fputs(
      PrintableError(absl::StrCat(command, ": ", Described(*below, app, error),
                                  "\nRun with --help for more "
                                  "information.\n"))
          .c_str(),
      stderr);
  return 2;
}

}  // namespace espalier
