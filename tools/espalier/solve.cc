// espalier solve: answers questions by search.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/utf8.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/known_questions.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "models/prompt/encode_prompt.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "search/presets.h"
#include "src/engine/model_place.h"
#include "src/engine/prompted_task.h"
#include "src/engine/verifier_reward.h"
#include "src/engine/written_answer.h"
#include "tools/espalier/command.h"
#include "tools/espalier/live_view.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/response_tokens.h"
#include "tools/espalier/set_flags.h"
#include "tools/espalier/show_tree.h"
#include "tools/espalier/text_input.h"

namespace espalier {
namespace {

constexpr int kForeignExitCode = 3;
constexpr int kUnsolvedExitCode = 4;

struct SolveFlags {
  ModelFlags models;
  PromptFlags prompt;
  std::optional<std::string> question;
  std::string file;
  SetFlags set{.options = {.limit = 1}};
  std::string task = "auto";
  SearchOptions search;
  std::optional<int64_t> budget;
  bool verifier_reward = false;
  bool show_prompt = false;
  bool show_tree = false;
  bool watch = false;
  JsonOutput json;  // --force also lets shipped models answer foreign questions
  bool lines = false;
  int input_lines = 0;  // not blank, of standard input read as one question
};

// Questions of a text: one JSON object per line, or one plain question per line
// or, with `whole`, one plain question of several lines.
absl::StatusOr<std::vector<GradedProblem>> ParseQuestions(
    std::string text, const std::string& name, bool whole) {
  // Byte order marks and CRLF, as other editors write, are not part of a
  // question.
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  absl::StrReplaceAll({{"\r\n", "\n"}}, &text);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    return ParseQuestionLines(text, name);
  }
  if (whole && first != std::string::npos) {
    const size_t last = text.find_last_not_of(" \t\r\n");
    return std::vector<GradedProblem>{
        {{.id = name, .question = text.substr(first, last + 1 - first)}, {}}};
  }
  std::vector<GradedProblem> problems;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    problems.push_back(
        {{.id = absl::StrCat(name, ":", problems.size() + 1), .question = line},
         {}});
  }
  if (problems.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        ": no question in it; expected text, or one JSON object per line"));
  }
  return problems;
}

absl::StatusOr<std::vector<GradedProblem>> ReadProblems(SolveFlags& flags) {
  if (!flags.set.set.empty()) {
    ESP_ASSIGN_OR_RETURN(ProblemSet set, LoadSet(flags.set));
    if (set.problems.empty()) {
      return absl::OutOfRangeError(absl::StrCat(flags.set.set,
                                                " has no problem with index ",
                                                flags.set.options.first));
    }
    if (flags.task == "auto") flags.task = set.task;
    return std::move(set.problems);
  }
  if (flags.file == "-") {
    ESP_ASSIGN_OR_RETURN(const std::string text, ReadStandardInput());
    return ParseQuestions(text, "standard input", /*whole=*/false);
  }
  if (!flags.file.empty()) {
    const absl::StatusOr<std::string> text = ReadFile(flags.file);
    if (!text.ok()) {
      return FileFlagError("--file", "a file with one question per line",
                           text.status());
    }
    return ParseQuestions(*text, flags.file, /*whole=*/false);
  }
  if (flags.question) {
    if (flags.question->find_first_not_of(" \t\r\n") == std::string::npos) {
      return UsageError(absl::InvalidArgumentError(
          "the question is empty; expected text, as in: espalier solve \"Ann "
          "has 3 shells. ...\""));
    }
    if (*flags.question == "-") {
      return UsageError(absl::InvalidArgumentError(
          "the question is \"-\"; --file - reads one question per line from "
          "standard input, and with no question all of it is one"));
    }
    return std::vector<GradedProblem>{
        {{.id = "question", .question = *flags.question}, {}}};
  }
  if (isatty(STDIN_FILENO) != 0) {
    return UsageError(absl::InvalidArgumentError(
        "no question; give one in quotes, or --file F, or on standard input"));
  }
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadStandardInput());
  if (!flags.lines) {
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      flags.input_lines += absl::StripAsciiWhitespace(line).empty() ? 0 : 1;
    }
  }
  return ParseQuestions(text, "standard input", /*whole=*/!flags.lines);
}

