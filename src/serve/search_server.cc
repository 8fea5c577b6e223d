#include "src/serve/search_server.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "src/serve/api_error.h"
#include "src/serve/api_reply.h"

namespace espalier {
namespace {

constexpr char kChatPath[] = "/v1/chat/completions";
constexpr char kCompletionPath[] = "/v1/completions";
constexpr char kModelsPath[] = "/v1/models";
constexpr char kStream[] = "text/event-stream";
constexpr double kTick = 0.05;  // seconds
// Between two looks at a search whose steps are shown.
constexpr double kProgressSeconds = 0.05;
// A client that takes its stream so slowly is not shown more steps.
constexpr size_t kMostUnsent = size_t{1} << 20;
// For the last replies to be taken once all searches have ended.
constexpr double kFlushSeconds = 1;

int64_t SecondsSince1970() {
  std::tm parts = {};
  strptime(UtcTimestamp().c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return timegm(&parts);
}

// The path of a target, without its query, "%3A" as ":".
std::string PathOf(std::string_view target) {
  // Proxies send the whole address.
  const size_t scheme = target.find("://");
  if (scheme != target.npos && !target.starts_with('/')) {
    const size_t slash = target.find('/', scheme + 3);
    target = slash == target.npos ? "/" : target.substr(slash);
  }
  target = target.substr(0, target.find('?'));
  std::string path;
  for (size_t i = 0; i < target.size(); ++i) {
    const std::string_view digits = target.substr(i + 1, 2);
    if (target[i] == '%' && digits.size() == 2 &&
        absl::ascii_isxdigit(static_cast<unsigned char>(digits[0])) &&
        absl::ascii_isxdigit(static_cast<unsigned char>(digits[1]))) {
      path += absl::HexStringToBytes(AbslView(digits));
      i += 2;
    } else {
      path += target[i];
    }
  }
  return path;
}

// Compares without telling by its time how much is equal.
bool SameKey(std::string_view a, std::string_view b) {
  unsigned different = a.size() != b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    different |= static_cast<unsigned char>(a[i]) ^
                 static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  }
  return different == 0;
}

// The methods that the engine can answer questions with.
std::vector<std::string> UsableMethods(Engine& engine,
                                       const RequestTasks& tasks) {
  std::vector<std::string> usable;
  const auto put = tasks.Put(Problem{.question = "?"});
  if (!put.ok()) return usable;
  const RunHooks hooks{.verifier = put->verifier->ForSearch()};
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    const absl::Status refused =
        engine.SolveAll({}, *put->task, {.method = info->name}, hooks,
                        [](size_t, const SearchResult&) {});
    if (refused.ok()) usable.push_back(info->name);
  }
  return usable;
}

SearchServerOptions WithMethods(SearchServerOptions options,
                                std::vector<std::string> usable) {
  // A method that scores steps is usable: there is a reward model.
  options.api.has_reward =
      std::find(usable.begin(), usable.end(), "beam") != usable.end();
  options.api.methods = std::move(usable);
  return options;
}

// The engine's errors in words for clients, who start no programs.
absl::Status ForClients(const absl::Status& error) {
  if (absl::IsUnavailable(error) || absl::IsUnauthenticated(error)) {
    return absl::UnavailableError(
        "the model behind this server does not answer");
  }
  // A model's server refused a request: nothing that this client did.
  if (error.message().find("://") != absl::string_view::npos) {
    return absl::InternalError(
        "the model behind this server refused a request");
  }
  absl::Status told(
      error.code(),
      absl::StrReplaceAll(
          error.message(),
          {{"name the others in EngineOptions::more_policies",
            "start the server with --more-models"},
           {" in a run that records (RunHooks::grade)", ""},
           {"name a model with one by --reward-model, or use majority or "
            "greedy",
            "use a method without one, e.g. majority, or start the server "
            "with --reward-model"},
           {", or leave out --budget-verdict-tokens", ""}}));
  error.ForEachPayload([&told](absl::string_view name, const absl::Cord& what) {
    told.SetPayload(name, what);
  });
  return told;
}

absl::Status ShuttingDown() {
  return absl::AbortedError("the server is shutting down");
}

nlohmann::json ModelJson(const std::string& id) {
  return {{"id", id},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "espalier"}};
}

}  // namespace

struct SearchServer::Active {
  Active(const ApiRequest& request, uint64_t given)
      : number(given),
        kind(request.kind),
        stream(request.stream),
        reply(request, given, SecondsSince1970()) {}

