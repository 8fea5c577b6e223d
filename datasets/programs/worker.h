// A process that serves one program: worker.py, confined as its command
// specifies.
//
//   ESP_ASSIGN_OR_RETURN(auto worker, Worker::Start(command, environment));
//   ESP_RETURN_IF_ERROR(worker->Send(job));
//   ESP_ASSIGN_OR_RETURN(auto fields, worker->Receive(clock deadline, stop));
//
// Its process group ends with the object; nothing of it is left when End or the
// destructor returns. It also ends when the thread that started it does: a
// thread that starts workers must outlive them.
//
// Externally synchronised.
#ifndef ESPALIER_DATASETS_PROGRAMS_WORKER_H_
#define ESPALIER_DATASETS_PROGRAMS_WORKER_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace espalier {

class Worker {
 public:
  using Fields = std::vector<std::string>;

  static absl::StatusOr<std::unique_ptr<Worker>> Start(
      const std::vector<std::string>& command,
      const std::vector<std::string>& environment);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Each waits at most until Clock::Real() reaches `deadline`:
  // DeadlineExceeded. Cancelled once *stop (may be null) is true; Unavailable
  // if the worker has ended.
  absl::Status Send(const Fields& fields, double deadline,
                    const std::atomic<bool>* stop);
  absl::StatusOr<Fields> Receive(double deadline,
                                 const std::atomic<bool>* stop);

  // Waits up to `seconds` for it to exit, then kills it. Returns its exit code,
  // or 128 plus its signal's number.
  int End(double seconds);

  // The last part of what it wrote to standard error.
  std::string Complaints();

 private:
  Worker(pid_t pid, int socket, int errors);
  absl::Status Wait(short events, double deadline,
                    const std::atomic<bool>* stop);
  absl::Status Read(char* to, size_t count, double deadline,
                    const std::atomic<bool>* stop);

  pid_t pid_;  // and its process group; 0 once it has ended
  int socket_;
  int errors_;
  int exit_code_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_WORKER_H_
