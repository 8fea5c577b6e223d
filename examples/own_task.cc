// A kind of problem of your own, and a verifier that reads only the question.
//
//   ./own_task
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "or_die.h"

using namespace espalier;

// "10 21" asks for the two numbers whose sum is 10 and whose product is 21.
class PairTask : public Task {
 public:
  PairTask() { format_.max_step_tokens = 4; }
  std::string_view name() const override { return "pair"; }
  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    int sum, product;
    if (std::sscanf(problem.question.c_str(), "%d %d", &sum, &product) != 2) {
      return absl::InvalidArgumentError("expected a sum and a product");
    }
    return "Sum and product: " + problem.question + "\nNumbers:";
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(std::string_view text) const override {
    int a, b;
    if (std::sscanf(std::string(text).c_str(), "%d %d", &a, &b) != 2) return {};
    // "7 3" and "3 7" are one answer.
    return std::to_string(std::min(a, b)) + " " +
           std::to_string(std::max(a, b));
  }
  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    return FindAnswer(answer) == FindAnswer(gold);
  }

 private:
  StepFormat format_;  // a step is a line
};

class PairVerifier : public Verifier {
 public:
  explicit PairVerifier(const PairTask& task) : task_(task) {}
  std::string_view name() const override { return "pair"; }
  bool intrinsic() const override { return true; }
  Verdict Check(const Problem& problem, const Reference&,
                std::string_view response) const override {
    const auto answer = task_.FindAnswer(response);
    int sum, product, a, b;
    std::sscanf(problem.question.c_str(), "%d %d", &sum, &product);
    if (!answer) return {.correct = false, .reason = "no two numbers"};
    std::sscanf(answer->c_str(), "%d %d", &a, &b);
    if (a + b == sum && a * b == product)
      return {.correct = true, .reason = ""};
    return {.correct = false, .reason = *answer + " is wrong"};
  }
  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem&, const Reference&, std::string_view) const override {
    return absl::UnimplementedError("a response has one step");
  }

 private:
  const PairTask& task_;
};

// Stands for a model; own_generator.cc says more.
class Guesser : public Policy {
 public:
  absl::StatusOr<std::vector<std::vector<SampledText>>> Sample(
      absl::Span<const PolicyRequest> requests) override {
    std::vector<std::vector<SampledText>> all;
    for (const PolicyRequest& request : requests) {
      std::vector<SampledText>& samples = all.emplace_back();
      for (const uint64_t seed : request.sample.seeds) {
        const auto a = static_cast<int>(seed % 10);
        samples.push_back(
            {.text = std::to_string(a) + " " + std::to_string(10 - a),
             .ended = true});
      }
    }
    return all;
  }
};

int main() {
  const PairTask task;
  const PairVerifier verifier(task);
  Guesser guesser;
  const SearchResult result = OrDie(
      SolveWith(guesser, nullptr, &verifier,
                {.id = "1", .set = "", .question = "10 21"}, task,
                {.method = "best_first:branch=32:verify=true:score=logprob",
                 .max_tokens = 200}));
  std::printf("%s\n", result.answer.c_str());
}
