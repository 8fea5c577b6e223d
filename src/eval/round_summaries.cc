#include "src/eval/round_summaries.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/files.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<RoundFigures> ReadRound(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  try {
    const auto j = ParseJsonOrNull(text);
    return RoundFigures{.round = j.at("round"),
                        .searches = j.at("searches"),
                        .solved = j.at("solved"),
                        .tokens = j.at("tokens"),
                        .examples = j.at("examples"),
                        .reward_examples = j.at("reward_examples"),
                        .n = j.at("n"),
                        .right_before = j.at("right_before"),
                        .right_after = j.at("right_after"),
                        .gained = j.at("gained"),
                        .lost = j.at("lost"),
                        .p_value = j.at("p_value"),
                        .promote = j.at("promote"),
                        .reason = j.at("reason"),
                        .generate_seconds = j.at("generate_seconds"),
                        .reward_seconds = j.at("reward_seconds"),
                        .policy_seconds = j.at("policy_seconds"),
                        .gate_seconds = j.at("gate_seconds")};
  } catch (const nlohmann::json::exception&) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": is not a round's summary as espalier self-train writes it; restore "
        "the file, or remove it and repeat the command, which does the "
        "round's gate again"));
  }
}

std::string Percent(int64_t part, int64_t all) {
  if (all == 0) return "-";
  return absl::StrFormat(
      "%.1f %%", 100 * static_cast<double>(part) / static_cast<double>(all));
}

std::string Seconds(double seconds) {
  return seconds < 9.95 ? absl::StrFormat("%.1f", seconds)
                        : absl::StrFormat("%.0f", seconds);
}

}  // namespace

std::vector<int> FindRounds(const std::string& folder) {
  std::set<int> rounds;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const size_t stop = name.find_first_of("-.");
    int round = 0;
    if (name.rfind("round", 0) == 0 && stop != std::string::npos &&
        (name[stop] == '-' || name.substr(stop) == ".json") &&
        absl::SimpleAtoi(name.substr(5, stop - 5), &round) && round >= 1) {
      rounds.insert(round);
    }
  }
  return {rounds.begin(), rounds.end()};
}

absl::StatusOr<std::vector<RoundFigures>> ReadRounds(
    const std::string& folder) {
  std::vector<RoundFigures> rounds;
  for (const int round : FindRounds(folder)) {
    const std::string path = absl::StrCat(folder, "/round", round, ".json");
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    ESP_ASSIGN_OR_RETURN(RoundFigures figures, ReadRound(path));
    rounds.push_back(std::move(figures));
  }
  return rounds;
}

std::vector<std::vector<std::string>> RoundCells(
    const std::vector<RoundFigures>& rounds) {
  const bool reward =
      std::any_of(rounds.begin(), rounds.end(),
                  [](const RoundFigures& r) { return r.reward_examples > 0; });
  std::vector<std::vector<std::string>> cells;
  const auto add = [&](std::vector<std::string> row, const std::string& judged,
                       const std::string& seconds) {
    if (reward) {
      row.insert(row.begin() + 4, judged);
      row.insert(row.end() - 2, seconds);
    }
    cells.push_back(std::move(row));
  };
  add({"round", "searches", "solved", "examples", "gate", "p value", "promoted",
       "search s", "policy s", "gate s"},
      "judged", "reward s");
  for (const RoundFigures& r : rounds) {
    add({absl::StrCat(r.round), absl::StrCat(r.searches),
         Percent(r.solved, r.searches), absl::StrCat(r.examples),
         absl::StrCat(Percent(r.right_before, r.n), " -> ",
                      Percent(r.right_after, r.n)),
         absl::StrFormat("%.2g", r.p_value), r.promote ? "yes" : "no",
         Seconds(r.generate_seconds), Seconds(r.policy_seconds),
         Seconds(r.gate_seconds)},
        absl::StrCat(r.reward_examples), Seconds(r.reward_seconds));
  }
  return cells;
}

std::string RoundTable(const std::vector<RoundFigures>& rounds) {
  if (rounds.empty()) return "";
  const auto cells = RoundCells(rounds);
  std::vector<size_t> widths(cells[0].size(), 0);
  for (const auto& row : cells) {
    for (size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], row[c].size());
    }
  }
  std::string text;
  for (const auto& row : cells) {
    for (size_t c = 0; c < row.size(); ++c) {
      absl::StrAppendFormat(&text, "%s%*s", c > 0 ? "  " : "",
                            static_cast<int>(widths[c]), row[c]);
    }
    text += "\n";
  }
  for (const RoundFigures& r : rounds) {
    if (!r.promote) {
      absl::StrAppend(&text, "round ", r.round, ": ", r.reason, "\n");
    }
  }
  return text;
}

nlohmann::json RoundsJson(const std::vector<RoundFigures>& rounds) {
  nlohmann::json json = nlohmann::json::array();
  for (const RoundFigures& r : rounds) {
    json.push_back({{"round", r.round},
                    {"searches", r.searches},
                    {"solved", r.solved},
                    {"tokens", r.tokens},
                    {"examples", r.examples},
                    {"reward_examples", r.reward_examples},
                    {"n", r.n},
                    {"right_before", r.right_before},
                    {"right_after", r.right_after},
                    {"gained", r.gained},
                    {"lost", r.lost},
                    {"p_value", r.p_value},
                    {"promote", r.promote},
                    {"reason", r.reason},
                    {"generate_seconds", r.generate_seconds},
                    {"reward_seconds", r.reward_seconds},
                    {"policy_seconds", r.policy_seconds},
                    {"gate_seconds", r.gate_seconds}});
  }
  return json;
}

}  // namespace espalier