// A number puzzle is recognised as such. With the shipped models anything else
// is taken for a story, with others for a plain question.
std::string GuessTask(const SolveFlags& flags, const std::string& question) {
  if (flags.task != "auto") return flags.task;
  const bool puzzle = CheckKnownQuestion("countdown", question).ok();
  const bool general =
      !flags.models.model.empty() || !flags.prompt.prompt.empty();
  // For other models only the generator's own wording is a puzzle.
  if (general) {
    return puzzle && question.starts_with("Use ") ? "countdown" : "qa";
  }
  return puzzle ? "countdown" : "stories";
}

nlohmann::json Number(float value) {
  if (std::isnan(value)) return nullptr;
  return value;
}

nlohmann::json NodeJson(const TreeNode& node) {
  nlohmann::json json = {{"kind", node.kind},
                         {"text", node.text},
                         {"parent", node.parent},
                         {"logprob", node.logprob},
                         {"step_score", Number(node.step_score)},
                         {"path_score", Number(node.path_score)},
                         {"q", node.q},
                         {"visits", node.visits},
                         {"draws", node.draws},
                         {"terminal", node.terminal}};
  // Further levels only where the reward model gives them.
  const StepScores scores = node.scores();
  for (size_t l = IndexOf(Level::kOutcome); l < kLevels; ++l) {
    const float score = scores[static_cast<Level>(l)];
    if (std::isnan(score)) continue;
    json[absl::StrCat(AbslView(kLevelNames[l]), "_score")] = score;
  }
  return json;
}

nlohmann::json ResultJson(const GradedProblem& graded,
                          const SearchResult& result, const EngineStats& stats,
                          const std::optional<Verdict>& verdict) {
  nlohmann::json steps = nlohmann::json::array();
  for (const TreeNode& step : result.steps) steps.push_back(NodeJson(step));
  nlohmann::json tree = nlohmann::json::array();
  for (const TreeNode& node : result.tree) tree.push_back(NodeJson(node));
  nlohmann::json json = {
      {"id", graded.problem.id},
      {"question", graded.problem.question},
      {"answer", AnswerAsWritten(result.answer, result.response)},
      {"response", result.response},
      {"score", result.score},
      {"stage", AnswerStageName(result.stage)},
      {"configuration", result.configuration},
      {"config_hash", MethodHash(result.configuration)},
      {"steps", steps},
      {"tree", tree},
      {"stop_reason", result.stop_reason},
      {"tokens", result.tokens},
      {"prompt_tokens", result.prompt_tokens},
      {"reward_tokens", result.reward_tokens},
      {"verdict_tokens", result.verdict_tokens},
      {"speculated_tokens", result.speculated_tokens},
      {"model_calls", result.model_calls},
      {"nodes", result.nodes},
      {"seconds", result.seconds},
      {"error", std::string(result.status.message())}};
  if (verdict) json["correct"] = verdict->correct;
  json.update(WorkJson(stats));
  return json;
}

