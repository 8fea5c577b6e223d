#include "models/remote/retry_after.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu",
                                                   "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 12> kMonths = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// The number that the digits text[at, at + count) spell; -1 for others.
int Digits(std::string_view text, size_t at, size_t count) {
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return -1;
    value = 10 * value + (c - '0');
  }
  return value;
}

// Seconds since 1970 of "Sun, 06 Nov 1994 08:49:37 GMT".
std::optional<int64_t> ParseDate(std::string_view text) {
  constexpr std::string_view kForm = "???, ?? ??? ???? ??:??:?? GMT";
  if (text.size() != kForm.size()) return std::nullopt;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != '?' && kForm[i] != text[i]) return std::nullopt;
  }
  const auto month =
      std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3)) -
      kMonths.begin();
  const bool day_named =
      std::find(kDays.begin(), kDays.end(), text.substr(0, 3)) != kDays.end();
  const int day = Digits(text, 5, 2), year = Digits(text, 12, 4);
  const int hour = Digits(text, 17, 2), minute = Digits(text, 20, 2);
  const int second = Digits(text, 23, 2);
  if (!day_named || month == std::ssize(kMonths) || day < 0 || year < 0 ||
      hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 60) {  // 60: a leap second
    return std::nullopt;
  }
  const std::chrono::year_month_day on = {
      std::chrono::year(year),
      std::chrono::month(static_cast<unsigned>(month) + 1),
      std::chrono::day(static_cast<unsigned>(day))};
  if (!on.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(on).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

std::string_view Strip(std::string_view text) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(AbslView(text));
  return std::string_view(stripped.data(), stripped.size());
}

}  // namespace

double RetryAfterSeconds(std::string_view retry_after, std::string_view date) {
  double seconds = -1;
  if (absl::SimpleAtod(AbslView(retry_after), &seconds)) {
    return seconds >= 0 ? seconds : -1;  // NaN is none either
  }
  const std::optional<int64_t> then = ParseDate(Strip(retry_after));
  const std::optional<int64_t> now = ParseDate(Strip(date));
  if (!then.has_value() || !now.has_value()) return -1;
  return static_cast<double>(std::max<int64_t>(0, *then - *now));
}

}  // namespace espalier
