// A loop of your own: the search asks, the program answers when it likes.
//
//   ./ask_tell
#include <cstdio>
#include <string>

#include "espalier/espalier.h"

int main() {
  using namespace espalier;
  const Task* task = FindTask("qa").value();
  const auto search =
      AskTell::Create({.id = "1", .question = "What is 6 * 7?"}, *task,
                      {.method = "best_of_n:n=8", .max_tokens = 400});
  if (!search.ok()) {
    std::fprintf(stderr, "%s\n", search.status().ToString().c_str());
    return 1;
  }
  while (!(*search)->done()) {
    for (const SearchQuestion& question : (*search)->Ask()) {
      SearchAnswer answer;
      for (const uint64_t seed : question.seeds) {
        answer.samples.push_back(
            {.text = "The answer is " + std::to_string(40 + seed % 4) + ".",
             .ended = true});
      }
      for (const std::string& response : question.responses) {
        // The judge likes 42.
        const bool good = response.find("42") != std::string::npos;
        answer.scores.push_back({.path = good ? 1.0f : 0.0f});
      }
      const absl::Status status = (*search)->Tell(question.id, answer);
      if (!status.ok()) {
        std::fprintf(stderr, "%s\n", status.ToString().c_str());
        return 1;
      }
    }
  }
  std::printf("%s\n", (*search)->Result().answer.c_str());
}
