#include "tools/espalier/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/link_target.h"
#include "base/long_json.h"
#include "base/status_macros.h"
#include "base/write_pieces.h"
#include "datasets/sets/record_reader.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// A file and the option that names it.
struct NamedFile {
  std::string option;  // e.g. "--json"; positional ones: e.g. "database"
  std::string path;
};

// True if both are the same file, even if it does not exist yet. Devices and
// pipes, like a terminal, may be shared.
bool SameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  const fs::file_status status = fs::status(a, error);
  if (fs::exists(status) && !fs::is_regular_file(status) &&
      !fs::is_directory(status)) {
    return false;
  }
  if (fs::equivalent(a, b, error)) return true;
  const auto end = [&](const std::string& path) {
    const fs::path target = LinkTarget(path).value_or(path);
    return fs::weakly_canonical(fs::absolute(target, error), error);
  };
  const fs::path one = end(a);
  return !error && one == end(b);
}

// True for SQLite's files next to the database `in`, also through a link.
bool BelongsToDatabase(const std::string& out, const std::string& in) {
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    if (SameFile(out, in + ending)) return true;
  }
  return false;
}

// True if a command given the folder `option` reads the file `name` in it.
bool IsRead(std::string_view option, std::string_view name) {
  static constexpr std::string_view kModelFiles[] = {
      "config.json",
      "generation_config.json",
      "model.safetensors.index.json",
      "tokenizer.json",
      "tokenizer.model",
      "tokenizer_config.json",
      "special_tokens_map.json",
      "added_tokens.json",
      "vocab.json",
      "encoder.json",
      "merges.txt",
      "vocab.bpe",
      "chat_template.jinja",
      "chat_template.json",
  };
  if (option == "--set") return !RecordEnding(name).empty();
  if (option == "path") {
    return name == "metrics.jsonl" ||
           (name.starts_with("round") && name.ends_with(".json"));
  }
  return name.ends_with(".safetensors") || name.ends_with(".gguf") ||
         std::find(std::begin(kModelFiles), std::end(kModelFiles), name) !=
             std::end(kModelFiles);
}

// True for an existing file that is read from the folder `in`; for a set also
// from its subfolders.
bool BelongsToFolder(const std::string& out, const NamedFile& in) {
  std::error_code error;
  if (!fs::is_directory(in.path, error) || !fs::exists(out, error)) {
    return false;
  }
  const fs::path path = fs::canonical(out, error);
  if (error || !IsRead(in.option, path.filename().string())) return false;
  fs::path folder = path.parent_path();
  const bool deep = in.option == "--set";
  while (deep && folder.has_relative_path() &&
         !fs::equivalent(folder, in.path, error)) {
    folder = folder.parent_path();
  }
  return fs::equivalent(folder, in.path, error);
}

bool WouldOverwrite(const std::string& out, const NamedFile& in) {
  return SameFile(out, in.path) || BelongsToDatabase(out, in.path) ||
         BelongsToFolder(out, in);
}

bool IsFile(const std::string& path) { return !path.empty() && path != "-"; }

// The file of TakeStdout that takes the place of an older one at the end, or
// that was created where none was.
struct Replacement {
  std::string beside, target;
  std::string created;
};
Replacement& MutableReplacement() {
  static auto& replacement = *new Replacement;
  return replacement;
}

std::string& MutableStdoutName() {
  static std::string* const kName = new std::string("standard output");
  return *kName;
}

// The files that an option's text names, whole or split at commas. Text that is
// not a file name, such as a method, matches no existing file.
void AddInputs(const CLI::Option& option, std::vector<NamedFile>& inputs) {
  const std::string name = option.get_name();
  const auto add = [&](const std::string& text) {
    std::error_code error;
    if (IsFile(text) && fs::exists(text, error)) inputs.push_back({name, text});
  };
  for (const std::string& text : option.results()) {
    const std::vector<std::string> parts = absl::StrSplit(text, ',');
    for (const std::string& part : parts) add(part);
    if (parts.size() > 1) add(text);
  }
}

// The files that `command` writes and those that it may read.
void CollectFiles(const CLI::App& command, std::vector<NamedFile>& outputs,
                  std::vector<NamedFile>& inputs) {
  static constexpr std::string_view kOutputs[] = {"--out", "--json", "--html"};
  static constexpr std::string_view kTexts[] = {"question", "query", "--text",
                                                "--system", "--stop"};
  const auto among = [](const auto& names, const std::string& name) {
    return std::find(std::begin(names), std::end(names), name) !=
           std::end(names);
  };
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || option->get_items_expected_max() == 0 ||
        among(kTexts, name)) {
      continue;
    }
    if (!among(kOutputs, name)) {
      AddInputs(*option, inputs);
    } else if (IsFile(option->results().back())) {
      outputs.push_back({name, option->results().back()});
    }
  }
  for (const CLI::App* below : command.get_subcommands()) {
    CollectFiles(*below, outputs, inputs);
  }
}

}  // namespace

