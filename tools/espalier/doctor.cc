// espalier doctor: what this machine supports, and how to fix what is missing;
// what a model is.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "models/kernels/choose_kernels.h"
#include "models/kernels/kernels.h"
#include "tools/espalier/command.h"
#include "tools/espalier/describe_model.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

void Report(bool good, const char* what, const std::string& found,
            const std::string& remedy) {
  std::printf("%-4s %-14s %s\n", good ? "ok" : "!!", what, found.c_str());
  if (!good) std::printf("     %-14s remedy: %s\n", "", remedy.c_str());
}

// Matrix product speed of the kernels at a typical shape of small models.
double MeasureGflops(const KernelPath& path) {
  constexpr int kRows = 48, kSize = 512;
  const auto packed = path.Pack(kSize, kSize, WeightKind::kBf16,
                                [](int, int count, float* out) {
                                  std::fill_n(out, count * kSize, 0.5f);
                                });
  const std::vector<float> x(kRows * kSize, 1.0f);
  std::vector<float> y((kRows + 16) * kSize);
  std::vector<std::byte> operand(path.OperandBytes(*packed, kRows));
  path.PackRows(*packed, x.data(), kSize, 0, kRows, operand.data());
  const Clock& clock = Clock::Real();
  double best = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const double start = clock.Seconds();
    path.Product(*packed, operand.data(), 0, kRows, 0, kSize, y.data(), kSize);
    const double seconds = clock.Seconds() - start;
    best = std::max(best, 2e-9 * kRows * kSize * kSize / seconds);
  }
  return best;
}

double AvailableGib() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  double kib = 0;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib / (1 << 20);
    file.ignore(256, '\n');
  }
  return 0;
}

absl::Status RunDoctor() {
  // For models with bf16 weights.
  ESP_ASSIGN_OR_RETURN(const KernelPath* path,
                       ChooseKernels("", WeightKind::kBf16, 64));
  std::printf("%s\n", VersionText().c_str());
  const std::string vectors = VectorTarget();
  Report(vectors.rfind("AVX", 0) == 0, "kernel path",
         absl::StrCat(path->name(), ", ", vectors),
         "none needed; on a processor with AVX2 or AVX-512 decoding is several "
         "times faster");
  const double gflops = MeasureGflops(*path);
  Report(gflops > 10, "product speed",
         absl::StrFormat("%.0f GFLOP/s on one thread (bf16 weights)", gflops),
         "another program may be using this core; close it and try again");
  const unsigned threads = std::thread::hardware_concurrency();
  Report(threads >= 2, "threads", absl::StrCat(threads),
         "everything works on one thread, at half the speed of two");
  const double gib = AvailableGib();
  Report(gib > 3, "memory", absl::StrFormat("%.1f GiB available", gib),
         "lower --kv-mib (2048 by default) or --live");
  const bool sandbox =
      std::system("bwrap --ro-bind / / --unshare-all true >/dev/null 2>&1") ==
      0;
  Report(sandbox, "sandbox",
         sandbox ? "bubblewrap works" : "bubblewrap does not work here",
         "apt-get install bubblewrap, and allow user namespaces; needed only "
         "to run programs that models write");
  const auto zoo = ZooFolder();
  Report(zoo.ok(), "models",
         zoo.ok() ? *zoo : std::string(zoo.status().message()),
         "set ESPALIER_ZOO");
  return absl::OkStatus();
}

}  // namespace

void AddDoctor(CLI::App& app, RunFunction& run) {
  struct DoctorFlags {
    std::string model;
    std::string reward_format;
    bool reward_formats = false;
  };
  auto flags = std::make_shared<DoctorFlags>();
  CLI::Option* model = app.add_option(
      "--model", flags->model,
      "Say what this checkpoint folder or GGUF file is: network, "
      "tokenizer, chat template, and how it is read as a reward "
      "model");
  app.add_option("--reward-format", flags->reward_format,
                 "Read it as a reward model of this format: a shipped one or a "
                 "file NAME.textproto. Default: recognised from the folder")
      ->needs(model);
  app.add_flag("--reward-formats", flags->reward_formats,
               "List the shipped formats of reward models")
      ->excludes(model);
  app.footer(
      "The environment variable ESPALIER_KERNELS forces a kernel path that "
      "this "
      "machine has (amx, avx512, plain) or an instruction set of the plain one "
      "(avx2), here and in every command that runs a model.");
  run = [flags]() -> absl::Status {
    if (flags->reward_formats) {
      std::printf("%s", RewardFormatList().c_str());
      return absl::OkStatus();
    }
    if (flags->model.empty()) return RunDoctor();
    ESP_ASSIGN_OR_RETURN(const std::string text,
                         DescribeModel(flags->model, flags->reward_format));
    std::printf("%s", Printable(text).c_str());
    return absl::OkStatus();
  };
}

}  // namespace espalier
