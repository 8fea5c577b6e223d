#include "tools/espalier/grade_pairs.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <istream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/tasks/choice_answer.h"
#include "nlohmann/json.hpp"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

// A field of one {gold, answer} line. Numbers are taken as JSON text, and so
// are lists other than of gold answers.
absl::StatusOr<std::string> Field(const nlohmann::json& json,
                                  const std::string& name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected the key \"", name,
                     "\" as in {\"gold\": \"1/2\", "
                     "\"answer\": \"0.5\"}, found none"));
  }
  if (name == "gold" && found->is_array()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected one gold answer under \"gold\", found the list ",
        JsonText(*found), "; put a list of accepted answers under \"golds\""));
  }
  const std::string text =
      found->is_string() ? found->get<std::string>() : JsonText(*found);
  if (name == "gold" && text.find_first_not_of(" \t\r\n") == text.npos) {
    return absl::InvalidArgumentError(
        "the gold answer under \"gold\" is blank: nothing can equal it");
  }
  return text;
}

// All answers that a line accepts.
absl::StatusOr<std::vector<std::string>> Accepted(const nlohmann::json& golds) {
  if (!golds.is_array() || golds.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected the key \"golds\" to hold a list as in {\"golds\": [\"1/2\", "
        "\"50%\"], \"answer\": \"0.5\"}, found ",
        JsonText(golds)));
  }
  std::vector<std::string> out;
  for (const nlohmann::json& gold : golds) {
    out.push_back(gold.is_string() ? gold.get<std::string>() : JsonText(gold));
    if (!gold.is_null() &&
        out.back().find_first_not_of(" \t\r\n") != std::string::npos) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "gold answer ", out.size(), " of the list under \"golds\" is ",
        gold.is_null() ? "null" : "blank", ": nothing can equal it"));
  }
  return out;
}

// The verdict on a multiple choice: "gold" is the letter of one of "options".
absl::StatusOr<GradeVerdict> GradeOptions(const nlohmann::json& json,
                                          const std::string& answer) {
  ESP_ASSIGN_OR_RETURN(const std::string gold, Field(json, "gold"));
  std::vector<std::string> options;
  const nlohmann::json& list = json["options"];
  for (const nlohmann::json& option : list) {
    options.push_back(option.is_string() ? option.get<std::string>()
                                         : JsonText(option));
  }
  const auto count = static_cast<int>(options.size());
  if (!list.is_array() || count < 2 || count > 26 || gold.size() != 1 ||
      gold[0] < 'A' || gold[0] - 'A' >= count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected a list of 2 to 26 options and the letter of one as gold, as "
        "in {\"options\": [\"12\", \"15\"], \"gold\": \"B\", "
        "\"answer\": \"(B)\"}, found ",
        JsonText(list), " and ", gold));
  }
  Verdict verdict = CheckChoice(options, gold, answer);
  return GradeVerdict{.equal = verdict.correct,
                      .reason = std::move(verdict.reason),
                      .undecided = verdict.undecided};
}

absl::StatusOr<GradeVerdict> GradeLine(const std::string& line,
                                       const GradePolicy& policy) {
  nlohmann::json json;
  const JsonOutcome outcome = ReadJson(line, {}, json);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected a JSON object {\"gold\": ..., \"answer\": ...} on one line",
        outcome.what.empty() ? "" : absl::StrCat("; ", outcome.what)));
  }
  ESP_ASSIGN_OR_RETURN(const std::string answer, Field(json, "answer"));
  if (json.contains("options")) return GradeOptions(json, answer);
  // "gold" holds one, "golds" several; either or both may be given.
  std::vector<std::string> accepted;
  const auto golds = json.find("golds");
  const auto gold = json.find("gold");
  if (golds == json.end() || (gold != json.end() && !gold->is_null())) {
    ESP_ASSIGN_OR_RETURN(accepted.emplace_back(), Field(json, "gold"));
  }
  if (golds != json.end()) {
    ESP_ASSIGN_OR_RETURN(std::vector<std::string> more, Accepted(*golds));
    accepted.insert(accepted.end(), more.begin(), more.end());
  }
  return GradeAgainstAny(accepted, answer, policy);
}

constexpr size_t kMostBytes = size_t{64} << 20;  // of a line

// The next line without its end; of one above kMostBytes `cut` is set and the
// rest skipped. False at the end, after an error and after a stop.
bool ReadLine(std::istream& in, std::string& line, bool& cut) {
  line.clear();
  cut = false;
  char c = 0;
  for (size_t read = 0; in.get(c); ++read) {
    if (c == '\n') return true;
    if (line.size() < kMostBytes) {
      line += c;
    } else {
      cut = true;
    }
    if (read % kMostBytes == kMostBytes - 1 && StopRequested()) return false;
  }
  return !line.empty();
}

