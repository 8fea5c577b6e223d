// Searches that come one by one, each with a task and options of its own: what
// a server asks of an engine.
//
//   class Inbox : public SearchSource { ... };
//   Inbox inbox;
//   std::thread loop([&] { engine->Serve(inbox); });
//   inbox.Put(...);  // from any thread
#ifndef ESPALIER_API_SEARCH_SOURCE_H_
#define ESPALIER_API_SEARCH_SOURCE_H_

#include <functional>
#include <memory>

#include "espalier/problem.h"
#include "espalier/run_hooks.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "espalier/task.h"

namespace espalier {

struct SearchJob {
  Problem problem;
  std::shared_ptr<const Task> task;
  SearchOptions options;
  // `stop` ends this search alone. Neither `recorder` nor `grade` may be set.
  // `on_progress` has the index 0.
  RunHooks hooks;
  // Called once, on the thread of Engine::Serve. A search without an answer
  // gives its best unfinished response.
  std::function<void(SearchResult)> on_done;
};

// Engine::Serve calls it on its own thread.
class SearchSource {
 public:
  virtual ~SearchSource() = default;
  // The next search. Null: there is none now; with `wait`, which is set where
  // the engine has nothing else to do, there will be none any more.
  virtual std::unique_ptr<SearchJob> Next(bool wait) = 0;
};

}  // namespace espalier

#endif  // ESPALIER_API_SEARCH_SOURCE_H_
