#include "models/remote/http_client.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "models/remote/retry_after.h"
#include "models/remote/server_message.h"

namespace espalier {
namespace {

// Bytes that a reply's head may have, with those of interim replies and
// trailers. libcurl itself takes up to 100 kB of one line and 300 in all.
constexpr size_t kLongestHead = size_t{256} << 10;
// Of one read from a socket.
constexpr long kReadBytes = 64L << 10;
// Replies that one Take returns: what follows from the first is asked for
// while others wait.
constexpr size_t kMostAtOnce = 8;

// Of one server.
curl_slist* HeadersFor(const Endpoint& endpoint) {
  curl_slist* headers = nullptr;
  const auto add = [&headers](const std::string& line) {
    headers = curl_slist_append(headers, line.c_str());
  };
  add("Accept: application/json");
  add("Content-Type: application/json");
  add("Expect:");  // large bodies are not announced
  if (!endpoint.key.empty()) {
    add(absl::StrCat("Authorization: Bearer ", endpoint.key));
  }
  return headers;
}

// What a failed request means. `detail`: libcurl's own words.
absl::Status ErrorOf(CURLcode error, const HttpOptions& options,
                     const std::string& url, const std::string& detail) {
  switch (error) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return absl::UnavailableError(
          absl::StrCat(url, ": cannot find a machine of this name"));
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

class HttpClient::Impl {
 public:
  explicit Impl(const HttpOptions& options)
      : options_(options), poll_(epoll_create1(EPOLL_CLOEXEC)) {
    static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (global == CURLE_OK) multi_ = curl_multi_init();
    if (multi_ == nullptr) return;
    SetMulti(CURLMOPT_SOCKETFUNCTION, &WatchSocket);
    SetMulti(CURLMOPT_SOCKETDATA, this);
    SetMulti(CURLMOPT_TIMERFUNCTION, &SetTimer);
    SetMulti(CURLMOPT_TIMERDATA, this);
    SetMulti(CURLMOPT_MAXCONNECTS, 1L << 16);
    SetMulti(CURLMOPT_PIPELINING, long{CURLPIPE_NOTHING});
  }
  ~Impl() {
    for (auto& [id, transfer] : transfers_) {
      curl_multi_remove_handle(multi_, transfer->easy);
    }
    transfers_.clear();
    unused_.clear();
    curl_multi_cleanup(multi_);
    for (auto& [endpoint, headers] : headers_) curl_slist_free_all(headers);
    if (poll_ >= 0) close(poll_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Start(Request request) {
    std::unique_ptr<Transfer> made;
    if (unused_.empty()) {
      made = NewTransfer();
    } else {
      made = std::move(unused_.back());
      unused_.pop_back();
    }
    Transfer& transfer = *made;
    transfer.Begin(std::move(request));
    transfer.moved_at = Clock::Real().Seconds();
    const uint64_t id = transfer.request.id;
    ESP_CHECK(transfers_.emplace(id, std::move(made)).second);
    if (multi_ == nullptr || poll_ < 0 || transfer.easy == nullptr) {
      End(id, absl::UnavailableError(absl::StrCat(
                  transfer.Url(), ": too few files or too little memory")));
      return;
    }
    silence_at_ =
        std::min(silence_at_, transfer.moved_at + options_.read_seconds);
    Prepare(transfer);
    curl_multi_add_handle(multi_, transfer.easy);
    Act(CURL_SOCKET_TIMEOUT, 0);
  }

  void Cancel(uint64_t id) {
    std::erase_if(ended_, [id](const Ended& e) { return e.id == id; });
    Remove(id);
  }

  std::vector<Ended> Take(double seconds) {
    const Clock& clock = Clock::Real();
    const double until = clock.Seconds() + seconds;
    for (bool first = true;; first = false) {
      const double now = clock.Seconds();
      if (now >= silence_at_) EndSilent(now);
      if (!ended_.empty()) break;
      if (!first && now >= until) break;
      Poll(std::max(0.0, std::min({until, timer_at_, silence_at_}) - now));
      if (clock.Seconds() >= timer_at_) Act(CURL_SOCKET_TIMEOUT, 0);
    }
    std::vector<Ended> out;
    while (!ended_.empty() && out.size() < kMostAtOnce) {
      out.push_back(std::move(ended_.front()));
      ended_.pop_front();
    }
    return out;
  }

  void KeepIdle(bool keep) { keep_idle_ = keep; }

 private:
  // A request under way, or a handle for a later one.
  struct Transfer {
    Impl* client = nullptr;
    CURL* easy = nullptr;
    Request request;
    curl_socket_t socket = CURL_SOCKET_BAD;  // watched for it
    std::string body;
    std::string retry_after, date;  // the header fields
    size_t head_bytes = 0;
    bool head_ended = false;  // of the reply that comes, not of interim ones
    bool too_long = false;
    bool closes = false;  // the connection, after this reply
    double moved_at = 0;  // when the last bytes came
    char detail[CURL_ERROR_SIZE] = "";

    ~Transfer() { curl_easy_cleanup(easy); }

    void Begin(Request of) {
      request = std::move(of);
      socket = CURL_SOCKET_BAD;
      body.clear();
      retry_after.clear();
      date.clear();
      head_bytes = 0;
      head_ended = too_long = closes = false;
      detail[0] = 0;
    }
    std::string Url() const { return request.endpoint->Url() + request.path; }
  };

  // --- What libcurl calls ---

  // CURLOPT_HEADERFUNCTION: one line, with its end.
  static size_t TakeHeader(char* data, size_t, size_t size, void* to) {
    auto& transfer = *static_cast<Transfer*>(to);
    transfer.moved_at = Clock::Real().Seconds();
    transfer.head_bytes += size;
    transfer.too_long = transfer.head_bytes > kLongestHead;
    if (transfer.too_long) return 0;
    const absl::string_view line(data, size);
    const size_t colon = line.find(':');
    if (colon != line.npos) {
      const absl::string_view name = line.substr(0, colon);
      const absl::string_view value =
          absl::StripAsciiWhitespace(line.substr(colon + 1));
      if (absl::EqualsIgnoreCase(name, "retry-after"))
        transfer.retry_after = std::string(value);
      if (absl::EqualsIgnoreCase(name, "date"))
        transfer.date = std::string(value);
    } else if (absl::StartsWith(line, "HTTP/")) {
      transfer.head_ended = false;
    } else if (line == "\r\n" || line == "\n") {
      transfer.client->EndHead(transfer);
    }
    return size;
  }

  // CURLOPT_WRITEFUNCTION.
  static size_t TakeBody(char* data, size_t, size_t size, void* to) {
    auto& transfer = *static_cast<Transfer*>(to);
    transfer.moved_at = Clock::Real().Seconds();
    transfer.too_long =
        transfer.body.size() + size > transfer.client->options_.max_bytes;
    if (transfer.too_long) return 0;
    transfer.body.append(data, size);
    return size;
  }

  // CURLOPT_OPENSOCKETFUNCTION. Programs that are started meanwhile do not
  // inherit the connection.
  static curl_socket_t OpenSocket(void*, curlsocktype, curl_sockaddr* address) {
    const int made = socket(address->family, address->socktype | SOCK_CLOEXEC,
                            address->protocol);
    return made < 0 ? CURL_SOCKET_BAD : made;
  }

  // CURLOPT_CLOSESOCKETFUNCTION.
  static int CloseSocket(void* to, curl_socket_t socket) {
    ++static_cast<Impl*>(to)->closed_;
    return close(socket);
  }

  // CURLMOPT_SOCKETFUNCTION.
  static int WatchSocket(CURL* easy, curl_socket_t socket, int what, void* to,
                         void* watched) {
    auto& client = *static_cast<Impl*>(to);
    if (what == CURL_POLL_REMOVE) {
      epoll_ctl(client.poll_, EPOLL_CTL_DEL, socket, nullptr);
      return 0;
    }
    Transfer* transfer = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    if (transfer != nullptr) transfer->socket = socket;
    epoll_event event = {};
    if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
    if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
    event.data.fd = socket;
    // A closed socket's number may be another's now.
    const int first = watched == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    const int second = watched == nullptr ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(client.poll_, first, socket, &event) != 0) {
      epoll_ctl(client.poll_, second, socket, &event);
    }
    curl_multi_assign(client.multi_, socket, &client);
    return 0;
  }

  // CURLMOPT_TIMERFUNCTION.
  static int SetTimer(CURLM*, long ms, void* to) {
    static_cast<Impl*>(to)->timer_at_ =
        ms < 0 ? HUGE_VAL
               : Clock::Real().Seconds() + 1e-3 * static_cast<double>(ms);
    return 0;
  }

  // --- One request ---

  template <class T>
  void SetMulti(CURLMoption option, T value) {
    curl_multi_setopt(multi_, option, value);
  }

  std::unique_ptr<Transfer> NewTransfer() {
    auto made = std::make_unique<Transfer>();
    made->client = this;
    made->easy = curl_easy_init();
    if (made->easy == nullptr) return made;
    const auto set = [&](CURLoption option, auto value) {
      curl_easy_setopt(made->easy, option, value);
    };
    set(CURLOPT_PRIVATE, made.get());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
    // Asks for no compression, and reads it nevertheless.
    set(CURLOPT_ACCEPT_ENCODING, "identity");
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_PROXY, "");  // no proxy, whatever the environment says
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_BUFFERSIZE, kReadBytes);
    set(CURLOPT_CONNECTTIMEOUT_MS,
        static_cast<long>(options_.connect_seconds * 1e3));
    // As OpenSSL's programs find authorities.
    if (const char* file = std::getenv("SSL_CERT_FILE")) {
      set(CURLOPT_CAINFO, file);
    }
    if (const char* folder = std::getenv("SSL_CERT_DIR")) {
      set(CURLOPT_CAPATH, folder);
    }
    set(CURLOPT_ERRORBUFFER, made->detail);
    set(CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
    set(CURLOPT_CLOSESOCKETFUNCTION, &CloseSocket);
    set(CURLOPT_CLOSESOCKETDATA, this);
    set(CURLOPT_HEADERFUNCTION, &TakeHeader);
    set(CURLOPT_HEADERDATA, made.get());
    set(CURLOPT_WRITEFUNCTION, &TakeBody);
    set(CURLOPT_WRITEDATA, made.get());
    return made;
  }

  void Prepare(Transfer& transfer) {
    curl_slist*& headers = headers_[transfer.request.endpoint];
    if (headers == nullptr) headers = HeadersFor(*transfer.request.endpoint);
    const auto set = [&](CURLoption option, auto value) {
      curl_easy_setopt(transfer.easy, option, value);
    };
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_URL, transfer.Url().c_str());
    set(CURLOPT_FORBID_REUSE, 0L);
    const std::string& body = transfer.request.body;
    if (body.empty()) {
      set(CURLOPT_HTTPGET, 1L);
    } else {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDS, body.data());
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    }
  }

