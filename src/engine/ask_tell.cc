#include "espalier/ask_tell.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "espalier/engine.h"
#include "models/backend/backend.h"
#include "search/algorithm.h"
#include "src/engine/auto_method.h"
#include "src/engine/search_session.h"

namespace espalier {
namespace {

// Where the word that begins at `begin`, with the white space before it, ends.
size_t WordEnd(std::string_view text, size_t begin) {
  const auto blank = [&](size_t i) {
    return std::isspace(static_cast<unsigned char>(text[i])) != 0;
  };
  size_t end = begin;
  while (end < text.size() && blank(end)) ++end;
  while (end < text.size() && !blank(end)) ++end;
  return end;
}

// Where the first `count` words end.
size_t WordsEnd(std::string_view text, int count) {
  size_t end = 0;
  for (int i = 0; i < count; ++i) end = WordEnd(text, end);
  return end;
}

// Ids of the words of `text`.
std::vector<int32_t> WordTokens(std::string_view text) {
  std::vector<int32_t> tokens;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = WordEnd(text, begin);
    tokens.push_back(static_cast<int32_t>(
        StableHash(text.substr(begin, end - begin)) & 0x3FFFFFFF));
    begin = end;
  }
  // An end without a text is still one token.
  if (tokens.empty()) tokens.push_back(0);
  return tokens;
}

// Cuts a sample without tokens after the delimiter and after `limit` words, and
// numbers its words.
void CutAndNumber(const StepFormat& format, int limit, SampledText& sample) {
  const size_t at = format.delimiter.empty() || format.segments
                        ? std::string::npos
                        : sample.text.find(format.delimiter);
  const size_t step = at == std::string::npos ? sample.text.size()
                                              : at + format.delimiter.size();
  if (step < sample.text.size()) {
    sample.text.resize(step);
    sample.ended = sample.truncated = false;
  }
  sample.tokens = WordTokens(sample.text);
  if (static_cast<int>(sample.tokens.size()) <= limit) return;
  sample.tokens.resize(static_cast<size_t>(limit));
  sample.text.resize(WordsEnd(sample.text, limit));
  sample.ended = false;
  sample.truncated = true;
}

// How a sample is described that is not the one step that `request` asked for;
// "" if it is.
std::string WhatIsWrong(const StepFormat& format, const SampledText& sample,
                        const SearchRequest& request) {
  const int limit = request.max_tokens;
  if (sample.text.empty() && !sample.ended) {
    return "is empty and does not end the response";
  }
  if (!format.delimiter.empty() && !format.segments) {
    const size_t at = sample.text.find(format.delimiter);
    if (at == std::string::npos && !sample.ended && !sample.truncated) {
      return absl::StrCat(
          "is not a whole step: expected text that ends with \"",
          absl::CEscape(format.delimiter), "\", or `ended` or `truncated`");
    }
    if (at != std::string::npos &&
        at + format.delimiter.size() < sample.text.size()) {
      return "continues after the end of its step";
    }
  }
  for (const std::string_view stop : request.expand.stop_strings) {
    if (sample.text.find(stop) != std::string::npos) {
      return absl::StrCat("contains the stop string \"",
                          absl::CEscape(AbslView(stop)),
                          "\"; cut the text before it and set `ended`");
    }
  }
  if (static_cast<int>(sample.tokens.size()) > limit) {
    return absl::StrCat("has ", sample.tokens.size(), " tokens, more than the ",
                        limit, " allowed");
  }
  if (!sample.logprobs.empty() &&
      sample.logprobs.size() != sample.tokens.size()) {
    return absl::StrCat("has ", sample.tokens.size(), " tokens and ",
                        sample.logprobs.size(),
                        " log-probs; expected one per token, or none");
  }
  for (const float logprob : sample.logprobs) {
    if (!(logprob <= 0)) {
      return absl::StrCat("has the log-prob ", logprob, "; expected 0 or less");
    }
  }
  return "";
}

class LocalAskTell : public AskTell {
 public:
  LocalAskTell(const Problem& problem, const Task& task,
               const SearchOptions& options,
               std::unique_ptr<SearchAlgorithm> algorithm)
      : problem_(problem),
        algorithm_(std::move(algorithm)),
        keep_tree_(options.keep_tree),
        format_(task.format()),
        filter_{.top_k = options.top_k,
                .top_p = options.top_p,
                .min_p = options.min_p},
        session_(0, problem_, task, options) {
    Advance();
  }