void PrintResult(const SolveFlags& flags, const GradedProblem& graded,
                 const SearchResult& result, const EngineStats& stats,
                 const std::optional<Verdict>& verdict) {
  std::printf("%s\n", Printable(graded.problem.question).c_str());
  if (!result.status.ok()) {
    std::printf("error: %s\n\n",
                Printable(std::string(result.status.message())).c_str());
    return;
  }
  for (const TreeNode& step : result.steps) {
    std::printf("  %-34s %s\n", OneLine(step.text).c_str(),
                LevelScores(step).c_str());
  }
  if (verdict && !verdict->correct) {
    std::printf(
        "no right answer found: the best response %s\n",
        result.response.empty()
            ? "is empty"
            : Printable(absl::StrCat("is wrong (", verdict->reason, ")"))
                  .c_str());
  } else if (result.stage == AnswerStage::kUnanswered) {
    std::printf("no answer: every response ended without one\n");
  } else if (result.answer.empty()) {
    std::printf("no answer found%s%s\n", result.stop_reason.empty() ? "" : ": ",
                result.stop_reason.c_str());
  } else {
    const char* from = "";
    if (result.stage == AnswerStage::kTree) {
      from = "  (the method chose none: the best of the finished responses)";
    } else if (result.stage == AnswerStage::kFinish) {
      from = "  (the method had none: the best unfinished response, finished)";
    }
    const std::string answer = AnswerAsWritten(result.answer, result.response);
    std::printf("answer: %s%s\n", Printable(answer).c_str(), from);
  }
  std::string ahead;
  if (result.speculated_tokens > 0) {
    ahead = absl::StrCat(", ", result.speculated_tokens,
                         " more ahead and not used");
  }
  if (stats.texts_encoded > 0) {
    absl::StrAppend(&ahead, ", ", stats.texts_missed, " of ",
                    stats.texts_encoded,
                    " texts so far encoded apart from their path");
  }
  if (stats.tokens_drafted > 0) {
    absl::StrAppend(&ahead, ", ", stats.drafts_accepted, " of ",
                    stats.tokens_drafted, " drafts so far right");
  }
  std::printf(
      "(%lld tokens sampled%s, %lld prompt, %lld model calls, %lld "
      "nodes, %.2f s)\n",
      static_cast<long long>(result.tokens), ahead.c_str(),
      static_cast<long long>(result.prompt_tokens),
      static_cast<long long>(result.model_calls),
      static_cast<long long>(result.nodes), result.seconds);
  if (flags.show_tree) std::printf("%s", TreeText(result.tree).c_str());
  std::printf("\n");
}

// Prints exactly what is sent: the text on stdout, notes on stderr.
absl::Status ShowPrompts(const SolveFlags& flags, const std::string& folder,
                         const Task& task,
                         const std::vector<Problem>& problems) {
  ESP_ASSIGN_OR_RETURN(const auto tokenizer, Tokenizer::Load(folder));
  const StepFormat& format = task.format();
  for (const Problem& problem : problems) {
    ESP_ASSIGN_OR_RETURN(const std::string text, task.Render(problem));
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                         EncodePrompt(*tokenizer, text, format.control_tokens));
    if (flags.json.wanted()) {
      std::printf("%s\n", JsonText({{"id", problem.id},
                                    {"prompt", text},
                                    {"tokens", ids},
                                    {"delimiter", format.delimiter},
                                    {"stop", format.stop_strings}})
                              .c_str());
      continue;
    }
    std::printf("%s", ForOutput(text).c_str());
    std::fflush(stdout);
    std::fprintf(stderr, "\n(%zu tokens; a step ends at \"%s\" or after %d)\n",
                 ids.size(), absl::CEscape(format.delimiter).c_str(),
                 format.max_step_tokens);
  }
  return absl::OkStatus();
}

// About 500 bytes, in whole characters.
std::string Beginning(const std::string& text) {
  return text.substr(0, NextUtf8Boundary(text, 500));
}

// Why the shipped model of `task` cannot answer the question; "" if it can.
std::string WhyForeign(const std::string& task, const std::string& question) {
  const absl::Status known = CheckKnownQuestion(task, question);
  if (known.ok()) return "";
  return absl::StrCat("the shipped model of task ", task,
                      " was trained on other questions: ", known.message());
}

