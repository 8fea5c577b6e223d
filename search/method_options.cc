#include "espalier/method_options.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"

namespace espalier {
namespace {

std::string Number(float value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

template <class T>
bool Parse(const std::string& text, T* value) {
  const auto end =
      std::from_chars(text.data(), text.data() + text.size(), *value);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

// A whole number, which may be written as 1e3.
bool ParseWhole(const std::string& text, int* value) {
  if (Parse(text, value)) return true;
  double real = 0;
  constexpr double kMost = std::numeric_limits<int>::max();
  if (text.find_first_of("eE") == text.npos || !Parse(text, &real) ||
      !(std::abs(real) <= kMost) || real != std::floor(real)) {
    return false;
  }
  *value = static_cast<int>(real);
  return true;
}

std::string JoinChoices(absl::Span<const std::string_view> choices) {
  std::string joined;
  for (const std::string_view choice : choices) {
    absl::StrAppend(&joined, joined.empty() ? "" : "|", AbslView(choice));
  }
  return joined;
}

}  // namespace

const std::string* OptionParser::Given(std::string_view name) {
  names_.emplace_back(name);
  const auto it = given_.find(names_.back());
  return it == given_.end() ? nullptr : &it->second;
}

void OptionParser::Bad(std::string_view name, std::string_view expected) {
  problems_.push_back(absl::StrCat(AbslView(name), "=",
                                   given_.at(std::string(name)), ": expected ",
                                   AbslView(expected)));
}

void OptionParser::Int(std::string_view name, int* value, int low, int high,
                       std::string_view) {
  const std::string* text = Given(name);
  if (text == nullptr) return;
  int parsed = 0;
  if (!ParseWhole(*text, &parsed) || parsed < low || parsed > high) {
    Bad(name, absl::StrCat("a whole number from ", low, " to ", high));
    return;
  }
  *value = parsed;
}

void OptionParser::Real(std::string_view name, float* value, float low,
                        float high, std::string_view) {
  const std::string* text = Given(name);
  if (text == nullptr) return;
  float parsed = 0;
  if (!Parse(*text, &parsed) || !(parsed >= low && parsed <= high)) {
    Bad(name,
        absl::StrCat("a number from ", Number(low), " to ", Number(high)));
    return;
  }
  *value = parsed;
}

void OptionParser::Flag(std::string_view name, bool* value, std::string_view) {
  const std::string* text = Given(name);
  if (text == nullptr) return;
  if (*text == "true" || *text == "1") {
    *value = true;
  } else if (*text == "false" || *text == "0") {
    *value = false;
  } else {
    Bad(name, "true or false");
  }
}

void OptionParser::Text(std::string_view name, std::string* value,
                        std::string_view) {
  const std::string* text = Given(name);
  if (text != nullptr) *value = *text;
}

void OptionParser::Choice(std::string_view name, int* value,
                          absl::Span<const std::string_view> choices,
                          std::string_view) {
  const std::string* text = Given(name);
  if (text == nullptr) return;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (*text == choices[i]) {
      *value = static_cast<int>(i);
      return;
    }
  }
  const std::string nearest =
      NearestName(*text, std::span(choices.data(), choices.size()));
  Bad(name, absl::StrCat("one of ", JoinChoices(choices),
                         nearest.empty() ? "" : "; did you mean ", nearest,
                         nearest.empty() ? "" : "?"));
}

absl::Status OptionParser::Finish(std::string_view owner,
                                  absl::Span<const std::string> more) const {
  std::vector<std::string> problems = problems_;
  for (const auto& [name, value] : given_) {
    bool known = false;
    for (const std::string& declared : names_) known |= declared == name;
    if (!known) problems.push_back(UnknownName("option", name, names_));
  }
  problems.insert(problems.end(), more.begin(), more.end());
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(AbslView(owner), ": ", absl::StrJoin(problems, "; ")));
}

void OptionLister::Int(std::string_view name, int* value, int low, int high,
                       std::string_view help) {
  options_.push_back({std::string(name), "int", absl::StrCat(low, "..", high),
                      absl::StrCat(*value), std::string(help)});
}

void OptionLister::Real(std::string_view name, float* value, float low,
                        float high, std::string_view help) {
  options_.push_back({std::string(name), "real",
                      absl::StrCat(Number(low), "..", Number(high)),
                      Number(*value), std::string(help)});
}

void OptionLister::Flag(std::string_view name, bool* value,
                        std::string_view help) {
  options_.push_back({std::string(name), "flag", "true|false",
                      *value ? "true" : "false", std::string(help)});
}

void OptionLister::Text(std::string_view name, std::string* value,
                        std::string_view help) {
  options_.push_back(
      {std::string(name), "text", "", *value, std::string(help)});
}

void OptionLister::Choice(std::string_view name, int* value,
                          absl::Span<const std::string_view> choices,
                          std::string_view help) {
  options_.push_back({std::string(name), "choice", JoinChoices(choices),
                      std::string(choices[static_cast<size_t>(*value)]),
                      std::string(help)});
}

}  // namespace espalier