  std::vector<SearchQuestion> Ask() override {
    return std::exchange(questions_, {});
  }

  absl::Status Tell(uint64_t id, SearchAnswer answer) override {
    const auto it = open_.find(id);
    if (it == open_.end()) {
      return absl::NotFoundError(
          absl::StrCat("question ", id,
                       " is not open: it was answered, or "
                       "never asked"));
    }
    SearchCompletion completion{.number = id, .status = answer.status};
    if (answer.status.ok()) {
      ESP_RETURN_IF_ERROR(Convert(it->second, answer, completion));
    }
    open_.erase(it);
    session_.driver().Put(std::move(completion));
    Advance();
    return absl::OkStatus();
  }

  void Stop(const std::string& reason) override {
    if (done()) return;
    session_.driver().Stop(reason);
    questions_.clear();
    for (const auto& [id, request] : std::exchange(open_, {})) {
      session_.driver().Put(
          {.number = id, .status = absl::CancelledError("search stopped")});
    }
    Advance();
  }

  bool done() const override { return session_.over(); }

  SearchResult Result() const override {
    SearchResult result = session_.Result();
    result.configuration = CanonicalMethod(*algorithm_);
    if (keep_tree_) result.tree = session_.TreeAsText();
    return result;
  }

 private:
  // Resumes the search with what is there, until it waits for an answer.
  void Advance() {
    do {
      session_.Resume(*algorithm_);
    } while (Collect() && !done());
  }

  // Turns new requests into questions; true if it answered some itself.
  bool Collect() {
    bool answered = false;
    for (SearchRequest& request : session_.driver().TakeRequests()) {
      SearchCompletion completion{.number = request.number};
      if (request.kind == RequestKind::kExpand) {
        const std::string lacks = Lacks(request);
        if (!lacks.empty()) {
          completion.status = absl::FailedPreconditionError(
              absl::StrCat("method ", AbslView(algorithm_->name()), " ", lacks,
                           ", which an outside generator does not provide"));
        } else if (!request.expand.forced.empty()) {
          AddForced(request, completion);
        } else {
          AskFor(request);
          continue;
        }
      } else {
        AskFor(request);
        continue;
      }
      session_.driver().Put(std::move(completion));
      answered = true;
    }
    // Nobody holds sequences or pages.
    session_.driver().TakeAdopted();
    session_.driver().TakeRetentions();
    return answered;
  }

  // What the request needs beyond sampled text; "" if nothing.
  static std::string Lacks(const SearchRequest& request) {
    if (request.by != ModelRole::kPolicy) return "samples from a second model";
    if (request.expand.hidden) return "reads hidden states";
    if (request.expand.top_logprobs > 0 || request.expand.alternatives > 0) {
      return "reads log-probs of the most likely tokens";
    }
    return "";
  }

  static void AddForced(const SearchRequest& request,
                        SearchCompletion& completion) {
    SampledStep step{{}, std::string(request.expand.forced)};
    step.tokens = WordTokens(step.text);
    // No sample where it does not fit into the budget.
    if (static_cast<int>(step.tokens.size()) > request.max_tokens) return;
    step.logprobs.assign(step.tokens.size(), 0);
    step.sampler_logprobs = step.logprobs;
    completion.samples.push_back(std::move(step));
  }

