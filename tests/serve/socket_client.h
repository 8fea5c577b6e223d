// A plain HTTP client for tests: bytes out, bytes in.
#ifndef ESPALIER_TESTS_SERVE_SOCKET_CLIENT_H_
#define ESPALIER_TESTS_SERVE_SOCKET_CLIENT_H_

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace espalier {

class SocketClient {
 public:
  explicit SocketClient(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit = {.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address),
                         sizeof(address)) == 0;
  }
  ~SocketClient() { Close(); }
  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;

  bool connected() const { return connected_; }
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  // What has come once it contains `mark`, or all until the server closes.
  std::string ReadUntil(std::string_view mark) {
    while (got_.find(mark) == std::string::npos || mark.empty()) {
      char bytes[4096];
      const ssize_t size = recv(fd_, bytes, sizeof(bytes), 0);
      if (size <= 0) break;
      got_.append(bytes, static_cast<size_t>(size));
    }
    return got_;
  }
  std::string ReadAll() { return ReadUntil(""); }

  // Sends a request and reads its whole reply: the status line, headers and
  // body.
  std::string Ask(std::string_view method, std::string_view target,
                  std::string_view body = "", std::string_view headers = "") {
    got_.clear();
    std::string request;
    for (const std::string_view part :
         {method, std::string_view(" "), target,
          std::string_view(" HTTP/1.1\r\nHost: x\r\n"), headers}) {
      request += part;
    }
    if (!body.empty()) {
      absl::StrAppend(&request, "Content-Length: ", body.size(), "\r\n");
    }
    Send(request.append("\r\n").append(body));
    const std::string head = ReadUntil("\r\n\r\n");
    const size_t end = head.find("\r\n\r\n");
    const size_t at = head.find("Content-Length: ");
    if (end == std::string::npos || method == "HEAD") return head;
    if (at > end) return ReadUntil("0\r\n\r\n");  // in chunks
    const size_t size = std::stoul(head.substr(at + 16));
    while (got_.size() < end + 4 + size) {
      char bytes[4096];
      const ssize_t more = recv(fd_, bytes, sizeof(bytes), 0);
      if (more <= 0) break;
      got_.append(bytes, static_cast<size_t>(more));
    }
    return got_;
  }

 private:
  int fd_;
  bool connected_ = false;
  std::string got_;
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_SERVE_SOCKET_CLIENT_H_
