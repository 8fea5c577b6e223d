// The espalier program. It does not link LibTorch, which costs 0.4 s and 160 MB
// at every start: training, and models on devices other than the CPU, are left
// to espalier-learn, which has the same subcommands.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/interrupt.h"
#include "models/trunk/load_trunk.h"
#include "tools/espalier/commands.h"
#include "tools/espalier/training_help.h"

namespace {

// The value of --device, "" if not given.
std::string NamedDevice(int argc, char** argv) {
  constexpr std::string_view kFlag = "--device";
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") break;
    if (argument == kFlag && i + 1 < argc) return argv[i + 1];
    if (argument.substr(0, kFlag.size() + 1) == "--device=") {
      return std::string(argument.substr(kFlag.size() + 1));
    }
  }
  return "";
}

bool AsksForHelp(char** argv) {
  for (; *argv != nullptr; ++argv) {
    const std::string_view argument = *argv;
    if (argument == "--help" || argument == "-h") return true;
  }
  return false;
}

bool NeedsLibTorch(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view command = argv[1];
  if (command == "train" || command == "self-train") return true;
  // This program has the help of the other commands.
  if (AsksForHelp(argv)) return false;
  // The subcommand refuses an unknown device.
  const auto device = espalier::ParseDevice(NamedDevice(argc, argv));
  return device.ok() && device->kind != "cpu";
}

// The help of `train`, `train policy`, ... as espalier-learn prints it; "" for
// a command whose help this program has.
std::string_view HelpOf(char** argv) {
  std::string command = argv[1];
  const std::string_view kind = argv[2] == nullptr ? "" : argv[2];
  if (kind == "policy" || kind == "reward") command.append(" ").append(kind);
  const std::string heading = "== " + command + "\n";
  std::string_view text = espalier::TrainingHelp();
  const size_t at = text.find(heading);
  if (at == text.npos) return "";
  text.remove_prefix(at + heading.size());
  return text.substr(0, text.find("== "));
}

int StartLearn(char** argv) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string learn = (program.parent_path() / "espalier-learn").string();
  // LibTorch's threads spin while they wait, which stalls all of them when
  // another process uses one of the cores.
  setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);
  argv[0] = const_cast<char*>("espalier-learn");
  execv(learn.c_str(), argv);
  const int reason = errno;
  constexpr char kRemedy[] = "tools/dev build espalier-learn";
  if (reason == ENOENT && AsksForHelp(argv)) {
    const std::string_view help = HelpOf(argv);
    std::printf(
        "%.*sThe program espalier-learn does this. It needs LibTorch and is "
        "not built yet; to build it:\n  %s\n",
        static_cast<int>(help.size()), help.data(), kRemedy);
    return 0;
  }
  const std::string_view command = argv[1];
  const bool trains = command == "train" || command == "self-train";
  std::fprintf(stderr, "espalier %s: %s needs the program espalier-learn, ",
               argv[1], trains ? "training" : "a --device other than cpu");
  if (reason == ENOENT) {
    std::fprintf(stderr, "which is not built; remedy: build it with: %s\n",
                 kRemedy);
  } else {
    std::fprintf(stderr,
                 "and %s cannot be started: %s; remedy: build it anew with: "
                 "%s\n",
                 learn.c_str(), std::strerror(reason), kRemedy);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (NeedsLibTorch(argc, argv)) return StartLearn(argv);
  espalier::TakeSignals();
  return espalier::RunCommands(argc, argv);
}