void PrintForeign(const SolveFlags& flags, const Problem& problem,
                  const std::string& reason) {
  if (flags.json.wanted()) {
    std::printf("%s\n", JsonText({{"id", problem.id},
                                  {"question", problem.question},
                                  {"answer", ""},
                                  {"error", reason}})
                            .c_str());
  } else {
    std::printf("%s\nnot answered: %s\n\n",
                Printable(Beginning(problem.question)).c_str(),
                Printable(reason).c_str());
  }
}

absl::Status ForeignError(size_t foreign, size_t all, int input_lines) {
  // JSON objects are one question each.
  const bool joined = all == 1 && input_lines > 1;
  return WithExitCode(
      absl::UnimplementedError(absl::StrCat(
          foreign, " of ", all, all == 1 ? " question" : " questions",
          " not answered: the shipped models know only stories about one "
          "quantity and countdown puzzles.",
          joined
              ? absl::StrCat("\n  remedy: standard input was read as one "
                             "question of ",
                             input_lines, " lines; --lines reads one per line")
              : "",
          "\n  remedy: use a language model (a "
          "folder or a GGUF file), e.g. --model ~/models/Qwen2.5-1.5B-Instruct "
          "--prompt instruct (docs/guide/models.md); --force lets the shipped "
          "model answer anyway")),
      kForeignExitCode);
}

absl::Status UnsolvedError(size_t unsolved, size_t all) {
  return WithExitCode(
      absl::NotFoundError(absl::StrCat(
          unsolved, " of ", all, all == 1 ? " question" : " questions",
          ": no right answer found (checked by the task's rules); a larger "
          "--budget-tokens or another --search may find one, if there is "
          "one")),
      kUnsolvedExitCode);
}

// The verdict on a finished search where the question alone allows one.
std::optional<Verdict> VerdictOn(const Verifier& verifier,
                                 const Problem& problem,
                                 const SearchResult& result) {
  if (!verifier.intrinsic() || !result.status.ok() ||
      result.stop_reason == kStoppedFromOutside) {
    return std::nullopt;
  }
  return verifier.Check(problem, {}, result.response);
}

absl::Status CheckFlags(SolveFlags& flags) {
  FlagErrors errors;
  auto method = ReadMethodFile(flags.search.method);
  errors.AddAsIs(FileFlagError("--search", kMethodFile, method.status()));
  if (method.ok()) {
    flags.search.method = *std::move(method);
    errors.Add(CheckSearchFlags(flags.search, /*graded=*/false, flags.models));
  }
  if (flags.task != "auto") errors.Add(CheckTaskFlag(flags.task));
  errors.AddAsIs(CheckPromptFlags(flags.prompt));
  errors.AddAsIs(CheckRewardFormat(flags.models));
  return errors.Status();
}

// The outcome of each question, printed in order, each as soon as all before it
// are done.
class Answers {
 public:
  Answers(const SolveFlags& flags, absl::Span<const GradedProblem> graded)
      : flags_(flags), graded_(graded), outcomes_(graded.size()) {}

  void Refuse(size_t i, std::string reason) {
    outcomes_[i].foreign = std::move(reason);
    outcomes_[i].done = true;
    ++foreign_;
  }

  void Add(size_t i, SearchResult result, std::optional<Verdict> verdict) {
    unsolved_ += verdict && !verdict->correct ? 1 : 0;
    outcomes_[i].verdict = std::move(verdict);
    whole_ += result.stop_reason != kStoppedFromOutside ? 1 : 0;
    outcomes_[i].result = std::move(result);
    outcomes_[i].done = true;
    PrintReady();
  }

  // Call once a search can begin or a refusal is printed. From then on a stop
  // is waited for, and may leave a file of --json.
  absl::Status Begin() {
    if (std::exchange(begun_, true)) return absl::OkStatus();
    StopRequested();
    return flags_.json.TakeStdout();
  }

  // Whose statistics are shown with results: of the questions that follow.
  void SetEngine(const Engine* engine) { engine_ = engine; }

