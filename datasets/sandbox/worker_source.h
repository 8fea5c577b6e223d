// worker.py as text, compiled into the program.
#ifndef ESPALIER_DATASETS_SANDBOX_WORKER_SOURCE_H_
#define ESPALIER_DATASETS_SANDBOX_WORKER_SOURCE_H_

#include <string_view>

namespace espalier {

std::string_view WorkerSource();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SANDBOX_WORKER_SOURCE_H_