  void AskFor(const SearchRequest& request) {
    const Tree& tree = session_.context().tree();
    SearchQuestion question{.id = request.number};
    for (const NodeId node : request.nodes) {
      question.responses.push_back(tree.Response(node));
    }
    if (request.kind == RequestKind::kExpand) {
      question.kind = QuestionKind::kSample;
      SampleRequest& sample = question.sample;
      sample.n = request.expand.n;
      sample.temperature = request.expand.temperature;
      sample.max_tokens = request.max_tokens;
      const SampleFilter filter = request.expand.filter.value_or(filter_);
      sample.top_k = filter.top_k;
      sample.top_p = filter.top_p;
      sample.min_p = filter.min_p;
      sample.stop_strings = format_.stop_strings;
      sample.stop_strings.insert(sample.stop_strings.end(),
                                 request.expand.stop_strings.begin(),
                                 request.expand.stop_strings.end());
      for (int i = 0; i < sample.n; ++i) {
        const StreamKey key =
            SampleKey(request.stream, request.first_sample + i);
        sample.seeds.push_back(MixHash(key.hi, key.lo));
      }
    } else {
      question.kind = request.kind == RequestKind::kEvaluate
                          ? QuestionKind::kScore
                          : QuestionKind::kVerify;
    }
    open_[question.id] = request;
    questions_.push_back(std::move(question));
  }

  absl::Status Convert(const SearchRequest& request, SearchAnswer& answer,
                       SearchCompletion& out) const {
    if (request.kind == RequestKind::kEvaluate) {
      if (answer.scores.size() != request.nodes.size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "question ", request.number, ": ", answer.scores.size(),
            " scores for ", request.nodes.size(), " responses"));
      }
      out.scores = std::move(answer.scores);
      return absl::OkStatus();
    }
    if (request.kind != RequestKind::kExpand) {
      out.correct = answer.correct;
      return absl::OkStatus();
    }
    const size_t n = static_cast<size_t>(request.expand.n);
    if (answer.samples.empty() || answer.samples.size() > n) {
      return absl::InvalidArgumentError(
          absl::StrCat("question ", request.number, ": ", answer.samples.size(),
                       " samples; expected 1 to ", n));
    }
    for (SampledText& sample : answer.samples) {
      const bool words = sample.tokens.empty();
      if (words) CutAndNumber(format_, request.max_tokens, sample);
      if (words && !sample.logprobs.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("question ", request.number,
                         ": a sample has log-probs without the "
                         "tokens that they belong to"));
      }
      const std::string wrong = WhatIsWrong(format_, sample, request);
      if (!wrong.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("question ", request.number, ": a sample ", wrong));
      }
      SampledStep step{{.tokens = std::move(sample.tokens),
                        .logprobs = std::move(sample.logprobs)},
                       std::move(sample.text)};
      if (step.logprobs.empty()) step.logprobs.assign(step.tokens.size(), 0);
      for (const float logprob : step.logprobs) step.logprob += logprob;
      step.sampler_logprobs = step.logprobs;
      step.ended = sample.ended;
      step.truncated = sample.truncated;
      out.samples.push_back(std::move(step));
    }
    return absl::OkStatus();
  }

  const Problem problem_;
  std::unique_ptr<SearchAlgorithm> algorithm_;
  const bool keep_tree_;
  const StepFormat& format_;
  const SampleFilter filter_;
  SearchSession session_;
  std::vector<SearchQuestion> questions_;
  std::map<uint64_t, SearchRequest> open_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AskTell>> AskTell::Create(
    const Problem& problem, const Task& task, const SearchOptions& options) {
  ESP_RETURN_IF_ERROR(CheckSearch(options));
  SearchOptions resolved = options;
  if (resolved.method == "auto") {
    resolved.method = AutoMethod(options.max_tokens, /*has_reward=*/true);
  }
  ESP_ASSIGN_OR_RETURN(auto algorithm, MakeAlgorithm(resolved.method));
  return std::make_unique<LocalAskTell>(problem, task, resolved,
                                        std::move(algorithm));
}

}  // namespace espalier
