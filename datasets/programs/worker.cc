#include "datasets/programs/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace espalier {
namespace {

// How often a wait checks `stop`.
constexpr int kLookMilliseconds = 50;
// Verdicts hold a message and a program's output, whose size is limited; no
// worker sends more than this.
constexpr uint64_t kLongestFrame = uint64_t{1} << 32;

double Now() { return Clock::Real().Seconds(); }

absl::Status SystemError(const char* doing, int error) {
  return absl::UnavailableError(
      absl::StrCat("sandbox: ", doing, ": ", std::strerror(error)));
}

void AppendSize(std::string& text, uint64_t size) {
  for (int i = 0; i < 8; ++i) {
    text.push_back(static_cast<char>(size >> (8 * i)));
  }
}

uint64_t ReadSize(const char* bytes) {
  uint64_t size = 0;
  for (int i = 7; i >= 0; --i) {
    size = size << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return size;
}

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn rather than fork: it neither copies the page tables of a process
// that holds models nor runs our code in a copy of a many-threaded process.
absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& command,
                            const std::vector<std::string>& environment,
                            int socket, int errors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, socket, 0);
  posix_spawn_file_actions_adddup2(&files, socket, 1);
  posix_spawn_file_actions_adddup2(&files, errors, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  // A separate session: Ctrl-C in a terminal reaches only the caller, who then
  // decides.
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                     POSIX_SPAWN_SETSIGDEF);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, command[0].c_str(), &files, &how,
                  Pointers(command).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return SystemError(command[0].c_str(), error);
  return pid;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Worker>> Worker::Start(
    const std::vector<std::string>& command,
    const std::vector<std::string>& environment) {
  int sockets[2], pipes[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return SystemError("socketpair", errno);
  }
  if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0) {
    const int error = errno;
    close(sockets[0]);
    close(sockets[1]);
    return SystemError("pipe", error);
  }
  const absl::StatusOr<pid_t> pid =
      Spawn(command, environment, sockets[1], pipes[1]);
  close(sockets[1]);
  close(pipes[1]);
  if (!pid.ok()) {
    close(sockets[0]);
    close(pipes[0]);
    return pid.status();
  }
  return std::unique_ptr<Worker>(new Worker(*pid, sockets[0], pipes[0]));
}

Worker::Worker(pid_t pid, int socket, int errors)
    : pid_(pid), socket_(socket), errors_(errors) {}

Worker::~Worker() {
  End(0);
  close(errors_);
}

absl::Status Worker::Wait(short events, double deadline,
                          const std::atomic<bool>* stop) {
  while (true) {
    if (stop != nullptr && stop->load()) {
      return absl::CancelledError("sandbox: stopped");
    }
    const double left = deadline - Now();
    if (left <= 0) return absl::DeadlineExceededError("sandbox: timed out");
    pollfd poll_fd = {socket_, events, 0};
    const int milliseconds =
        static_cast<int>(std::min<double>(kLookMilliseconds, left * 1000 + 1));
    const int ready = poll(&poll_fd, 1, milliseconds);
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return SystemError("poll", errno);
  }
}

absl::Status Worker::Send(const Fields& fields, double deadline,
                          const std::atomic<bool>* stop) {
  std::string body;
  for (const std::string& field : fields) {
    AppendSize(body, field.size());
    body += field;
  }
  std::string frame;
  AppendSize(frame, body.size());
  frame += body;
  size_t sent = 0;
  while (sent < frame.size()) {
    ESP_RETURN_IF_ERROR(Wait(POLLOUT, deadline, stop));
    const ssize_t n = send(socket_, frame.data() + sent, frame.size() - sent,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) sent += static_cast<size_t>(n);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      return SystemError("writing to a worker", errno);
    }
  }
  return absl::OkStatus();
}

absl::Status Worker::Read(char* to, size_t count, double deadline,
                          const std::atomic<bool>* stop) {
  while (count > 0) {
    ESP_RETURN_IF_ERROR(Wait(POLLIN, deadline, stop));
    const ssize_t n = recv(socket_, to, count, MSG_DONTWAIT);
    if (n == 0) return absl::UnavailableError("sandbox: the worker has ended");
    if (n > 0) {
      to += n;
      count -= static_cast<size_t>(n);
    } else if (errno != EAGAIN && errno != EINTR) {
      return SystemError("reading from a worker", errno);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Worker::Fields> Worker::Receive(double deadline,
                                               const std::atomic<bool>* stop) {
  char head[8];
  ESP_RETURN_IF_ERROR(Read(head, sizeof head, deadline, stop));
  const uint64_t size = ReadSize(head);
  if (size > kLongestFrame) {
    return absl::UnavailableError("sandbox: the worker sent an invalid frame");
  }
  std::string body(size, '\0');
  ESP_RETURN_IF_ERROR(Read(body.data(), size, deadline, stop));
  Fields fields;
  for (size_t at = 0; at + 8 <= body.size();) {
    const uint64_t length = ReadSize(body.data() + at);
    at += 8;
    if (length > body.size() - at) break;
    fields.push_back(body.substr(at, length));
    at += length;
  }
  return fields;
}

int Worker::End(double seconds) {
  if (pid_ == 0) return exit_code_;
  const double until = Now() + seconds;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(pid_, &status, WNOHANG)) == 0 && Now() < until) {
    poll(nullptr, 0, 1);
  }
  if (ended == 0) {
    // With namespaces this is bubblewrap's process; when it ends, the kernel
    // kills process 1 inside and so all others.
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    // A worker killed right at its start may not yet have tied process 1 to
    // itself; that one then reads end of file instead of a job, and exits.
    shutdown(socket_, SHUT_WR);
    // End of file means that the last holder of the other end is gone.
    char rest[4096];
    const double last = Now() + 5;
    while (Wait(POLLIN, last, nullptr).ok()) {
      if (recv(socket_, rest, sizeof rest, MSG_DONTWAIT) <= 0) break;
    }
  } else {
    // What is left of the group of a worker in weak mode.
    kill(-pid_, SIGKILL);
  }
  pid_ = 0;
  close(socket_);
  exit_code_ =
      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return exit_code_;
}

std::string Worker::Complaints() {
  std::string text;
  char part[4096];
  ssize_t n;
  while ((n = read(errors_, part, sizeof part)) > 0) {
    text.append(part, static_cast<size_t>(n));
  }
  constexpr size_t kLongest = 1000;
  if (text.size() > kLongest) text.erase(0, text.size() - kLongest);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace espalier
