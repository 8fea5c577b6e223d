#include "tools/learn/zoo_data_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"
#include "tools/zoo/zoo_data.h"
#include "tools/zoo/zoo_family.h"

namespace espalier {
namespace {

struct ZooDataFlags {
  ZooDataOptions data;
  std::string out;
  bool force = false;
};

absl::Status RunZooData(const ZooDataFlags& flags) {
  ESP_RETURN_IF_ERROR(CheckOutputFile(flags.out, flags.force));
  ESP_ASSIGN_OR_RETURN(const std::string lines, ZooDataLines(flags.data));
  ESP_RETURN_IF_ERROR(WriteOutput(flags.out, lines));
  std::fprintf(flags.out == "-" ? stderr : stdout, "%s: %d examples of %s\n",
               Printable(flags.out).c_str(),
               static_cast<int>(std::count(lines.begin(), lines.end(), '\n')),
               flags.data.family.c_str());
  return absl::OkStatus();
}

}  // namespace

std::function<absl::Status()> AddZooData(CLI::App& app) {
  auto flags = std::make_shared<ZooDataFlags>();
  app.add_option("--family", flags->data.family,
                 absl::StrCat("One of ", absl::StrJoin(ZooFamilyNames(), ", ")))
      ->capture_default_str();
  app.add_option("--out", flags->out,
                 "JSON lines to write, for espalier train policy --data; -: "
                 "standard output")
      ->required();
  app.add_flag("--force", flags->force, "Overwrite an existing file");
  app.add_option(
      "--limit", flags->data.limit,
      "Maximum number of lines. Default: all, for families with finitely many");
  app.add_flag("--solutions", flags->data.solutions,
               "Write a correct solution of every problem, even where the "
               "model saw a failing walk or a planted error");
  return [flags] { return RunZooData(*flags); };
}

}  // namespace espalier