  const char* endpoint() const {
    return kind == ApiKind::kChat ? "chat" : "completions";
  }
  void Begin(HttpExchange& to) {
    if (begun) return;
    begun = true;
    to.Begin(kStream);
    to.Send(reply.Start());
  }

  const uint64_t number;
  const ApiKind kind;
  const bool stream;
  ApiReply reply;
  std::shared_ptr<const Verifier> verifier;
  std::shared_ptr<HttpExchange> exchange;  // null once the search has ended
  std::atomic<bool> stop = false;
  bool begun = false;     // the stream
  bool gone = false;      // the client
  bool finished = false;  // the search
  double last_sent = 0;   // seconds of the real clock
};

SearchServer::SearchServer(Engine& engine, RequestTasks tasks,
                           SearchServerOptions options)
    : engine_(engine),
      tasks_(std::move(tasks)),
      options_(WithMethods(std::move(options), UsableMethods(engine, tasks_))),
      inbox_(options_.queue) {}

SearchServer::~SearchServer() = default;

absl::Status SearchServer::CheckDefaults() const {
  const ApiDefaults& api = options_.api;
  if (api.budget.tokens > api.max_budget) {
    return absl::InvalidArgumentError(
        absl::StrCat("--budget ", api.budget.tokens, " is above --max-budget ",
                     api.max_budget));
  }
  ESP_ASSIGN_OR_RETURN(const PutRequest put,
                       tasks_.Put(Problem{.question = "?"}));
  SearchOptions search = api.search;
  search.max_tokens = std::max<int64_t>(1, api.budget.tokens);
  return engine_.SolveAll({}, *put.task, search,
                          {.verifier = put.verifier->ForSearch()},
                          [](size_t, const SearchResult&) {});
}

absl::Status SearchServer::Listen(const HttpServerOptions& options) {
  ESP_ASSIGN_OR_RETURN(
      http_, HttpServer::Create(
                 options,
                 [this](std::shared_ptr<HttpExchange> exchange) {
                   Handle(std::move(exchange));
                 },
                 [this](const HttpRequest& head) { return CheckHead(head); }));
  return absl::OkStatus();
}

void SearchServer::Run(const std::atomic<bool>& stop) {
  std::thread loop([this] { engine_.Serve(inbox_); });
  http_->Every(std::min(kTick, options_.ping_seconds / 2),
               [this, &stop] { Tick(stop); });
  http_->Run();
  inbox_.Close();
  loop.join();
}

void SearchServer::Tick(const std::atomic<bool>& stop) {
  const double now = Clock::Real().Seconds();
  for (const auto& [number, active] : active_) {
    if (!active->stream || now - active->last_sent < options_.ping_seconds) {
      continue;
    }
    active->last_sent = now;
    active->Begin(*active->exchange);
    active->exchange->Send(": ping\n\n");
  }
  if (!stop.load()) return;
  if (stop_seen_ < 0) {
    stop_seen_ = now;
    http_->Drain();
  }
  if (active_.empty()) {
    if (idle_since_ < 0) {
      idle_since_ = now;
      http_->StopAccepting();
    }
    if (http_->connections() == 0 || now - idle_since_ > kFlushSeconds) {
      http_->Stop();
    }
    return;
  }
  if (now - stop_seen_ < options_.drain_seconds) return;
  const auto actives = active_;
  for (const auto& [number, active] : actives) {
    active->stop = true;
    if (inbox_.Take(number) == nullptr) continue;
    Finish(active, {.status = ShuttingDown()});
  }
}

std::string SearchServer::CheckHead(const HttpRequest& head) {
  constexpr std::string_view kBearer = "bearer ";
  if (options_.key.empty() ||
      PathOf(head.target).rfind("/v1/") == std::string::npos) {
    return "";
  }
  const std::string_view given = head.authorization;
  const std::string scheme =
      absl::AsciiStrToLower(AbslView(given.substr(0, kBearer.size())));
  if (scheme == kBearer &&
      SameKey(given.substr(kBearer.size()), options_.key)) {
    return "";
  }
  metrics_.CountRequest("other", 401);
  return ErrorJson(
      WithApiCode(absl::UnauthenticatedError(
                      "the key is missing or wrong; expected the header "
                      "Authorization: Bearer KEY"),
                  "invalid_api_key", ""));
}

