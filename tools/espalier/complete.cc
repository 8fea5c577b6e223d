// espalier complete: sampled continuations of a text.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "models/prompt/chat_template.h"
#include "models/prompt/encode_prompt.h"
#include "models/prompt/find_template.h"
#include "models/prompt/streamed_text.h"
#include "models/remote/endpoint.h"
#include "models/sampling/sampler.h"
#include "nlohmann/json.hpp"
#include "src/engine/load_model.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/text_input.h"

namespace espalier {
namespace {

struct CompleteFlags : MachineFlags {
  std::string model;
  std::string tokenizer;
  ServerFlags server;
  std::optional<std::string> text;
  std::string file;
  bool control_tokens = false;
  bool chat = false;
  std::optional<std::string> system;
  std::string chat_template = "auto";
  bool no_think = false;
  int n = 1;
  int alternatives = 0;
  SamplingOptions sampling;
  StopRule stop{.delimiter = "", .max_tokens = 256};
  uint64_t seed = 0;
  JsonOutput json;
};

// One continuation, as far as it is sampled.
struct Written : StepTokens {
  std::string finish = "interrupted";
  std::string text;
};

const char* FinishName(Finish finish) {
  switch (finish) {
    case Finish::kEnd:
      return "end";
    case Finish::kLength:
      return "length";
    default:
      return "stop";
  }
}

// The prompt's tokens.
absl::StatusOr<std::vector<int32_t>> ReadPromptTokens(
    const CompleteFlags& flags, const Tokenizer& tokenizer) {
  ESP_ASSIGN_OR_RETURN(std::string text, ReadTextInput(flags.text, flags.file));
  bool control_tokens = flags.control_tokens;
  if (flags.chat) {
    ESP_ASSIGN_OR_RETURN(
        const ChatTemplate chat,
        FindTemplate(IsRemoteModel(flags.model) ? flags.tokenizer : flags.model,
                     flags.chat_template));
    std::vector<ChatMessage> messages;
    if (flags.system) messages.push_back({ChatRole::kSystem, *flags.system});
    messages.push_back({ChatRole::kUser, std::move(text)});
    ESP_ASSIGN_OR_RETURN(text, chat.Render(messages, !flags.no_think));
    control_tokens = chat.has_control_tokens();
  }
  return EncodePrompt(tokenizer, text, control_tokens);
}

absl::Status CheckFlags(const CompleteFlags& flags) {
  if (!flags.chat && (flags.system || flags.no_think)) {
    return absl::InvalidArgumentError(
        "--system and --no-think are parts of a conversation; add --chat");
  }
  if (flags.chat_template != "auto") {
    ESP_RETURN_IF_ERROR(ChatTemplate::Named(flags.chat_template).status());
  }
  for (const std::string& stop : flags.stop.stop_strings) {
    if (stop.empty()) {
      return absl::InvalidArgumentError(
          "--stop \"\": expected text that ends a continuation");
    }
  }
  return CheckSamplingOptions(flags.sampling);
}

// Runs the request to its end, or until Ctrl-C, and streams its tokens.
class Run {
 public:
  Run(const CompleteFlags& flags, LoadedModel& model)
      : flags_(flags),
        model_(model),
        streams_(!flags.json.wanted() && flags.n == 1),
        stream_(flags.stop.stop_strings),
        written_(static_cast<size_t>(flags.n)) {}

  absl::Status Do(const std::vector<int32_t>& prompt) {
    Backend& backend = *model_.backend;
    const SeqId from = backend.Extend(kEmptySeq, prompt);
    GenerateRequest request{
        .from = from,
        .n = flags_.n,
        .sampling = flags_.sampling,
        .stop = flags_.stop,
        .stream = StreamKey(flags_.seed, 0, 0, Purpose::kSample),
        .top_alternatives = flags_.alternatives,
        .on_token = [this](const DrawnToken& token) { See(token); }};
    backend.Submit({.id = 1, .body = std::move(request)});
    if (!streams_) {
      progress_.emplace("complete", int64_t{flags_.n} * flags_.stop.max_tokens,
                        "tokens");
    }
    std::vector<Completion> done;
    while (done.empty() && !StopRequested().load()) backend.Step(done);
    absl::Status status;
    if (done.empty()) {
      backend.Cancel(1);
    } else {
      status = done[0].status;
      Finished(done[0]);
    }
    if (from != kEmptySeq) backend.Release(from);
    if (progress_) progress_->Finish();
    if (!status.ok()) return status;
    for (Written& one : written_) {
      if (one.finish == "interrupted") {
        one.text = model_.tokenizer->Decode(one.tokens);
      }
    }
    return absl::OkStatus();
  }

