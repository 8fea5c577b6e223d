#include "datasets/programs/sandbox.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/programs/worker.h"
#include "datasets/programs/worker_command.h"

namespace espalier {
namespace {

constexpr std::string_view kNames[] = {"passed",        "failed",  "timed out",
                                       "out of memory", "crashed", "forbidden"};
// A worker that is not ready after this long never will be, even on a busy
// machine.
constexpr double kSecondsToStart = 60;
// Extra time for a verdict beyond the wall time that it reports on.
constexpr double kSecondsToReport = 5;
// Time within which a worker that has reported its verdict exits.
constexpr double kSecondsToEnd = 5;
constexpr int kExitBySigsys = 128 + 31;

struct JobResult {
  VerdictKind kind = VerdictKind::kCrashed;
  int test = 0;
  std::string message;
  double cpu_seconds = 0;
  std::string output;
};

// From the fields that worker.py writes at its end.
absl::StatusOr<JobResult> ReadResult(Worker::Fields fields) {
  JobResult result;
  if (fields.size() == 5) {
    for (int i = 0; i < static_cast<int>(std::size(kNames)); ++i) {
      if (fields[0] != kNames[i]) continue;
      result.kind = static_cast<VerdictKind>(i);
      if (!absl::SimpleAtoi(fields[1], &result.test) ||
          !absl::SimpleAtod(fields[3], &result.cpu_seconds)) {
        break;
      }
      result.message = std::move(fields[2]);
      result.output = std::move(fields[4]);
      return result;
    }
  }
  return absl::InternalError(
      absl::StrCat("sandbox: unreadable verdict of a worker: ",
                   absl::StrJoin(fields, ", ").substr(0, 200)));
}

absl::Status CheckOptions(const SandboxOptions& options) {
  const SandboxLimits& limits = options.limits;
  const auto Refuse = [](const char* name, auto value, const char* expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("sandbox: ", name, " = ", value, ": expected ", expected));
  };
  const auto IsTime = [](double seconds) {
    return std::isfinite(seconds) && seconds > 0 && seconds <= 86400;
  };
  if (!IsTime(limits.cpu_seconds)) {
    return Refuse("cpu_seconds", limits.cpu_seconds, "above 0, at most a day");
  }
  if (!IsTime(limits.wall_seconds)) {
    return Refuse("wall_seconds", limits.wall_seconds,
                  "above 0, at most a day");
  }
  if (limits.memory < (64 << 20)) {
    return Refuse("memory", limits.memory,
                  "64 MiB or more: Python itself needs that much");
  }
  if (limits.tmp < 4096) return Refuse("tmp", limits.tmp, "4096 or more");
  if (limits.file_size < 4096) {
    return Refuse("file_size", limits.file_size, "4096 or more");
  }
  if (limits.threads < 2) {
    return Refuse("threads", limits.threads, "2 or more: the tests run on two");
  }
  if (options.warm < 0) return Refuse("warm", options.warm, "0 or more");
  return absl::OkStatus();
}

absl::Status Refusal(std::string_view reason) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the sandbox does not work on this machine: ", AbslView(reason),
      "; remedy: allow this user to create namespaces (sysctl "
      "user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1 "
      "where it exists, no AppArmor or container profile that forbids it), or "
      "use espalier grade --sandbox weak, which needs none but protects only "
      "against accidents, not attacks"));
}

}  // namespace

std::string_view VerdictName(VerdictKind kind) {
  return kNames[static_cast<int>(kind)];
}

// Idle workers, and the thread that starts them: a worker ends with the thread
// that started it, so callers' threads cannot start them.
class Sandbox::Pool {
 public:
  Pool(SandboxOptions options, std::vector<std::string> command)
      : options_(std::move(options)),
        command_(std::move(command)),
        starter_([this] { StartWorkers(); }) {}

  ~Pool() {
    {
      MutexLock lock(mutex_);
      ending_ = true;
    }
    changed_.NotifyAll();
    starter_.join();
  }

  const SandboxOptions& options() const { return options_; }

