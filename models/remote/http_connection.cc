#include "models/remote/http_connection.h"

#include <httplib.h>
#include <netinet/tcp.h>

#include <atomic>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/parse_json.h"
#include "base/utf8.h"
#include "models/remote/retry_after.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

void SetSeconds(double seconds, const auto& set) {
  const auto whole = static_cast<time_t>(seconds);
  set(whole, static_cast<time_t>((seconds - static_cast<double>(whole)) * 1e6));
}

// What a failed request means; `limit_passed`: its reply was too long.
absl::Status ErrorOf(httplib::Error error, const HttpOptions& options,
                     const std::string& url, bool limit_passed) {
  if (limit_passed) {
    return absl::ResourceExhaustedError(absl::StrCat(
        url, ": the reply is longer than ", options.max_bytes >> 20, " MiB"));
  }
  switch (error) {
    case httplib::Error::Connection:
      return absl::UnavailableError(
          absl::StrCat(url, ": cannot connect; is the server running there?"));
    case httplib::Error::ConnectionTimeout:
      return absl::UnavailableError(absl::StrCat(
          url, ": no connection within ", options.connect_seconds, " s"));
    case httplib::Error::Read:
      return absl::UnavailableError(absl::StrCat(
          url,
          ": the connection ended before the reply did, or no byte came "
          "for ",
          options.read_seconds, " s"));
    case httplib::Error::SSLServerVerification:
    case httplib::Error::SSLLoadingCerts:
      return absl::UnauthenticatedError(absl::StrCat(
          url,
          ": the server's certificate is not valid for it (expired, of "
          "another host, or of an authority that this machine does not "
          "trust)"));
    case httplib::Error::SSLConnection:
      return absl::UnavailableError(absl::StrCat(
          url, ": no TLS connection; does the server speak https?"));
    default:
      return absl::UnavailableError(
          absl::StrCat(url, ": ", httplib::to_string(error)));
  }
}

}  // namespace

std::string ServerMessage(const std::string& body, const std::string& key) {
  constexpr size_t kLongest = 400;
  const nlohmann::json json = ParseJsonOrNull(body);
  std::string text = body;
  if (json.is_object()) {
    const nlohmann::json* at = &json;
    if (json.contains("error")) at = &json["error"];
    for (const char* field : {"message", "detail"}) {
      if (at->is_object() && at->contains(field)) {
        at = &(*at)[field];
        break;
      }
    }
    if (at->is_string()) text = at->get<std::string>();
  }
  if (!key.empty()) text = absl::StrReplaceAll(text, {{key, "(key)"}});
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Char c = NextUtf8(rest);
    if (out.size() + c.size > kLongest) {
      out.append("...");
      break;
    }
    const bool shown = c.valid && c.code >= ' ' && c.code != 0x7f &&
                       !(c.code >= 0x80 && c.code < 0xa0) && !MovesText(c.code);
    if (shown) {
      out.append(rest.substr(0, c.size));
    } else {
      out.push_back(' ');
    }
    rest.remove_prefix(c.size);
  }
  return out;
}

class HttpConnection::Client {
 public:
  explicit Client(const Endpoint& endpoint)
      : http(absl::StrCat(endpoint.https ? "https://" : "http://",
                          endpoint.host.find(':') == std::string::npos
                              ? endpoint.host
                              : absl::StrCat("[", endpoint.host, "]"),
                          ":", endpoint.port)) {}

  httplib::Client http;
  std::atomic<bool> stopped = false;
};

HttpConnection::HttpConnection(const Endpoint& endpoint,
                               const HttpOptions& options)
    : endpoint_(endpoint),
      options_(options),
      client_(std::make_unique<Client>(endpoint)) {
  httplib::Client& http = client_->http;
  http.set_keep_alive(true);
  http.set_tcp_nodelay(true);
  http.set_url_encode(false);
  SetSeconds(options.connect_seconds,
             [&](time_t s, time_t us) { http.set_connection_timeout(s, us); });
  SetSeconds(options.read_seconds, [&](time_t s, time_t us) {
    http.set_read_timeout(s, us);
    http.set_write_timeout(s, us);
  });
  // Stop finds no socket to close if it comes just before a request makes one:
  // that one then waits for no reply.
  http.set_socket_options([client = client_.get()](socket_t) {
    if (client->stopped) client->http.set_read_timeout(0, 0);
  });
  if (endpoint.https) {
    http.enable_server_certificate_verification(true);
    // The library's own comparison takes a common name beside other names, and
    // "*" for any host.
    X509_VERIFY_PARAM* const names = SSL_CTX_get0_param(http.ssl_context());
    X509_VERIFY_PARAM_set_hostflags(names,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_ip_asc(names, endpoint.host.c_str()) != 1) {
      X509_VERIFY_PARAM_set1_host(names, endpoint.host.c_str(), 0);
    }
  }
  if (!endpoint.key.empty()) http.set_bearer_token_auth(endpoint.key);
}

HttpConnection::~HttpConnection() = default;

absl::StatusOr<HttpReply> HttpConnection::Get(const std::string& path) {
  return Send("GET", path, "");
}

absl::StatusOr<HttpReply> HttpConnection::Post(const std::string& path,
                                               const std::string& json) {
  return Send("POST", path, json);
}

void HttpConnection::Stop() {
  client_->stopped = true;
  client_->http.stop();
}

absl::StatusOr<HttpReply> HttpConnection::Send(const char* method,
                                               const std::string& path,
                                               const std::string& body) {
  const std::string url = endpoint_.Url() + path;
  if (client_->stopped) return absl::CancelledError(url + ": cancelled");
  HttpReply reply;
  bool limit_passed = false;
  httplib::Request request;
  request.method = method;
  request.path = endpoint_.path + path;
  request.headers.emplace("Accept", "application/json");
  if (!body.empty()) {
    request.body = body;
    request.headers.emplace("Content-Type", "application/json");
  }
  // llama-server sends the head by itself and, by Nagle's algorithm, the body
  // only once the head is acknowledged, which Linux delays by 40 ms.
  request.response_handler = [&](const httplib::Response&) {
    const int on = 1;
    setsockopt(client_->http.socket(), IPPROTO_TCP, TCP_QUICKACK, &on,
               sizeof(on));
    return true;
  };
  request.content_receiver = [&](const char* data, size_t size, uint64_t,
                                 uint64_t) {
    limit_passed = reply.body.size() + size > options_.max_bytes;
    if (!limit_passed) reply.body.append(data, size);
    return !limit_passed;
  };
  const httplib::Result result = client_->http.send(request);
  if (client_->stopped) return absl::CancelledError(url + ": cancelled");
  if (!result) return ErrorOf(result.error(), options_, url, limit_passed);
  reply.status = result->status;
  reply.retry_after = RetryAfterSeconds(result->get_header_value("Retry-After"),
                                        result->get_header_value("Date"));
  return reply;
}

}  // namespace espalier