  // Prints up to the first unfinished question.
  void PrintReady() {
    while (next_ < outcomes_.size() && outcomes_[next_].done) PrintNext();
  }
  // After a stop: prints all results.
  void PrintRest() {
    while (next_ < outcomes_.size()) PrintNext();
  }

  bool refused(size_t i) const { return !outcomes_[i].foreign.empty(); }
  size_t foreign() const { return foreign_; }
  size_t unsolved() const { return unsolved_; }  // as the verdicts say
  size_t whole() const { return whole_; }        // searched to the end
  const absl::Status& first_error() const { return first_error_; }

 private:
  struct Outcome {
    bool done = false;
    std::string foreign;  // the reason; "" if not foreign
    SearchResult result;
    std::optional<Verdict> verdict;
  };

  void PrintNext() {
    Outcome& outcome = outcomes_[next_++];
    if (!outcome.done) return;
    const GradedProblem& graded = graded_[next_ - 1];
    const EngineStats stats =
        engine_ != nullptr ? engine_->stats() : EngineStats();
    if (!outcome.foreign.empty()) {
      PrintForeign(flags_, graded.problem, outcome.foreign);
    } else if (flags_.json.wanted()) {
      std::printf("%s\n", JsonText(ResultJson(graded, outcome.result, stats,
                                              outcome.verdict))
                              .c_str());
    } else {
      PrintResult(flags_, graded, outcome.result, stats, outcome.verdict);
    }
    std::fflush(stdout);
    if (first_error_.ok()) first_error_ = outcome.result.status;
    outcome.result = {};
  }

  const SolveFlags& flags_;
  const absl::Span<const GradedProblem> graded_;
  bool begun_ = false;
  std::vector<Outcome> outcomes_;
  const Engine* engine_ = nullptr;
  size_t next_ = 0, foreign_ = 0, unsolved_ = 0, whole_ = 0;
  absl::Status first_error_;
};

// The questions of one task and how they are put.
struct TaskGroup {
  std::string name;
  ResolvedModels models;
  PromptedTask put;
  std::vector<size_t> of;  // indices of its questions, in order
};

// The groups, in the order of their first questions.
absl::StatusOr<std::vector<TaskGroup>> GroupByTask(
    const SolveFlags& flags, absl::Span<const GradedProblem> graded) {
  std::vector<TaskGroup> groups;
  for (size_t i = 0; i < graded.size(); ++i) {
    const Problem& problem = graded[i].problem;
    const std::string name = GuessTask(flags, problem.question);
    auto group =
        std::find_if(groups.begin(), groups.end(),
                     [&](const TaskGroup& one) { return one.name == name; });
    if (group == groups.end()) {
      TaskGroup added{.name = name};
      ESP_ASSIGN_OR_RETURN(added.models,
                           ResolveModels(flags.models, name, kForeignExitCode));
      ESP_ASSIGN_OR_RETURN(
          const std::string prompt,
          ResolvePromptText(flags.prompt,
                            PolicyFolder(added.models.options())));
      ESP_ASSIGN_OR_RETURN(added.put, PutTaskBy(name, prompt));
      groups.push_back(std::move(added));
      group = groups.end() - 1;
    }
    group->of.push_back(i);
  }
  return groups;
}

// The problem as the model is asked it.
Problem AsAsked(const SolveFlags& flags, const TaskGroup& group,
                const Problem& problem) {
  Problem asked = problem;
  if (flags.models.model.empty() && !flags.json.force) {
    asked.question = InKnownWords(group.name, problem.question);
  }
  return asked;
}

absl::Status ShowAllPrompts(const SolveFlags& flags,
                            absl::Span<const GradedProblem> graded,
                            const std::vector<TaskGroup>& groups) {
  // In the order of the questions: consecutive ones of the same task together.
  for (size_t i = 0; i < graded.size();) {
    for (const TaskGroup& group : groups) {
      std::vector<Problem> stretch;
      for (auto at = std::find(group.of.begin(), group.of.end(), i);
           at != group.of.end() && *at == i; ++at, ++i) {
        stretch.push_back(AsAsked(flags, group, graded[i].problem));
      }
      if (stretch.empty()) continue;
      ESP_RETURN_IF_ERROR(
          ShowPrompts(flags, group.models.policy(), *group.put.task, stretch));
    }
  }
  return absl::OkStatus();
}