void SearchServer::Reply(HttpExchange& exchange, const char* endpoint,
                         int status, std::string body, std::string_view type,
                         std::string_view headers) {
  metrics_.CountRequest(endpoint, status);
  exchange.Reply(status, type, std::move(body), headers);
}

void SearchServer::ReplyError(HttpExchange& exchange, const char* endpoint,
                              const absl::Status& error) {
  const int status = HttpStatus(error);
  std::string_view headers;
  if (status == 429 || status == 503) headers = "Retry-After: 1\r\n";
  Reply(exchange, endpoint, status, ErrorJson(error), "application/json",
        headers);
}

void SearchServer::Handle(std::shared_ptr<HttpExchange> exchange) {
  const HttpRequest& request = exchange->request();
  std::string path = PathOf(request.target);
  const auto needs = [&](const char* endpoint, std::string_view method) {
    if (request.method == method ||
        (request.method == "HEAD" && method == "GET")) {
      return true;
    }
    Reply(*exchange, endpoint, 405,
          ErrorJson(
              BadRequest("", absl::StrCat(request.method, " ", path,
                                          ": expected ", AbslView(method)))),
          "application/json",
          absl::StrCat("Allow: ", AbslView(method), "\r\n"));
    return false;
  };
  if (path == "/health") {
    if (!needs("health", "GET")) return;
    const bool draining = stop_seen_ >= 0;
    return Reply(*exchange, "health", draining ? 503 : 200,
                 JsonText({{"status", draining ? "draining" : "ok"}}));
  }
  if (path == "/metrics") {
    if (!needs("metrics", "GET")) return;
    const auto waiting = static_cast<int64_t>(inbox_.waiting());
    return Reply(*exchange, "metrics", 200,
                 metrics_.Text(
                     {.running = static_cast<int64_t>(active_.size()) - waiting,
                      .waiting = waiting,
                      .connections = http_->connections()}),
                 "text/plain; version=0.0.4");
  }
  // New connections are for the two above: whoever watches should see why.
  if (stop_seen_ >= 0) return ReplyError(*exchange, "other", ShuttingDown());
  const size_t at = path.rfind("/v1/");
  const std::string rest = at == path.npos ? "" : path.substr(at);
  if (rest.empty()) {
    return ReplyError(
        *exchange, "other",
        absl::NotFoundError(absl::StrCat(
            path.substr(0, 200), ": no such path; there are ", kChatPath, ", ",
            kCompletionPath, ", ", kModelsPath, ", /health and /metrics")));
  }
  const std::string method = at == 0 ? "" : path.substr(1, at - 1);
  if (!method.empty()) {
    const absl::Status known = CheckPathMethod(method, options_.api);
    if (!known.ok()) return ReplyError(*exchange, "other", known);
  }
  if (rest == kChatPath) {
    if (!needs("chat", "POST")) return;
    return HandleSearch(exchange, ApiKind::kChat, method);
  }
  if (rest == kCompletionPath) {
    if (!needs("completions", "POST")) return;
    return HandleSearch(exchange, ApiKind::kCompletion, method);
  }
  const std::string one = absl::StrCat(kModelsPath, "/");
  if (rest == kModelsPath || rest.starts_with(one)) {
    if (!needs("models", "GET")) return;
    return HandleModels(exchange,
                        rest == kModelsPath ? "" : rest.substr(one.size()));
  }
  ReplyError(
      *exchange, "other",
      absl::NotFoundError(absl::StrCat(path.substr(0, 200), ": no such path")));
}

void SearchServer::HandleModels(const std::shared_ptr<HttpExchange>& exchange,
                                const std::string& id) {
  const std::string& served = options_.api.model;
  std::vector<std::string> names = options_.api.methods;
  if (id.empty()) {
    nlohmann::json models = nlohmann::json::array({ModelJson(served)});
    for (const std::string& name : names) models.push_back(ModelJson(name));
    return Reply(*exchange, "models", 200,
                 JsonText({{"object", "list"}, {"data", models}}));
  }
  if (id == served ||
      std::find(names.begin(), names.end(), id) != names.end()) {
    return Reply(*exchange, "models", 200, JsonText(ModelJson(id)));
  }
  names.push_back(served);
  std::string text = absl::StrCat("no model \"", id.substr(0, 60), "\"");
  const std::string nearest =
      id.size() <= 256 ? NearestName(id, names) : std::string();
  if (!nearest.empty()) {
    absl::StrAppend(&text, ": did you mean \"", nearest, "\"?");
  }
  ReplyError(
      *exchange, "models",
      WithApiCode(absl::NotFoundError(text), "model_not_found", "model"));
}

