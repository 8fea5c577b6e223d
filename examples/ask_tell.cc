// A loop of your own: the search asks, the program answers when it likes.
//
//   ./ask_tell
#include <cstdio>
#include <string>

#include "espalier/espalier.h"

namespace {

using namespace espalier;

bool Is42(const std::string& response) {
  return response.find("42") != std::string::npos;
}

SearchAnswer Answer(const SearchQuestion& question) {
  SearchAnswer answer;
  switch (question.kind) {
    case QuestionKind::kSample:
      for (const uint64_t seed : question.sample.seeds) {
        answer.samples.push_back(
            {.text = "The answer is " + std::to_string(40 + seed % 4) + ".",
             .ended = true});
      }
      break;
    case QuestionKind::kScore:
      for (const std::string& response : question.responses) {
        answer.scores.push_back({.path = Is42(response) ? 1.0f : 0.0f});
      }
      break;
    case QuestionKind::kVerify:
      answer.correct = Is42(question.responses[0]);
      break;
  }
  return answer;
}

}  // namespace

int main() {
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
      const absl::Status status =
          (*search)->Tell(question.id, Answer(question));
      if (!status.ok()) {
        std::fprintf(stderr, "%s\n", status.ToString().c_str());
        return 1;
      }
    }
  }
  const SearchResult result = (*search)->Result();
  if (!result.status.ok()) {
    std::fprintf(stderr, "%s\n", result.status.ToString().c_str());
    return 1;
  }
  std::printf("%s\n", result.answer.c_str());
}
