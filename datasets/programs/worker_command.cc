#include "datasets/programs/worker_command.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/programs/seccomp_filter.h"
#include "datasets/programs/worker_source.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

void Append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// The path of `program`, or nothing if it is not found or not executable.
std::string FindProgram(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return access(program.c_str(), X_OK) == 0 ? program : "";
  }
  const char* path = std::getenv("PATH");
  for (const auto folder :
       absl::StrSplit(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const std::string found = absl::StrCat(folder, "/", program);
    if (!folder.empty() && access(found.c_str(), X_OK) == 0) return found;
  }
  return "";
}

absl::Status Missing(const std::string& program, std::string_view why,
                     std::string_view remedy) {
  return absl::NotFoundError(
      absl::StrCat("the sandbox needs \"", program, "\" (", AbslView(why),
                   "), which was not found; remedy: ", AbslView(remedy)));
}

constexpr uint32_t kNobody = 65534;

// False in a user namespace (a container without privileges) that has no such
// user; its root is another user outside.
bool HaveNobody() {
  std::ifstream map("/proc/self/uid_map");
  uint64_t first, outside, count;
  while (map >> first >> outside >> count) {
    if (first <= kNobody && kNobody - first < count) return true;
  }
  return false;
}

// Root runs its workers as "nobody": limits on processes do not apply to root.
absl::Status AppendUser(Words& words) {
  if (geteuid() != 0 || !HaveNobody()) return absl::OkStatus();
  const std::string setpriv = FindProgram("setpriv");
  if (setpriv.empty()) {
    return Missing("setpriv", "to drop root privileges",
                   "apt-get install util-linux");
  }
  Append(words, {setpriv, absl::StrCat("--reuid=", kNobody),
                 absl::StrCat("--regid=", kNobody), "--clear-groups"});
  return absl::OkStatus();
}

// The parts of the file system visible to a worker, read only.
void AppendSystem(Words& words, const std::string& python) {
  Append(words, {"--ro-bind", "/usr", "/usr"});
  for (const std::string folder : {"/lib", "/lib32", "/lib64", "/bin"}) {
    std::error_code error;
    const fs::path target = fs::read_symlink(folder, error);
    if (!error) {
      Append(words, {"--symlink", target.string(), folder});
    } else {
      Append(words, {"--ro-bind-try", folder, folder});
    }
  }
  // Where libraries are found; contains no secrets.
  for (const std::string path : {"/etc/ld.so.cache", "/etc/alternatives"}) {
    Append(words, {"--ro-bind-try", path, path});
  }
  std::error_code error;
  const fs::path home =
      fs::canonical(python, error).parent_path().parent_path();
  if (!error && home != "/usr" && home != "/") {
    Append(words, {"--ro-bind", home.string(), home.string()});
  }
}

absl::Status AppendNamespaces(Words& words, const SandboxOptions& options) {
  const std::string bwrap = FindProgram(options.bubblewrap);
  if (bwrap.empty()) {
    return Missing(options.bubblewrap, "bubblewrap, which creates namespaces",
                   "apt-get install bubblewrap, or use espalier grade "
                   "--sandbox weak, which does not need it but protects only "
                   "against accidents, not attacks");
  }
  Append(words, {bwrap, "--unshare-all", "--die-with-parent", "--new-session",
                 "--as-pid-1", "--cap-drop", "ALL", "--hostname", "sandbox"});
  AppendSystem(words, options.python);
  Append(words,
         {"--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom",
          "/dev/urandom", "--size", absl::StrCat(options.limits.tmp), "--tmpfs",
          "/tmp", "--dir", "/tmp/work", "--dir", "/tmp/.streams"});
  for (const std::string name : {"stdin", "stdout", "stderr"}) {
    Append(words, {"--symlink", "/tmp/.streams/" + name, "/dev/" + name});
  }
  Append(words, {"--remount-ro", "/", "--chdir", "/tmp/work"});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Words> WorkerCommand(const SandboxOptions& options) {
  const bool weak = options.mode == SandboxMode::kWeak;
  ESP_ASSIGN_OR_RETURN(
      const std::string filter,
      SeccompFilter({.fork = options.limits.fork, .signals = !weak}));
  const std::string python = FindProgram(options.python);
  if (python.empty()) {
    return Missing(options.python, "Python 3, which runs the programs",
                   "apt-get install python3");
  }
  Words words;
  ESP_RETURN_IF_ERROR(AppendUser(words));
  if (!weak) ESP_RETURN_IF_ERROR(AppendNamespaces(words, options));
  const SandboxLimits& limits = options.limits;
  // -S: skips the search for installed modules, which costs 3 ms per start;
  // worker.py adds their folder itself.
  Append(words,
         {python, "-S", "-s", "-B", "-c",
          absl::StrCat(AbslView(ValuesSource()), "\n", AbslView(ArraysSource()),
                       "\n", AbslView(ViewsSource()), "\n",
                       AbslView(LentSource()), "\n", AbslView(RemoteSource()),
                       "\n", AbslView(WorkerSource())),
          weak ? "weak" : "namespaces", absl::StrCat(limits.cpu_seconds),
          absl::StrCat(limits.wall_seconds), absl::StrCat(limits.memory),
          absl::StrCat(limits.file_size), absl::StrCat(limits.threads),
          absl::BytesToHexString(filter), std::string(EvaluatedSource())});
  return words;
}

Words WorkerEnvironment() {
  // A fixed hash seed: sets iterate in the same order in every run. One thread
  // for numpy's products: threads take address space and the other programs'
  // cores.
  return {
      "PATH=/usr/bin:/bin",     "HOME=/tmp",        "TMPDIR=/tmp",
      "LANG=C.UTF-8",           "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1",
      "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"};
}

}  // namespace espalier