void SearchServer::HandleSearch(const std::shared_ptr<HttpExchange>& exchange,
                                ApiKind kind, const std::string& path_method) {
  const absl::Status started = StartSearch(exchange, kind, path_method);
  if (started.ok()) return;
  ReplyError(*exchange, kind == ApiKind::kChat ? "chat" : "completions",
             started);
}

absl::Status SearchServer::StartSearch(
    const std::shared_ptr<HttpExchange>& exchange, ApiKind kind,
    const std::string& path_method) {
  ESP_ASSIGN_OR_RETURN(
      const ApiRequest request,
      ReadApiRequest(kind, path_method, exchange->TakeBody(), options_.api));
  ESP_ASSIGN_OR_RETURN(PutRequest put, tasks_.Put(request));
  const uint64_t number = next_number_++;
  const auto active = std::make_shared<Active>(request, number);
  active->verifier = put.verifier;
  active->exchange = exchange;
  active->last_sent = Clock::Real().Seconds();
  auto job = std::make_unique<SearchJob>(
      SearchJob{.problem = std::move(put.problem),
                .task = std::move(put.task),
                .options = request.search,
                .hooks = {.verifier = active->verifier->ForSearch(),
                          .stop = &active->stop,
                          .progress_interval = kProgressSeconds,
                          .background_checks = active->verifier->slow()}});
  if (request.stream && kind == ApiKind::kChat) {
    job->hooks.on_progress = [this, active](size_t,
                                            const SearchSnapshot& shot) {
      http_->Post(
          [this, active, steps = shot.steps] { ShowProgress(active, steps); });
    };
  }
  job->on_done = [this, active, number](SearchResult result) {
    const auto kept = std::make_shared<SearchResult>(std::move(result));
    http_->Post([this, active, number, kept] {
      if (active_.count(number) > 0) Finish(active, *kept);
    });
  };
  // Before the engine can answer.
  active_[number] = active;
  if (!inbox_.Put(number, std::move(job))) {
    active_.erase(number);
    return absl::ResourceExhaustedError(absl::StrCat(
        options_.queue, " requests are waiting already; come back later"));
  }
  exchange->OnGone([this, number] { Gone(number); });
  return absl::OkStatus();
}

void SearchServer::ShowProgress(const std::shared_ptr<Active>& active,
                                const std::vector<TreeNode>& steps) {
  if (active->stop || active->finished ||
      active->exchange->unsent() > kMostUnsent) {
    return;
  }
  active->Begin(*active->exchange);
  const std::string shown = active->reply.Reasoning(steps);
  if (shown.empty()) return;
  active->last_sent = Clock::Real().Seconds();
  active->exchange->Send(shown);
}

void SearchServer::Finish(const std::shared_ptr<Active>& active,
                          const SearchResult& result) {
  active_.erase(active->number);
  active->finished = true;
  // The engine's thread may be the last to hold the rest.
  const std::shared_ptr<HttpExchange> exchange = std::move(active->exchange);
  const absl::Status status = ForClients(result.status);
  if (status.code() != result.status.code() ||
      status.code() == absl::StatusCode::kUnavailable) {
    if (options_.log) options_.log(std::string(result.status.message()));
  }
  if (status.ok()) {
    metrics_.CountSearch(result);
  }
  if (active->gone) return;
  if (!active->stream || (!status.ok() && !active->begun)) {
    if (!status.ok()) return ReplyError(*exchange, active->endpoint(), status);
    return Reply(*exchange, active->endpoint(), 200,
                 active->reply.Whole(result));
  }
  active->Begin(*exchange);
  metrics_.CountRequest(active->endpoint(), 200);
  exchange->Send(status.ok() ? active->reply.Rest(result)
                             : Event(ErrorJson(status)));
  exchange->End();
}

void SearchServer::Gone(uint64_t number) {
  const auto it = active_.find(number);
  if (it == active_.end()) return;
  const std::shared_ptr<Active> active = it->second;
  metrics_.CountCancelled();
  active->gone = true;
  active->stop = true;
  if (inbox_.Take(number) != nullptr) active_.erase(number);
}

}  // namespace espalier