  const std::vector<Written>& written() const { return written_; }
  // The part of a streamed text that was not printed yet.
  std::string RestOfStream() { return stream_.Finish(written_[0].text.size()); }
  bool streams() const { return streams_; }

 private:
  void See(const DrawnToken& token) {
    Written& one = written_[static_cast<size_t>(token.sample)];
    one.tokens.push_back(token.token);
    one.logprobs.push_back(token.logprob);
    if (progress_) progress_->Add(1);
    if (!streams_) return;
    const std::string piece =
        stream_.Push(model_.tokenizer->TokenBytes(token.token));
    std::fputs(ForOutput(piece).c_str(), stdout);
    std::fflush(stdout);
  }

  void Finished(Completion& completion) {
    for (size_t i = 0; i < completion.continuations.size(); ++i) {
      Continuation& c = completion.continuations[i];
      written_[i] = {std::move(c), FinishName(c.finish)};
      written_[i].text = model_.tokenizer->Decode(written_[i].tokens);
      written_[i].text.resize(std::min(written_[i].text.size(), c.text_bytes));
      model_.backend->Release(c.seq);
    }
  }

  const CompleteFlags& flags_;
  LoadedModel& model_;
  const bool streams_;
  StreamedText stream_;
  std::vector<Written> written_;
  std::optional<Progress> progress_;
};

double Sum(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

// For each token the most likely alternatives as [id, ln p].
nlohmann::json AlternativesJson(const Written& one) {
  nlohmann::json all = nlohmann::json::array();
  const size_t each = one.alternatives.size() / one.tokens.size();
  for (size_t t = 0; t < one.tokens.size(); ++t) {
    nlohmann::json top = nlohmann::json::array();
    for (size_t k = t * each; k < (t + 1) * each; ++k) {
      const TokenLogprob& other = one.alternatives[k];
      top.push_back(nlohmann::json::array({other.token, other.logprob}));
    }
    all.push_back(std::move(top));
  }
  return all;
}

void PrintJson(const std::vector<Written>& written, size_t prompt_tokens) {
  for (size_t i = 0; i < written.size(); ++i) {
    const Written& one = written[i];
    nlohmann::json json = {
        {"index", i},           {"text", one.text},
        {"tokens", one.tokens}, {"logprobs", one.logprobs},
        {"finish", one.finish}, {"prompt_tokens", prompt_tokens}};
    if (!one.alternatives.empty()) {
      json["alternatives"] = AlternativesJson(one);
    }
    std::printf("%s\n", JsonText(json).c_str());
  }
}

void PrintTexts(const std::vector<Written>& written) {
  for (size_t i = 0; i < written.size(); ++i) {
    const Written& one = written[i];
    std::printf("== %zu of %zu: %s, %zu tokens, ln p %.2f\n%s\n", i + 1,
                written.size(), one.finish.c_str(), one.tokens.size(),
                Sum(one.logprobs), ForOutput(one.text).c_str());
  }
}

absl::Status RunComplete(const CompleteFlags& flags) {
  ESP_RETURN_IF_ERROR(UsageError(CheckFlags(flags)));
  Executor executor(flags.threads);
  ESP_ASSIGN_OR_RETURN(LoadedModel model,
                       LoadModel(flags.model,
                                 {.device = flags.device,
                                  .kv_bytes = int64_t{flags.kv_mib} << 20,
                                  .weights = flags.weights,
                                  .drafts = flags.drafts == "on",
                                  .tokenizer = flags.tokenizer,
                                  .server_attempts = flags.server.attempts,
                                  .server_timeout = flags.server.timeout,
                                  .notice = &PrintServerNotice},
                                 executor));
  ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> prompt,
                       ReadPromptTokens(flags, *model.tokenizer));
  ESP_RETURN_IF_ERROR(flags.json.TakeStdout());
  StopRequested();  // from here on Ctrl-C keeps the partial result
  const double start = Clock::Real().Seconds();
  Run run(flags, model);
  ESP_RETURN_IF_ERROR(run.Do(prompt));
  const double seconds = Clock::Real().Seconds() - start;
  if (run.streams()) {
    std::printf("%s\n", ForOutput(run.RestOfStream()).c_str());
  } else if (flags.json.wanted()) {
    PrintJson(run.written(), prompt.size());
  } else {
    PrintTexts(run.written());
  }
  std::fflush(stdout);
  const std::string note = TextsNote(model);
  if (!note.empty()) PrintServerNotice(note);
  size_t tokens = 0;
  bool stopped = false;
  for (const Written& one : run.written()) {
    tokens += one.tokens.size();
    stopped |= one.finish == "interrupted";
  }
  std::fprintf(stderr,
               "(%zu tokens after a prompt of %zu, %.2f s, %.0f tokens/s)\n",
               tokens, prompt.size(), seconds,
               static_cast<double>(tokens) / std::max(seconds, 1e-9));
  if (stopped) return absl::CancelledError("stopped");
  return absl::OkStatus();
}

void AddSamplingFlags(CLI::App& app, CompleteFlags& flags) {
  SamplingOptions& sampling = flags.sampling;
  app.add_option("-n", flags.n, "Number of continuations, generated together")
      ->capture_default_str()
      ->check(WholeFrom(1, 65536));
  app.add_option("--max-tokens", flags.stop.max_tokens,
                 "Maximum tokens per continuation")
      ->capture_default_str()
      ->check(WholeFrom(1, 1 << 24));
  app.add_option("--temperature", sampling.temperature,
                 "Sampling temperature; 0: greedy")
      ->capture_default_str()
      ->check(RealFrom(0, 1e6));
  app.add_option("--top-k", sampling.top_k,
                 "Sample from the k most likely tokens; 0: from all")
      ->capture_default_str()
      ->check(WholeFrom(0, kMostInt));
  app.add_option("--top-p", sampling.top_p,
                 "Sample from the most likely tokens that reach this total "
                 "probability; 1: from all")
      ->capture_default_str()
      ->check(RealAbove(0, 1));
  app.add_option("--min-p", sampling.min_p,
                 "Sample from tokens with at least this probability relative "
                 "to the most likely one; 0: from all")
      ->capture_default_str()
      ->check(RealFrom(0, 1));
  app.add_option("--repetition-penalty", sampling.repetition_penalty,
                 "Penalty on tokens that the text already contains; 1: none")
      ->capture_default_str()
      ->check(RealAbove(0, 1e6));
  app.add_option(
         "--stop", flags.stop.stop_strings,
         "Text that ends a continuation and is not part of it; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--seed", flags.seed,
                 "Random seed; the same seed gives the same texts")
      ->capture_default_str();
}

}  // namespace

void AddComplete(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<CompleteFlags>();
  app.footer(
      "  printf 'Once upon a time' | espalier complete --model DIR\n"
      "  espalier complete --model DIR --chat --text \"Why is the sky blue?\"\n"
      "  espalier complete --model DIR --file prompt.txt -n 8 --json\n\n"
      "A single continuation is streamed; several are printed when all are "
      "done.\n"
      "The prompt is used verbatim, including a final newline. Ctrl-C keeps "
      "the\n"
      "text so far. --json prints one line per continuation: index, text, "
      "tokens,\n"
      "logprobs (ln p of each token at temperature 1), finish (end, stop, "
      "length,\n"
      "interrupted).\n");
  app.add_option("--model", flags->model,
                 "Checkpoint: a Hugging Face folder or a GGUF file; or a model "
                 "behind a server, as URL or URL#NAME")
      ->required();
  app.add_option("--tokenizer", flags->tokenizer,
                 "Folder or GGUF file with the tokenizer of a --model behind a "
                 "server");
  CLI::Option* text =
      app.add_option("--text", flags->text, "The prompt itself");
  app.add_option(
         "--file", flags->file,
         "File with the prompt; -: standard input (the default without --text)")
      ->excludes(text);
  CLI::Option* chat = app.add_flag(
      "--chat", flags->chat,
      "The text is a user message: apply the model's chat template");
  app.add_flag("--control-tokens", flags->control_tokens,
               "Parse control tokens in the text, e.g. <|im_start|>; otherwise "
               "they are plain text")
      ->excludes(chat);
  app.add_option("--system", flags->system,
                 "System message of --chat. Default: the template's own");
  app.add_option("--template", flags->chat_template,
                 "Chat template of --chat: auto (the checkpoint's own), " +
                     absl::StrJoin(ChatTemplate::Names(), ", "))
      ->capture_default_str();
  app.add_flag("--no-think", flags->no_think,
               "With --chat: turn off thinking, for models that support it");
  AddSamplingFlags(app, *flags);
  AddJsonOutput(app, flags->json, "one object per continuation");
  app.add_option("--alternatives", flags->alternatives,
                 "With --json: the k most likely tokens at each position, as "
                 "[id, ln p]")
      ->capture_default_str()
      ->check(WholeFrom(0, 1024))
      ->needs("--json");
  AddServerFlags(app, flags->server);
  AddMachineFlags(app, *flags);
  run = [flags] { return RunComplete(*flags); };
}

}  // namespace espalier