// Searches the questions of one task that were not refused.
absl::Status SolveGroup(const SolveFlags& flags, const TaskGroup& group,
                        absl::Span<const GradedProblem> graded,
                        Answers& answers) {
  std::vector<Problem> problems;
  std::vector<size_t> places;
  for (const size_t i : group.of) {
    if (answers.refused(i)) continue;
    problems.push_back(AsAsked(flags, group, graded[i].problem));
    places.push_back(i);
    const std::string& asked = problems.back().question;
    if (asked != graded[i].problem.question) {
      std::fprintf(stderr,
                   "solve: the shipped model of task %s knows other words; it "
                   "is asked: %s\n",
                   group.name.c_str(), Printable(asked).c_str());
    }
  }
  if (problems.empty()) return absl::OkStatus();
  ESP_ASSIGN_OR_RETURN(const auto engine, group.models.Load());
  ESP_RETURN_IF_ERROR(answers.Begin());
  SearchOptions search = flags.search;
  const Task& task = *group.put.task;
  const Verifier& verifier = *group.put.verifier;
  RunHooks hooks{.verifier = verifier.ForSearch(),
                 .stop = &StopRequested(),
                 .background_checks = verifier.slow()};
  std::optional<VerifierReward> reward;
  if (flags.verifier_reward) {
    ESP_ASSIGN_OR_RETURN(reward, VerifierReward::Create(verifier));
    hooks.reward = &*reward;
  }
  // A method that the models cannot serve, before anything is measured.
  if (search.max_tokens == 0) search.max_tokens = 1;
  ESP_RETURN_IF_ERROR(engine->SolveAll({}, task, search, hooks,
                                       [](size_t, const SearchResult&) {}));
  search.max_tokens = flags.search.max_tokens;
  if (!flags.budget) {
    ESP_ASSIGN_OR_RETURN(
        search.max_tokens,
        DefaultBudget("solve", *engine, problems.front(), task));
  }
  if (problems.size() > 1 || ShortBudget(search).responses() > 1) {
    ESP_RETURN_IF_ERROR(MeasureResponseTokens(*engine, problems, task,
                                              &StopRequested(), search));
    ShortBudget budget(search);
    for (const Problem& problem : problems) budget.Add(problem);
    PrintNote("solve", budget);
  }
  search.keep_tree = flags.show_tree;
  LiveView view(problems.size());
  if (flags.watch) {
    hooks.on_progress = [&](size_t i, const SearchSnapshot& shot) {
      view.Show(i, shot);
    };
  }
  answers.SetEngine(engine.get());
  const absl::Status solved = engine->SolveAll(
      problems, task, search, hooks, [&](size_t i, SearchResult result) {
        view.Clear();
        view.Done(i);
        auto verdict = VerdictOn(verifier, problems[i], result);
        answers.Add(places[i], std::move(result), std::move(verdict));
      });
  answers.SetEngine(nullptr);
  return solved;
}

