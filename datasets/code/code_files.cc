#include "datasets/code/code_files.h"

#include <zlib.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/files.h"
#include "src/base/status_macros.h"
#include "src/base/text.h"

namespace espalier {
namespace {

// The bytes of a file, unpacked if they are gzip's.
absl::StatusOr<std::string> ReadMaybeGzip(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  if (bytes.compare(0, 2, "\x1f\x8b") != 0) return bytes;
  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rbe"));
  if (file == nullptr) return FileError("open", path, errno);
  std::string text, part(1 << 20, '\0');
  int n;
  while ((n = gzread(file.get(), part.data(),
                     static_cast<unsigned>(part.size()))) > 0) {
    text.append(part, 0, static_cast<size_t>(n));
  }
  int code = Z_OK;
  const char* what = gzerror(file.get(), &code);
  if (n < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    return absl::DataLossError(
        absl::StrCat(path, ": gzip data is damaged or cut off: ", what));
  }
  return text;
}

}  // namespace

absl::StatusOr<std::vector<JsonLine>> ReadJsonLines(
    const std::string& path, std::vector<std::string>& errors) {
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadMaybeGzip(path));
  std::vector<JsonLine> lines;
  int64_t number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == absl::string_view::npos) continue;
    nlohmann::json fields =
        nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
    std::string place = absl::StrCat(path, ":", number);
    if (!fields.is_object()) {
      errors.push_back(absl::StrCat(place, ": expected a JSON object"));
      continue;
    }
    lines.push_back({std::move(place), std::move(fields)});
  }
  return lines;
}

absl::StatusOr<std::vector<CodeProblem>> ReadCodeProblems(
    const std::string& path) {
  std::vector<std::string> errors;
  ESP_ASSIGN_OR_RETURN(const std::vector<JsonLine> lines,
                       ReadJsonLines(path, errors));
  if (!errors.empty()) return absl::InvalidArgumentError(errors[0]);
  std::vector<CodeProblem> problems;
  for (const JsonLine& line : lines) {
    absl::StatusOr<CodeProblem> problem = ReadCodeProblem(line.fields);
    if (!problem.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          line.place, ": ", std::string(problem.status().message())));
    }
    if (problem->id.empty()) problem->id = line.place;
    problems.push_back(*std::move(problem));
  }
  if (problems.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected a problem or more, found none"));
  }
  return problems;
}

}  // namespace espalier