  absl::StatusOr<JobResult> Run(const Worker::Fields& job)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::Status error;
    // A worker may fail to start if the machine is briefly short of some
    // resource.
    for (int attempt = 0; attempt < 3; ++attempt) {
      ESP_ASSIGN_OR_RETURN(const std::unique_ptr<Worker> worker, Take());
      absl::StatusOr<Worker::Fields> ready = worker->Receive(
          Clock::Real().Seconds() + kSecondsToStart, options_.stop);
      if (ready.ok()) return RunOn(*worker, job);
      if (absl::IsCancelled(ready.status())) return ready.status();
      const int code = worker->End(1);
      const std::string complaints = worker->Complaints();
      error = absl::UnavailableError(
          absl::StrCat("a worker did not start (exit code ", code, ")",
                       complaints.empty() ? "" : ": ", complaints));
    }
    return error;
  }

 private:
  absl::StatusOr<std::unique_ptr<Worker>> Take() ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    ++waiting_;
    changed_.NotifyAll();
    while (ready_.empty() && error_.ok()) changed_.Wait(mutex_);
    --waiting_;
    if (ready_.empty()) return std::exchange(error_, absl::OkStatus());
    std::unique_ptr<Worker> worker = std::move(ready_.front());
    ready_.pop_front();
    changed_.NotifyAll();
    return worker;
  }

  void StartWorkers() ABSL_LOCKS_EXCLUDED(mutex_) {
    const std::vector<std::string> environment = WorkerEnvironment();
    mutex_.Lock();
    while (!ending_) {
      const int wanted = std::max(options_.warm, waiting_);
      if (static_cast<int>(ready_.size()) >= wanted || !error_.ok()) {
        changed_.Wait(mutex_);
        continue;
      }
      mutex_.Unlock();
      absl::StatusOr<std::unique_ptr<Worker>> worker =
          Worker::Start(command_, environment);
      mutex_.Lock();
      if (worker.ok()) {
        ready_.push_back(*std::move(worker));
      } else {
        error_ = worker.status();
      }
      changed_.NotifyAll();
    }
    ready_.clear();
    mutex_.Unlock();
  }

  absl::StatusOr<JobResult> RunOn(Worker& worker, const Worker::Fields& job) {
    const double deadline = Clock::Real().Seconds() +
                            options_.limits.wall_seconds + kSecondsToReport;
    // If a worker ends while its job is being sent, Receive reports the reason.
    const absl::Status sent = worker.Send(job, deadline, options_.stop);
    absl::StatusOr<Worker::Fields> fields =
        sent.ok() || absl::IsUnavailable(sent)
            ? worker.Receive(deadline, options_.stop)
            : absl::StatusOr<Worker::Fields>(sent);
    if (fields.ok()) {
      worker.End(kSecondsToEnd);
      return ReadResult(*std::move(fields));
    }
    JobResult result;
    if (absl::IsDeadlineExceeded(fields.status())) {
      result.kind = VerdictKind::kTimedOut;
      result.message =
          absl::StrCat("over ", options_.limits.wall_seconds, " s");
      return result;
    }
    if (!absl::IsUnavailable(fields.status())) return fields.status();
    const int code = worker.End(1);
    if (code == kExitBySigsys) {
      result.kind = VerdictKind::kForbidden;
      result.message = "the tests made a forbidden system call";
      return result;
    }
    result.message =
        absl::StrCat("the tests' process ended without a verdict (exit code ",
                     code, ") ", worker.Complaints());
    return result;
  }

  const SandboxOptions options_;
  const std::vector<std::string> command_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::unique_ptr<Worker>> ready_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);  // for the next Take
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread starter_;  // last: it uses the fields above
};

Sandbox::Sandbox(std::unique_ptr<Pool> pool) : pool_(std::move(pool)) {}
Sandbox::~Sandbox() = default;

absl::StatusOr<std::unique_ptr<Sandbox>> Sandbox::Create(
    SandboxOptions options) {
  ESP_RETURN_IF_ERROR(CheckOptions(options));
  ESP_ASSIGN_OR_RETURN(std::vector<std::string> command,
                       WorkerCommand(options));
  const bool weak = options.mode == SandboxMode::kWeak;
  auto pool = std::make_unique<Pool>(std::move(options), std::move(command));
  std::unique_ptr<Sandbox> sandbox(new Sandbox(std::move(pool)));
  // Verifies the isolation: one program looks around, another tries the
  // network.
  const std::string look =
      "import os\n"
      "seen = [p for p in ('/etc/passwd', '/etc/shadow', '/root', '/home',\n"
      "                    '/proc/1', '/sys/kernel') if os.path.exists(p)]\n"
      "parent = os.getppid()\n";
  absl::StatusOr<ProgramVerdict> held = sandbox->Run(
      {.code = weak ? "seen, parent = [], 1" : look,
       .names = {"seen", "parent"},
       .tests = {"assert seen == [], 'it sees %s' % seen\n"
                 "assert parent == 1, 'it sees process %d' % parent"}});
  if (absl::IsCancelled(held.status())) return held.status();
  if (!held.ok()) {
    if (weak) return held.status();
    return Refusal(std::string(held.status().message()));
  }
  if (held->kind != VerdictKind::kPassed) return Refusal(held->message);
  held = sandbox->Run({.code = "import _socket\n_socket.socket(2, 1, 0)\n"});
  if (!held.ok()) return held.status();
  if (held->kind != VerdictKind::kForbidden) {
    return Refusal(
        absl::StrCat("the system call filter allows creating a socket (",
                     held->message, ")"));
  }
  return sandbox;
}

absl::StatusOr<ProgramVerdict> Sandbox::Run(const PythonProgram& program) {
  Worker::Fields job = {"tests",
                        program.code,
                        absl::StrJoin(program.names, " "),
                        absl::StrJoin(program.methods, " "),
                        program.given,
                        program.before,
                        program.after};
  job.insert(job.end(), program.tests.begin(), program.tests.end());
  ESP_ASSIGN_OR_RETURN(JobResult result, pool_->Run(job));
  return ProgramVerdict{result.kind, result.test, std::move(result.message),
                        result.cpu_seconds};
}

absl::StatusOr<InputVerdict> Sandbox::RunInput(std::string_view code,
                                               std::string_view input) {
  ESP_ASSIGN_OR_RETURN(JobResult result, pool_->Run({"stdio", std::string(code),
                                                     std::string(input)}));
  return InputVerdict{result.kind, std::move(result.message),
                      std::move(result.output), result.cpu_seconds};
}

}  // namespace espalier
