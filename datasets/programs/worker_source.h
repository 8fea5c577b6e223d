// The sources that a worker runs, compiled into the program as texts.
#ifndef ESPALIER_DATASETS_PROGRAMS_WORKER_SOURCE_H_
#define ESPALIER_DATASETS_PROGRAMS_WORKER_SOURCE_H_

#include <string_view>

namespace espalier {

// values.py, arrays.py, views.py, lent.py and remote.py, and worker.py, which
// needs them first: one text.
std::string_view ValuesSource();
std::string_view ArraysSource();
std::string_view ViewsSource();
std::string_view LentSource();
std::string_view RemoteSource();
std::string_view WorkerSource();

// evaluated.py, which the worker runs if tests evaluate texts.
std::string_view EvaluatedSource();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_WORKER_SOURCE_H_