absl::Status RunSolve(SolveFlags& flags) {
  if (flags.budget) flags.search.max_tokens = *flags.budget;
  ESP_RETURN_IF_ERROR(CheckFlags(flags));
  ESP_ASSIGN_OR_RETURN(const std::vector<GradedProblem> graded,
                       ReadProblems(flags));
  ESP_RETURN_IF_ERROR(flags.json.Check());
  ESP_ASSIGN_OR_RETURN(const std::vector<TaskGroup> groups,
                       GroupByTask(flags, graded));
  const bool shipped = flags.models.model.empty();
  Answers answers(flags, graded);
  for (const TaskGroup& group : groups) {
    for (const size_t i : group.of) {
      const Problem& problem = graded[i].problem;
      if (shipped && !flags.json.force && !flags.show_prompt) {
        std::string why = WhyForeign(group.name, problem.question);
        if (!why.empty()) {
          answers.Refuse(i, std::move(why));
          continue;
        }
      }
      const auto rendered =
          group.put.task->Render(AsAsked(flags, group, problem));
      if (!rendered.ok()) return rendered.status();
    }
  }
  if (flags.show_prompt || answers.foreign() > 0) {
    ESP_RETURN_IF_ERROR(answers.Begin());
  }
  if (flags.show_prompt) return ShowAllPrompts(flags, graded, groups);
  answers.PrintReady();
  for (const TaskGroup& group : groups) {
    ESP_RETURN_IF_ERROR(SolveGroup(flags, group, graded, answers));
  }
  answers.PrintRest();
  if (StopRequested().load()) {
    return absl::CancelledError(absl::StrCat(
        "stopped: ", answers.whole(), " of ", graded.size() - answers.foreign(),
        " questions were searched to the end"));
  }
  if (answers.first_error().ok() && answers.foreign() > 0) {
    return ForeignError(answers.foreign(), graded.size(), flags.input_lines);
  }
  if (answers.first_error().ok() && answers.unsolved() > 0) {
    return UnsolvedError(answers.unsolved(), graded.size());
  }
  return answers.first_error();
}

}  // namespace

void AddSolve(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<SolveFlags>();
  CLI::Option* question =
      app.add_option("question", flags->question, "The question, in quotes");
  CLI::Option* file =
      app.add_option("--file", flags->file,
                     "File with questions: one per line, or JSON objects; - "
                     "for standard input")
          ->excludes(question);
  CLI::Option* lines =
      app.add_flag("--lines", flags->lines,
                   "Standard input has one question per line, like a --file; "
                   "otherwise all of it is one question")
          ->excludes(question);
  AddSetFlags(app, flags->set)
      ->excludes(question)
      ->excludes(file)
      ->excludes(lines);
  app.footer(
      "Exit status: 0; 3 if a question was refused (--force), or no model is\n"
      "shipped for its task (--model); 4 if no right answer was found to a\n"
      "question whose answer its rules can check (countdown, game24, sudoku,\n"
      "proof); 1 after any other error, 2 for wrong usage.");
  app.add_option("--task", flags->task,
                 "Task that prompts the question: auto, " +
                     absl::StrJoin(TaskNames(), ", "))
      ->capture_default_str();
  AddMethodFlags(app, flags->search.method,
                 "Method with options, e.g. beam:branch=8 (espalier methods "
                 "lists them), or a method file NAME.textproto; auto picks the "
                 "method that measured best");
  app.add_option("--budget-tokens", flags->budget,
                 absl::StrCat("Tokens sampled per question, including "
                              "discarded ones; 0: no limit. ",
                              kDefaultBudgetHelp))
      ->check(WholeFrom(0));
  AddBudgetFlags(app, flags->search);
  AddSecondsFlag(app, flags->search.max_seconds);
  app.add_option("--seed", flags->search.seed, "Random seed")
      ->capture_default_str();
  app.add_flag("--show-prompt", flags->show_prompt,
               "Print the prompt and its token count instead of searching");
  app.add_flag("--show-tree", flags->show_tree, "Print the search tree");
  app.add_flag("--watch", flags->watch, "Show the running search on stderr");
  AddJsonFile(app, flags->json, "one object per question");
  app.add_flag("--force", flags->json.force,
               "Let the shipped models answer kinds of questions that they "
               "were not trained on, which are otherwise refused with exit "
               "status 3. Also overwrites the file of --json");
  AddPromptFlags(app, flags->prompt);
  AddModelFlags(app, flags->models);
  AddVerifierReward(app, flags->verifier_reward);
  run = [flags] { return RunSolve(*flags); };
}

}  // namespace espalier