  void EndHead(Transfer& transfer) {
    transfer.head_ended = true;
    if (!keep_idle_) {
      transfer.closes = true;
      curl_easy_setopt(transfer.easy, CURLOPT_FORBID_REUSE, 1L);
    }
    // llama-server sends the head by itself and, by Nagle's algorithm, the body
    // only once the head is acknowledged, which Linux delays by 40 ms.
    const int on = 1;
    setsockopt(transfer.socket, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
  }

  absl::StatusOr<HttpReply> ReplyOf(Transfer& transfer, CURLcode error) {
    if (transfer.too_long) {
      return absl::ResourceExhaustedError(
          transfer.head_bytes > kLongestHead
              ? absl::StrCat(transfer.Url(),
                             ": the reply's head is longer than ",
                             kLongestHead >> 10, " KiB")
              : absl::StrCat(transfer.Url(), ": the reply is longer than ",
                             options_.max_bytes >> 20, " MiB"));
    }
    // libcurl takes a head that ends early for a whole one.
    if (error == CURLE_OK && !transfer.head_ended) {
      return ErrorOf(CURLE_PARTIAL_FILE, options_, transfer.Url(),
                     "within its head");
    }
    if (error != CURLE_OK) {
      const std::string detail =
          transfer.detail[0] == 0 ? curl_easy_strerror(error) : transfer.detail;
      return ErrorOf(error, options_, transfer.Url(),
                     ServerMessage(detail, transfer.request.endpoint->key));
    }
    HttpReply reply;
    long status = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
    reply.body = std::move(transfer.body);
    reply.retry_after = RetryAfterSeconds(transfer.retry_after, transfer.date);
    if (transfer.closes) --closed_;
    reply.reconnected = std::exchange(closed_, 0) > 0;
    return reply;
  }

  // The request is under way no longer.
  void Remove(uint64_t id) {
    auto found = transfers_.extract(id);
    if (found.empty()) return;
    const int64_t closed = closed_;
    curl_multi_remove_handle(multi_, found.mapped()->easy);
    closed_ = closed;  // no server did it
    unused_.push_back(std::move(found.mapped()));
  }
  void End(uint64_t id, absl::StatusOr<HttpReply> reply) {
    Remove(id);
    ended_.push_back({id, std::move(reply)});
  }

  // --- All requests ---

  void Act(curl_socket_t socket, int events) {
    if (socket == CURL_SOCKET_TIMEOUT) timer_at_ = HUGE_VAL;
    int running = 0;
    curl_multi_socket_action(multi_, socket, events, &running);
    ReadMessages();
  }

  // Waits for bytes and takes them.
  void Poll(double seconds) {
    std::array<epoll_event, 64> events;
    const int ms = static_cast<int>(std::min(std::ceil(seconds * 1e3), 60e3));
    const int n =
        epoll_wait(poll_, events.data(), static_cast<int>(events.size()), ms);
    for (int i = 0; i < n; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      int what = 0;
      if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
      if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
      if ((event.events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
      Act(event.data.fd, what);
    }
  }

  void ReadMessages() {
    int more = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &more)) {
      Transfer* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      const CURLcode result = message->data.result;
      End(transfer->request.id, ReplyOf(*transfer, result));
    }
  }

  // Ends the requests whose server has said nothing for too long.
  void EndSilent(double now) {
    silence_at_ = HUGE_VAL;
    std::vector<uint64_t> silent;
    for (const auto& [id, transfer] : transfers_) {
      const double at = transfer->moved_at + options_.read_seconds;
      if (at <= now) {
        silent.push_back(id);
      } else {
        silence_at_ = std::min(silence_at_, at);
      }
    }
    for (const uint64_t id : silent) {
      End(id, absl::UnavailableError(
                  absl::StrCat(transfers_[id]->Url(), ": no byte came for ",
                               options_.read_seconds, " s")));
    }
  }

  const HttpOptions options_;
  const int poll_;
  CURLM* multi_ = nullptr;
  absl::flat_hash_map<const Endpoint*, curl_slist*> headers_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Transfer>> transfers_;
  std::vector<std::unique_ptr<Transfer>> unused_;
  std::deque<Ended> ended_;
  bool keep_idle_ = true;
  int64_t closed_ = 0;          // by others, since the last reply
  double timer_at_ = HUGE_VAL;  // when libcurl wants to act
  double silence_at_ = HUGE_VAL;
};

HttpClient::HttpClient(const HttpOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}

HttpClient::~HttpClient() = default;

void HttpClient::Start(Request request) { impl_->Start(std::move(request)); }

void HttpClient::Cancel(uint64_t id) { impl_->Cancel(id); }

std::vector<HttpClient::Ended> HttpClient::Take(double seconds) {
  return impl_->Take(seconds);
}

void HttpClient::KeepIdle(bool keep) { impl_->KeepIdle(keep); }

}  // namespace espalier