absl::Status GradeStream(std::istream& in, const std::string& name,
                         const PairFlags& flags) {
  Progress progress("grade " + Printable(name), 0, "pairs");
  const Clock& clock = Clock::Real();
  std::string line;
  int64_t number = 0, graded = 0, equal = 0, bad = 0;
  bool cut = false;
  while (!StopRequested() && ReadLine(in, line, cut)) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    const double start = clock.Seconds();
    const absl::StatusOr<GradeVerdict> verdict =
        cut ? absl::InvalidArgumentError("the line has more than 64 MB")
            : GradeLine(line, flags.policy);
    const double us = (clock.Seconds() - start) * 1e6;
    nlohmann::ordered_json out;
    if (verdict.ok()) {
      out["equal"] = verdict->equal;
      if (verdict->undecided) out["undecided"] = true;
      out["reason"] = verdict->reason;
      ++graded;
      equal += verdict->equal ? 1 : 0;
    } else {
      const std::string error = absl::StrCat(
          name, ":", number, ": ", std::string(verdict.status().message()));
      if (flags.strict) return absl::InvalidArgumentError(error);
      std::fprintf(stderr, "%s\n", Printable(error).c_str());
      out["equal"] = false;
      out["reason"] = error;
      ++bad;
    }
    out["us"] = static_cast<int64_t>(us * 10 + 0.5) / 10.0;
    // A terminal must not see control characters of an answer.
    const bool ascii = isatty(STDOUT_FILENO) != 0;
    const std::string text =
        out.dump(-1, ' ', ascii, nlohmann::json::error_handler_t::replace) +
        "\n";
    // EndCommand reports a failed write.
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      return absl::OkStatus();
    }
    progress.Add(1);
  }
  progress.Finish();
  if (in.bad() || (&in == &std::cin && std::ferror(stdin) != 0)) {
    return FileError("read", absl::StrCat(name, " after line ", number), errno);
  }
  if (std::fflush(stdout) != 0) return absl::OkStatus();
  if (graded + bad == 0 && !StopRequested()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": no pairs in it, ", number == 0 ? "it is empty" : "only blanks",
        "; expected lines {\"gold\": \"1/2\", \"answer\": \"0.5\"}"));
  }
  std::fprintf(
      stderr, "%s: %lld of %lld pairs equal%s\n", Printable(name).c_str(),
      static_cast<long long>(equal), static_cast<long long>(graded),
      bad == 0 ? "" : absl::StrCat(", ", bad, " bad lines skipped").c_str());
  if (StopRequested()) return absl::CancelledError("stopped by a signal");
  if (graded == 0 && bad > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": none of its ", bad,
                     " lines holds a pair that can be graded; "
                     "expected {\"gold\": ..., \"answer\": ...}"));
  }
  return absl::OkStatus();
}

absl::Status ReadPairs(const PairFlags& flags) {
  if (flags.pairs == "-") {
    return GradeStream(std::cin, "standard input", flags);
  }
  std::error_code error;
  if (std::filesystem::is_directory(flags.pairs, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat("--pairs ", flags.pairs,
                     ": is a folder; name a file of JSON lines "
                     "{\"gold\": ..., \"answer\": ...} in it"));
  }
  std::ifstream in(flags.pairs, std::ios::binary);
  if (!in) {
    return absl::NotFoundError(absl::StrCat(
        "--pairs ", flags.pairs, ": cannot be opened (", std::strerror(errno),
        "); expected a file of JSON "
        "lines {\"gold\": ..., \"answer\": ...}, or - for standard input"));
  }
  return GradeStream(in, flags.pairs, flags);
}

void AddPolicyFlags(CLI::App& app, PairFlags& flags) {
  app.add_option("--percent", flags.percent,
                 "What 28% equals: either (28 and 0.28), value (0.28) or drop "
                 "(28)")
      ->check(OneOf({"either", "value", "drop"}))
      ->capture_default_str();
  app.add_option("--units", flags.units,
                 "Whether 15 cm equals 15: optional (yes; two units must "
                 "agree), required (no) or drop (units are ignored)")
      ->check(OneOf({"optional", "required", "drop"}))
      ->capture_default_str();
  app.add_flag("--any-tuple-order", flags.any_tuple_order,
               "(1, 2) equals (2, 1)");
  app.add_flag(
      "--list-order", flags.policy.list_order,
      "\"1, 2\" does not equal \"2, 1\"; sets in braces are always unordered");
  app.add_flag("--no-inequality-for-interval", flags.no_inequality,
               "x > 2 does not equal (2, oo)");
  app.add_option("--rounding-digits", flags.policy.rounding_digits,
                 "A decimal with at least this many significant digits equals "
                 "any number that rounds to it; 0: never")
      ->check(WholeFrom(0, 100))
      ->capture_default_str();
  app.add_option("--tolerance", flags.policy.tolerance,
                 "Relative difference within which numbers are equal")
      ->check(RealFrom(0, 1))
      ->capture_default_str();
  app.add_flag("--any-symbols", flags.any_symbols,
               "x = 1 equals y = 1, f(x) equals f(y)");
  app.add_flag("--no-extract", flags.no_extract,
               "Texts are answers; do not extract answers from them");
}

GradePolicy PolicyOf(const PairFlags& flags) {
  using Percent = GradePolicy::Percent;
  using Units = GradePolicy::Units;
  GradePolicy policy = flags.policy;
  policy.percent = flags.percent == "value"  ? Percent::kValue
                   : flags.percent == "drop" ? Percent::kDrop
                                             : Percent::kEither;
  policy.units = flags.units == "required" ? Units::kRequired
                 : flags.units == "drop"   ? Units::kDrop
                                           : Units::kOptional;
  policy.tuple_order = !flags.any_tuple_order;
  policy.interval_is_inequality = !flags.no_inequality;
  policy.strict_symbols = !flags.any_symbols;
  policy.extract = !flags.no_extract;
  return policy;
}

}  // namespace

void AddPairFlags(CLI::App& app, PairFlags& flags) {
  app.add_option("--pairs", flags.pairs,
                 "JSON lines with gold and answer; - for standard input");
  AddPolicyFlags(app, flags);
}

absl::Status GradePairs(const PairFlags& flags) {
  PairFlags with_policy = flags;
  with_policy.policy = PolicyOf(flags);
  return ReadPairs(with_policy);
}

}  // namespace espalier