absl::Status CheckOutputFile(const std::string& path, bool force) {
  if (path == "-" || DescriptorOf(path) >= 0) return absl::OkStatus();
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_regular_file(status) && !force) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, ": the file already exists; --force overwrites it"));
  }
  if (fs::is_directory(status)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is a folder; name a file"));
  }
  if (fs::is_socket(status)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is a socket; name a file"));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (::access(path.c_str(), W_OK) == 0) return absl::OkStatus();
    return FileError("write", path, errno);
  }
  ESP_ASSIGN_OR_RETURN(const std::string target, LinkTarget(path));
  fs::path folder = fs::path(target).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat(
        path, target == path ? "" : " links to " + target, ": the folder ",
        folder.string(), " does not exist; create it or choose another path"));
  }
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return FileError("write in the folder of", path, errno);
}

absl::Status CheckOutputs(const CLI::App& command) {
  std::vector<NamedFile> outputs, inputs;
  CollectFiles(command, outputs, inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& out = outputs[i];
    for (size_t j = 0; j < i && DescriptorOf(out.path) < 0; ++j) {
      if (!SameFile(out.path, outputs[j].path)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(out.option, " ", out.path, ": is also the file of ",
                       outputs[j].option, "; name another"));
    }
  }
  outputs.push_back({"standard output", "/dev/fd/1"});
  for (const NamedFile& out : outputs) {
    for (const NamedFile& in : inputs) {
      if (!WouldOverwrite(out.path, in)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(out.option, " ", out.path, ": is also an input (",
                       in.option, "); name another file"));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteOutput(const std::string& path, std::string_view text) {
  if (path != "-") return WriteFileAtomic(path, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();  // main checks that standard output was written
}

absl::Status JsonOutput::Check() const {
  return wanted() ? CheckOutputFile(where, force) : absl::OkStatus();
}

absl::Status JsonOutput::Write(const nlohmann::json& json) const {
  if (!wanted()) return absl::OkStatus();
  return WriteOutput(where, JsonText(json, 1) + "\n");
}

absl::Status JsonOutput::WriteLong(const LongJson& json) const {
  if (!wanted()) return absl::OkStatus();
  const auto write = [&](const PieceSink& put) -> absl::Status {
    ESP_RETURN_IF_ERROR(json.Write(put));
    return put("\n");
  };
  if (where != "-") return WriteFileInPieces(where, write);
  return write([](std::string_view piece) {
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    return absl::OkStatus();  // main checks that standard output was written
  });
}

absl::Status JsonOutput::TakeStdout() const {
  if (!wanted() || where == "-") return absl::OkStatus();
  ESP_RETURN_IF_ERROR(Check());
  int fd = DescriptorOf(where);
  struct stat old = {};
  if (fd < 0 && ::stat(where.c_str(), &old) == 0 && S_ISREG(old.st_mode)) {
    ESP_ASSIGN_OR_RETURN(const std::string target, LinkTarget(where));
    std::string beside = target + ".XXXXXX";
    fd = ::mkostemp(beside.data(), O_CLOEXEC);
    if (fd < 0) return FileError("write in the folder of", where, errno);
    ::fchmod(fd, old.st_mode & 07777);
    MutableReplacement() = {beside, target, ""};
  } else if (fd < 0) {
    if (::access(where.c_str(), F_OK) != 0) {
      MutableReplacement().created = LinkTarget(where).value_or(where);
    }
    fd = ::open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (fd < 0) return FileError("open", where, errno);
  std::fflush(stdout);
  if (::dup2(fd, STDOUT_FILENO) < 0) return FileError("open", where, errno);
  MutableStdoutName() = where;
  return absl::OkStatus();
}

absl::Status EndStdout(bool whole, bool failed) {
  const Replacement replaced = std::exchange(MutableReplacement(), {});
  struct stat output = {};
  if (failed && ::fstat(STDOUT_FILENO, &output) == 0 && output.st_size == 0) {
    whole = false;
    struct stat named = {};
    if (!replaced.created.empty() &&
        ::stat(replaced.created.c_str(), &named) == 0 &&
        named.st_dev == output.st_dev && named.st_ino == output.st_ino) {
      ::unlink(replaced.created.c_str());
    }
  }
  if (replaced.beside.empty()) return absl::OkStatus();
  if (!whole) {
    ::unlink(replaced.beside.c_str());
    return absl::OkStatus();
  }
  if (::rename(replaced.beside.c_str(), replaced.target.c_str()) == 0) {
    return absl::OkStatus();
  }
  return FileError("replace", replaced.target, errno);
}

const std::string& StdoutName() { return MutableStdoutName(); }

void AddJsonFile(CLI::App& app, JsonOutput& out, const std::string& what) {
  app.add_option_function<std::vector<std::string>>(
         "--json",
         [&out](const std::vector<std::string>& named) {
           const bool none = named.empty() || named[0].empty() ||
                             DescriptorOf(named[0]) == STDOUT_FILENO;
           out.where = none ? "-" : named[0];
         },
         absl::StrCat(
             "Write ", what,
             " as JSON to this file; with no FILE or '-', JSON goes to "
             "standard output and the report to standard error"))
      ->expected(0, 1)
      ->type_name("FILE");
}

void AddJsonOutput(CLI::App& app, JsonOutput& out, const std::string& what) {
  AddJsonFile(app, out, what);
  app.add_flag("--force", out.force, "Overwrite an existing file");
}

}  // namespace espalier
