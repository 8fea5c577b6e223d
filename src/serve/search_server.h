// Search behind an endpoint that speaks the OpenAI API.
//
//   SearchServer server(*engine, tasks, options);
//   ESP_RETURN_IF_ERROR(server.Listen(http));
//   std::printf("http://127.0.0.1:%d/v1\n", server.port());
//   server.Run(StopRequested());
//
// One thread reads requests and writes replies, another one runs the engine;
// searches of all requests share its batches. Requests know nothing of each
// other: the same request with the same seed gets the same answer whatever else
// is asked.
#ifndef ESPALIER_SRC_SERVE_SEARCH_SERVER_H_
#define ESPALIER_SRC_SERVE_SEARCH_SERVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "espalier/engine.h"
#include "src/serve/api_request.h"
#include "src/serve/http_server.h"
#include "src/serve/request_tasks.h"
#include "src/serve/search_inbox.h"
#include "src/serve/serve_metrics.h"

namespace espalier {

struct SearchServerOptions {
  ApiDefaults api;
  std::string key = {};  // "": none is needed
  size_t queue = 256;    // requests that may wait for a search
  double drain_seconds = 30;
  double ping_seconds = 10;
  // Called with what the operator should know and clients should not: why a
  // model's server does not answer. May be empty.
  std::function<void(const std::string&)> log = {};
};

class SearchServer {
 public:
  // `engine` outlives the server.
  SearchServer(Engine& engine, RequestTasks tasks, SearchServerOptions options);
  ~SearchServer();

  // Why requests that name neither method nor budget could not be served.
  absl::Status CheckDefaults() const;
  absl::Status Listen(const HttpServerOptions& options);
  int port() const { return http_->port(); }
  // Serves until `stop` is set and the searches under way have ended, or have
  // been stopped because the time to drain is over. Meanwhile /health and
  // further requests are answered 503.
  void Run(const std::atomic<bool>& stop);

 private:
  // A request of a search.
  struct Active;

  void Handle(std::shared_ptr<HttpExchange> exchange);
  void HandleModels(const std::shared_ptr<HttpExchange>& exchange,
                    const std::string& id);
  void HandleSearch(const std::shared_ptr<HttpExchange>& exchange, ApiKind kind,
                    const std::string& path_method);
  absl::Status StartSearch(const std::shared_ptr<HttpExchange>& exchange,
                           ApiKind kind, const std::string& path_method);
  void ShowProgress(const std::shared_ptr<Active>& active,
                    const std::vector<TreeNode>& steps);
  void Finish(const std::shared_ptr<Active>& active,
              const SearchResult& result);
  void Gone(uint64_t number);
  // Once in a while: pings, and the end.
  void Tick(const std::atomic<bool>& stop);
  // The error of a request without the key; "" if it may go on.
  std::string CheckHead(const HttpRequest& head);
  void Reply(HttpExchange& exchange, const char* endpoint, int status,
             std::string body, std::string_view type = "application/json",
             std::string_view headers = "");
  void ReplyError(HttpExchange& exchange, const char* endpoint,
                  const absl::Status& error);

  Engine& engine_;
  const RequestTasks tasks_;
  const SearchServerOptions options_;
  SearchInbox inbox_;
  std::unique_ptr<HttpServer> http_;
  ServeMetrics metrics_;
  uint64_t next_number_ = 1;
  std::map<uint64_t, std::shared_ptr<Active>> active_;  // by number
  // Seconds of the real clock, -1: not yet. When the stop was seen, and when
  // after it no search was left.
  double stop_seen_ = -1, idle_since_ = -1;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_SERVE_SEARCH_SERVER_H_
