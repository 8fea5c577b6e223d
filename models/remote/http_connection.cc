#include "models/remote/http_connection.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/parse_json.h"
#include "base/utf8.h"
#include "models/remote/retry_after.h"
#include "nlohmann/json.hpp"

namespace espalier {

// What is read of one reply.
struct ReplyReading {
  size_t most_bytes;  // of the body
  curl_socket_t socket = CURL_SOCKET_BAD;
  int opened = 0;  // connections
  std::string body;
  std::string retry_after, date;  // the header fields
  size_t head_bytes = 0;
  bool head_ended = false;  // of the reply that comes, not of interim ones
  bool too_long = false;
  bool moved = false;  // since this was last made false
};

namespace {

// Bytes that a reply's head may have, with those of interim replies and
// trailers. libcurl itself takes up to 100 kB of one line and 300 in all.
constexpr size_t kLongestHead = size_t{256} << 10;
// Of one read from the socket.
constexpr int64_t kReadBytes = int64_t{64} << 10;

// libcurl's CURLOPT_HEADERFUNCTION: one line, with its end.
size_t TakeHeader(char* data, size_t, size_t size, void* to) {
  auto& reading = *static_cast<ReplyReading*>(to);
  reading.moved = true;
  reading.head_bytes += size;
  reading.too_long = reading.head_bytes > kLongestHead;
  if (reading.too_long) return 0;
  const absl::string_view line(data, size);
  const size_t colon = line.find(':');
  if (colon != line.npos) {
    const absl::string_view name = line.substr(0, colon);
    const absl::string_view value =
        absl::StripAsciiWhitespace(line.substr(colon + 1));
    if (absl::EqualsIgnoreCase(name, "retry-after"))
      reading.retry_after = std::string(value);
    if (absl::EqualsIgnoreCase(name, "date")) reading.date = std::string(value);
  } else if (absl::StartsWith(line, "HTTP/")) {
    reading.head_ended = false;
  } else if (line == "\r\n" || line == "\n") {
    reading.head_ended = true;
    // llama-server sends the head by itself and, by Nagle's algorithm, the body
    // only once the head is acknowledged, which Linux delays by 40 ms.
    const int on = 1;
    setsockopt(reading.socket, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
  }
  return size;
}

// libcurl's CURLOPT_WRITEFUNCTION.
size_t TakeBody(char* data, size_t, size_t size, void* to) {
  auto& reading = *static_cast<ReplyReading*>(to);
  reading.moved = true;
  reading.too_long = reading.body.size() + size > reading.most_bytes;
  if (reading.too_long) return 0;
  reading.body.append(data, size);
  return size;
}

// libcurl's CURLOPT_OPENSOCKETFUNCTION. Programs that are started meanwhile do
// not inherit the connection.
curl_socket_t OpenSocket(void* to, curlsocktype, curl_sockaddr* address) {
  const int made = socket(address->family, address->socktype | SOCK_CLOEXEC,
                          address->protocol);
  auto& reading = *static_cast<ReplyReading*>(to);
  reading.socket = made;
  ++reading.opened;
  return made < 0 ? CURL_SOCKET_BAD : made;
}

// What a failed request means. `detail`: libcurl's own words.
absl::Status ErrorOf(CURLcode error, const HttpOptions& options,
                     const std::string& url, const std::string& detail) {
  switch (error) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
      return absl::UnavailableError(
          absl::StrCat(url, ": cannot connect; is the server running there?"));
    case CURLE_OPERATION_TIMEDOUT:
      return absl::UnavailableError(absl::StrCat(
          url, ": no connection within ", options.connect_seconds, " s"));
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return absl::UnavailableError(absl::StrCat(
          url, ": the connection ended before the reply did: ", detail));
    case CURLE_OUT_OF_MEMORY:
      return absl::UnavailableError(
          absl::StrCat(url, ": a line of the reply's head is too long"));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return absl::UnauthenticatedError(absl::StrCat(
          url,
          ": the server's certificate is not valid for it (expired, of "
          "another host, or of an authority that this machine does not "
          "trust)"));
    case CURLE_SSL_CONNECT_ERROR:
      return absl::UnavailableError(absl::StrCat(
          url, ": no TLS connection; does the server speak https?"));
    default:
      return absl::UnavailableError(
          absl::StrCat(url, ": not a reply by HTTP: ", detail));
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
  Client(const Endpoint& endpoint, const HttpOptions& options)
      : read_seconds_(options.read_seconds) {
    static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (global == CURLE_OK) easy_ = curl_easy_init();
    multi_ = curl_multi_init();
    if (easy_ == nullptr || multi_ == nullptr) return;
    AddHeader("Accept: application/json");
    AddHeader("Content-Type: application/json");
    AddHeader("Expect:");  // large bodies are not announced
    if (!endpoint.key.empty()) {
      AddHeader(absl::StrCat("Authorization: Bearer ", endpoint.key));
    }
    Set(CURLOPT_HTTPHEADER, headers_);
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
    // Asks for no compression, and reads it nevertheless.
    Set(CURLOPT_ACCEPT_ENCODING, "identity");
    Set(CURLOPT_PATH_AS_IS, 1L);
    Set(CURLOPT_PROXY, "");  // no proxy, whatever the environment says
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_BUFFERSIZE, long{kReadBytes});
    Set(CURLOPT_CONNECTTIMEOUT_MS,
        static_cast<long>(options.connect_seconds * 1e3));
    // As OpenSSL's programs find authorities.
    if (const char* file = std::getenv("SSL_CERT_FILE")) {
      Set(CURLOPT_CAINFO, file);
    }
    if (const char* folder = std::getenv("SSL_CERT_DIR")) {
      Set(CURLOPT_CAPATH, folder);
    }
    Set(CURLOPT_ERRORBUFFER, detail_);
    Set(CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
    Set(CURLOPT_OPENSOCKETDATA, &reading_);
    Set(CURLOPT_HEADERFUNCTION, &TakeHeader);
    Set(CURLOPT_HEADERDATA, &reading_);
    Set(CURLOPT_WRITEFUNCTION, &TakeBody);
    Set(CURLOPT_WRITEDATA, &reading_);
    reading_.most_bytes = options.max_bytes;
  }
  ~Client() {
    curl_easy_cleanup(easy_);
    curl_multi_cleanup(multi_);
    curl_slist_free_all(headers_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Stop() {
    stopped_ = true;
    curl_multi_wakeup(multi_);
  }
  bool stopped() const { return stopped_; }

  // Sends a request and waits for its end. "" as `body`: GET.
  CURLcode Send(const std::string& url, const std::string& body) {
    if (easy_ == nullptr || multi_ == nullptr) return CURLE_FAILED_INIT;
    reading_.body.clear();
    reading_.retry_after.clear();
    reading_.date.clear();
    reading_.head_bytes = 0;
    reading_.head_ended = reading_.too_long = silent_ = false;
    detail_[0] = 0;
    Set(CURLOPT_URL, url.c_str());
    if (body.empty()) {
      Set(CURLOPT_HTTPGET, 1L);
    } else {
      Set(CURLOPT_POST, 1L);
      Set(CURLOPT_POSTFIELDS, body.data());
      Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    }
    curl_multi_add_handle(multi_, easy_);
    const CURLcode result = Wait();
    curl_multi_remove_handle(multi_, easy_);
    return result;
  }

  ReplyReading& reading() { return reading_; }
  // Whether the last request ended since no byte came.
  bool silent() const { return silent_; }
  // What libcurl says of the failure `error`.
  std::string Detail(CURLcode error) const {
    return detail_[0] == 0 ? curl_easy_strerror(error) : detail_;
  }
  int status() const {
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }

 private:
  template <class T>
  void Set(CURLoption option, T value) {
    curl_easy_setopt(easy_, option, value);
  }
  void AddHeader(const std::string& line) {
    headers_ = curl_slist_append(headers_, line.c_str());
  }

  CURLcode Wait() {
    double last = Clock::Real().Seconds();
    for (;;) {
      int running = 0;
      if (curl_multi_perform(multi_, &running) != CURLM_OK) {
        return CURLE_FAILED_INIT;
      }
      if (running == 0) break;
      if (stopped_) return CURLE_ABORTED_BY_CALLBACK;
      const double now = Clock::Real().Seconds();
      if (std::exchange(reading_.moved, false)) last = now;
      const double left = last + read_seconds_ - now;
      silent_ = left <= 0;
      if (silent_) return CURLE_ABORTED_BY_CALLBACK;
      // Stop ends the wait.
      const int ms = static_cast<int>(std::min(left * 1e3 + 1, 60e3));
      curl_multi_poll(multi_, nullptr, 0, ms, nullptr);
    }
    int more = 0;
    const CURLMsg* const message = curl_multi_info_read(multi_, &more);
    return message == nullptr ? CURLE_FAILED_INIT : message->data.result;
  }

  const double read_seconds_;
  CURL* easy_ = nullptr;
  CURLM* multi_ = nullptr;
  curl_slist* headers_ = nullptr;
  ReplyReading reading_{};
  char detail_[CURL_ERROR_SIZE] = "";
  bool silent_ = false;
  std::atomic<bool> stopped_ = false;
};

HttpConnection::HttpConnection(const Endpoint& endpoint,
                               const HttpOptions& options)
    : endpoint_(endpoint),
      options_(options),
      client_(std::make_unique<Client>(endpoint, options)) {}

HttpConnection::~HttpConnection() = default;

absl::StatusOr<HttpReply> HttpConnection::Get(const std::string& path) {
  return Send(path, "");
}

absl::StatusOr<HttpReply> HttpConnection::Post(const std::string& path,
                                               const std::string& json) {
  return Send(path, json);
}

void HttpConnection::Stop() { client_->Stop(); }

absl::StatusOr<HttpReply> HttpConnection::Send(const std::string& path,
                                               const std::string& body) {
  const std::string url = endpoint_.Url() + path;
  if (client_->stopped()) return absl::CancelledError(url + ": cancelled");
  const int opened = client_->reading().opened;
  const CURLcode error = client_->Send(url, body);
  ReplyReading& reading = client_->reading();
  if (client_->stopped()) return absl::CancelledError(url + ": cancelled");
  if (reading.too_long) {
    return absl::ResourceExhaustedError(
        reading.head_bytes > kLongestHead
            ? absl::StrCat(url, ": the reply's head is longer than ",
                           kLongestHead >> 10, " KiB")
            : absl::StrCat(url, ": the reply is longer than ",
                           options_.max_bytes >> 20, " MiB"));
  }
  if (client_->silent()) {
    return absl::UnavailableError(
        absl::StrCat(url, ": no byte came for ", options_.read_seconds, " s"));
  }
  // libcurl takes a head that ends early for a whole one.
  if (error == CURLE_OK && !reading.head_ended) {
    return ErrorOf(CURLE_PARTIAL_FILE, options_, url, "within its head");
  }
  if (error != CURLE_OK) {
    return ErrorOf(error, options_, url,
                   ServerMessage(client_->Detail(error), endpoint_.key));
  }
  HttpReply reply;
  reply.status = client_->status();
  reply.body = std::move(reading.body);
  reply.retry_after = RetryAfterSeconds(reading.retry_after, reading.date);
  reply.reconnected = opened > 0 && reading.opened > opened;
  return reply;
}

}  // namespace espalier
