#include "tools/espalier/command_line.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tools/espalier/command.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

// One word with an ending, such as "out.jsonl" or "a-1.txt", and no number such
// as "3.5".
bool LooksLikeFile(const std::string& argument) {
  const size_t dot = argument.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == argument.size() ||
      argument[0] == '-' || !absl::ascii_isalpha(argument[dot + 1])) {
    return false;
  }
  return std::all_of(argument.begin(), argument.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-' ||
           c == '/' || c >= 0x80;
  });
}

// CLI11 would take the question that follows --json for its file. In commands
// with positional arguments it takes a file only as --json=FILE, or where what
// follows is surely one: a path, a device, a FIFO or the name of a file where
// questions and methods are expected, and what ends in .json or .jsonl
// elsewhere, except for report, which reads such files.
bool IsJsonFile(const std::string& command, const std::string& argument) {
  if (command == "solve" || command == "complete" || command == "methods") {
    for (const std::string_view path : {"/", "./", "../"}) {
      if (argument.starts_with(path)) return true;
    }
    std::error_code error;
    const auto there = std::filesystem::status(argument, error);
    if (!error && std::filesystem::is_other(there)) return true;
    return LooksLikeFile(argument);
  }
  return command != "report" && LooksLikeFile(argument) &&
         (argument.ends_with(".json") || argument.ends_with(".jsonl"));
}

void KeepQuestions(std::vector<std::string>& arguments) {
  static constexpr std::array<std::string_view, 6> kCommands = {
      "solve", "complete", "report", "methods", "db", "grade"};
  if (arguments.empty() || std::find(kCommands.begin(), kCommands.end(),
                                     arguments[0]) == kCommands.end()) {
    return;
  }
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> kept, json;  // --json last, so it takes no file
  for (auto it = arguments.begin(); it != end; ++it) {
    const bool named = it->rfind("--json=", 0) == 0;
    if (*it != "--json" && !named) {
      kept.push_back(*it);
      continue;
    }
    const bool file =
        !named && it + 1 != end && IsJsonFile(arguments[0], *(it + 1));
    json.push_back(named  ? *it
                   : file ? absl::StrCat("--json=", *(it + 1))
                          : "--json=-");
    if (file || (!named && it + 1 != end && *(it + 1) == "-")) ++it;
  }
  kept.insert(kept.end(), json.begin(), json.end());
  kept.insert(kept.end(), end, arguments.end());
  arguments = std::move(kept);
}

void SplitEmptyValues(std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  bool options = true;  // until "--"
  for (std::string& argument : arguments) {
    options = options && argument != "--";
    const bool named = options && argument.size() > 3 &&
                       argument.starts_with("--") &&
                       argument.find('=') == argument.size() - 1;
    if (named) argument.pop_back();
    // Without a file name --json goes to standard output.
    if (named && argument == "--json") argument = "--json=-";
    const bool empty = named && argument != "--json=-";
    out.push_back(std::move(argument));
    if (empty) out.emplace_back();
  }
  arguments = std::move(out);
}

absl::Status CheckTexts(const CLI::App& app) {
  static constexpr std::string_view kMayBeEmpty[] = {
      "question", "--json", "--text", "--system", "--stop"};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const auto& given = option->results();
    if (option->get_type_name() != "TEXT" ||
        std::find(given.begin(), given.end(), "") == given.end() ||
        std::find(std::begin(kMayBeEmpty), std::end(kMayBeEmpty), name) !=
            std::end(kMayBeEmpty)) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat(name, " \"\": is empty; give it a value or omit it"));
  }
  for (const CLI::App* below : app.get_subcommands()) {
    ESP_RETURN_IF_ERROR(CheckTexts(*below));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> Arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  SplitEmptyValues(arguments);
  KeepQuestions(arguments);
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

absl::Status CheckCommandLine(const CLI::App& app) {
  ESP_RETURN_IF_ERROR(UsageError(CheckTexts(app)));
  return UsageError(CheckOutputs(app));
}

int EndCommand(const std::string& command, const absl::Status& status) {
  const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!printed) {
    const int error = errno;
    std::fprintf(stderr, "%s: cannot write all output to %s%s%s\n",
                 command.c_str(), Printable(StdoutName()).c_str(),
                 error != 0 ? ": " : "",
                 error != 0 ? std::strerror(error) : "");
  }
  if (const absl::Status ended = EndStdout(printed, !status.ok());
      !ended.ok()) {
    std::fprintf(stderr, "%s: %s\n", command.c_str(),
                 Printable(std::string(ended.message())).c_str());
    if (status.ok()) return 1;
  }
  if (status.ok()) return printed ? 0 : 1;
  std::fprintf(stderr, "%s: %s\n", command.c_str(),
               PrintableError(std::string(status.message())).c_str());
  return ExitCodeOf(status);
}

}  // namespace espalier
