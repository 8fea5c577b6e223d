// espalier serve: search behind an endpoint that speaks the OpenAI API.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "models/remote/endpoint.h"
#include "search/presets.h"
#include "src/engine/load_model.h"
#include "src/engine/model_place.h"
#include "src/serve/search_server.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

constexpr char kKeyVariable[] = "ESPALIER_SERVE_KEY";

struct ServeFlags {
  ModelFlags models;
  PromptFlags prompt;
  std::string listen = "127.0.0.1:8000";
  std::string name;
  std::string task = "auto";
  std::string budget = "2048";
  bool force = false;
  int64_t max_body = int64_t{1} << 20;
  int connections = 4096;
  int queue = 256;
  SearchServerOptions server;
};

// "127.0.0.1:8000", "[::1]:8000".
absl::Status ReadListen(const std::string& text, HttpServerOptions& http) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos ||
      !absl::SimpleAtoi(text.substr(colon + 1), &http.port) || http.port < 0 ||
      http.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen ", text,
                     ": expected an address and a port, as 127.0.0.1:8000 or "
                     "[::1]:8000; port 0 is any that is free"));
  }
  http.host = text.substr(0, colon);
  if (http.host.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--listen ", text,
        ": expected an address before the colon, as 127.0.0.1 (this machine "
        "only) or 0.0.0.0 (all)"));
  }
  if (http.host.size() > 2 && http.host.front() == '[' &&
      http.host.back() == ']') {
    http.host = http.host.substr(1, http.host.size() - 2);
  }
  if (http.host == "localhost") http.host = "127.0.0.1";
  return absl::OkStatus();
}

absl::Status CheckFlags(ServeFlags& flags, HttpServerOptions& http) {
  FlagErrors errors;
  errors.Add(ReadListen(flags.listen, http));
  ApiDefaults& api = flags.server.api;
  const absl::StatusOr<BudgetSpec> budget = ParseBudget(flags.budget);
  if (budget.ok()) {
    api.budget = *budget;
  } else {
    errors.Add(absl::StrCat("--budget: ", budget.status().message()));
  }
  auto method = ReadMethodFile(api.search.method);
  errors.AddAsIs(FileFlagError("--search", kMethodFile, method.status()));
  if (method.ok()) {
    api.search.method = *std::move(method);
    errors.Add(CheckSearchFlags(api.search, /*graded=*/false, flags.models));
  }
  for (const char c : flags.name) {
    if (static_cast<unsigned char>(c) >= ' ' && c != 0x7f) continue;
    errors.Add("--name has a control character; expected plain text");
    break;
  }
  if (flags.task != "auto") errors.Add(CheckTaskFlag(flags.task));
  errors.AddAsIs(CheckPromptFlags(flags.prompt));
  errors.AddAsIs(CheckRewardFormat(flags.models));
  return errors.Status();
}

// The last part of a checkpoint's path, or a model's name at its server.
absl::StatusOr<std::string> ServedName(const std::string& policy) {
  if (IsRemoteModel(policy)) return RemoteModelName(policy);
  const std::filesystem::path path =
      std::filesystem::path(policy).lexically_normal();
  const std::string name = path.has_filename()
                               ? path.filename().string()
                               : path.parent_path().filename().string();
  return name.ends_with(".gguf") ? name.substr(0, name.size() - 5) : name;
}

// A prompt for models that were given without one: the shipped `instruct`, if
// the checkpoint has a chat template that is known.
absl::StatusOr<std::string> PromptOf(const ServeFlags& flags,
                                     const EngineOptions& models) {
  const std::string& folder = PolicyFolder(models);
  if (!flags.prompt.prompt.empty() || flags.models.model.empty()) {
    return ResolvePromptText(flags.prompt, folder);
  }
  const absl::StatusOr<std::string> found =
      ResolvePromptText({.prompt = "instruct"}, folder);
  if (found.ok()) return found;
  std::fprintf(stderr,
               "serve: no chat template, so a request is one user message "
               "(--prompt and --template name one): %s\n",
               Printable(std::string(found.status().message())).c_str());
  return std::string();
}

