// A loop of your own: the search asks, the program answers when it likes.
//
//   ./ask_tell
#include <cstdio>
#include <string>

#include "or_die.h"

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

int main() {
  const Task* task = OrDie(FindTask("qa"));
  const auto search = OrDie(
      AskTell::Create({.id = "1", .set = "", .question = "What is 6 * 7?"},
                      *task, {.method = "best_of_n:n=8", .max_tokens = 400}));
  while (!search->done()) {
    for (const SearchQuestion& question : search->Ask()) {
      OrDie(search->Tell(question.id, Answer(question)));
    }
  }
  std::printf("%s\n", OrDie(search->Result()).answer.c_str());
}