absl::Status RunServe(ServeFlags& flags) {
  HttpServerOptions http{.max_body = static_cast<size_t>(flags.max_body),
                         .max_connections = flags.connections};
  ESP_RETURN_IF_ERROR(CheckFlags(flags, http));
  const bool shipped = flags.models.model.empty();
  std::string task = flags.task;
  if (task == "auto") task = shipped ? "stories" : "qa";
  ESP_ASSIGN_OR_RETURN(const ResolvedModels models,
                       ResolveModels(flags.models, task));
  SearchServerOptions options = flags.server;
  options.queue = static_cast<size_t>(flags.queue);
  if (const char* key = std::getenv(kKeyVariable)) {
    options.key = key;
    if (options.key.empty()) {
      return UsageError(absl::InvalidArgumentError(
          absl::StrCat(kKeyVariable,
                       " is set and empty, and would let anyone "
                       "in; give it a key, or unset it")));
    }
  }
  // A second signal ends the program at once only after this.
  const std::atomic<bool>& stop = StopRequested();
  ESP_ASSIGN_OR_RETURN(const auto engine, models.Load());
  options.api.model = flags.name;
  if (flags.name.empty()) {
    ESP_ASSIGN_OR_RETURN(options.api.model, ServedName(models.policy()));
  }
  ESP_ASSIGN_OR_RETURN(const std::string prompt,
                       PromptOf(flags, models.options()));
  ESP_ASSIGN_OR_RETURN(
      RequestTasks tasks,
      RequestTasks::Create({.task = task,
                            .prompt = prompt,
                            .shipped = shipped && !flags.force}));
  options.log = [](const std::string& text) {
    std::fprintf(stderr, "serve: %s\n", Printable(text).c_str());
  };
  SearchServer server(*engine, std::move(tasks), options);
  ESP_RETURN_IF_ERROR(server.CheckDefaults());
  const absl::Status listening = server.Listen(http);
  if (!listening.ok()) {
    return absl::IsInvalidArgument(listening) ? UsageError(listening)
                                              : listening;
  }
  std::printf("serving %s at http://%s:%d/v1 (method %s, budget %s%s)\n",
              Printable(options.api.model).c_str(),
              flags.listen.substr(0, flags.listen.rfind(':')).c_str(),
              server.port(), Printable(options.api.search.method).c_str(),
              BudgetText(options.api.budget).c_str(),
              options.api.budget.factor > 0 ? " max_tokens" : " tokens");
  std::fflush(stdout);
  server.Run(stop);
  return absl::OkStatus();
}

}  // namespace

void AddServe(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<ServeFlags>();
  SearchServerOptions& server = flags->server;
  app.footer(
      "A request chooses method and budget by its path (/beam@2000/v1/...), "
      "by a\n"
      "field \"search\", or by its model's name (beam@2000, beam:width=2@4x); "
      "the\nfirst of these counts (docs/guide/serve.md). A key is read from "
      "the environment variable\n"
      "ESPALIER_SERVE_KEY; without one anyone who reaches the port is served.\n"
      "SIGTERM and Ctrl-C end the server once its searches have ended.\n\n"
      "  espalier serve &\n"
      "  curl http://127.0.0.1:8000/v1/chat/completions -d '{\n"
      "    \"model\": \"beam@600\", \"messages\": [{\"role\": \"user\", "
      "\"content\":\n"
      "    \"Ann has 3 figs. She finds 2 more. How many figs does Ann have "
      "now?\"}]}'\n");
  app.add_option("--listen", flags->listen,
                 "Address and port; port 0 is any that is free, 0.0.0.0 all "
                 "addresses of this machine")
      ->capture_default_str();
  app.add_option("--name", flags->name,
                 "Name of the model for clients. Default: its folder's or "
                 "file's, or its name at its server");
  app.add_option("--task", flags->task,
                 "Task that prompts questions and finds answers: auto (stories "
                 "with the shipped models, else qa), " +
                     absl::StrJoin(TaskNames(), ", "))
      ->capture_default_str();
  AddMethodFlags(app, server.api.search.method,
                 "Method of requests that name none, with options, e.g. "
                 "beam:branch=8 (espalier methods lists them), or a method "
                 "file NAME.textproto");
  app.add_option("--budget", flags->budget,
                 "Tokens sampled per search, including discarded ones, for "
                 "requests that name no budget: 2000, or 4x for four times the "
                 "request's max_tokens")
      ->capture_default_str();
  app.add_option("--max-budget", server.api.max_budget,
                 "Most tokens that a request may ask a search to sample")
      ->capture_default_str()
      ->check(WholeFrom(1));
  AddBudgetFlags(app, server.api.search, /*measures=*/false);
  AddSecondsFlag(app, server.api.search.max_seconds,
                 "say so in the reply's stop_reason");
  app.add_option("--seed", server.api.search.seed,
                 "Random seed of requests that name none")
      ->capture_default_str();
  app.add_option("--max-option", server.api.max_option,
                 "Upper limit for integer method options in a request (large "
                 "values stall all searches)")
      ->capture_default_str()
      ->check(WholeFrom(1, kMostInt));
  app.add_option("--queue", flags->queue,
                 "Requests that may wait while --live searches run; more are "
                 "answered 429")
      ->capture_default_str()
      ->check(WholeFrom(1, kMostInt));
  app.add_option("--max-body", flags->max_body,
                 "Longest body of a request, e.g. 64k or 4M; a longer one is "
                 "answered 413")
      ->capture_default_str()
      ->transform(ByteSize())
      ->check(WholeFrom(1, int64_t{1} << 40));
  app.add_option("--connections", flags->connections,
                 "Connections at a time; more wait to be accepted")
      ->capture_default_str()
      ->check(WholeFrom(1, 1 << 20));
  app.add_option(
         "--drain-seconds", server.drain_seconds,
         "After SIGTERM or Ctrl-C, how long searches may go on before they are "
         "stopped and return their best answer so far")
      ->capture_default_str()
      ->check(RealFrom(0, 1e9));
  app.add_option("--ping-seconds", server.ping_seconds,
                 "Silence in a stream after which a comment is sent, so that "
                 "proxies keep the connection open")
      ->capture_default_str()
      ->check(RealFrom(0.001, 1e9));
  app.add_flag("--force", flags->force,
               "Let the shipped models answer kinds of questions that they "
               "were not trained on, which are otherwise answered 400");
  AddPromptFlags(app, flags->prompt);
  AddModelFlags(app, flags->models);
  run = [flags] { return RunServe(*flags); };
}

}  // namespace espalier
