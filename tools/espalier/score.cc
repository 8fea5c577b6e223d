// espalier score: the log-prob of a text under a model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "models/prompt/encode_prompt.h"
#include "nlohmann/json.hpp"
#include "src/engine/load_model.h"
#include "src/engine/score_text.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/text_input.h"

namespace espalier {
namespace {

struct ScoreFlags : MachineFlags {
  std::string model;
  std::string tokenizer;
  ServerFlags server;
  std::optional<std::string> text;
  std::string file;
  bool control_tokens = false;
  ScoreTextOptions windows;
  JsonOutput json;
};

nlohmann::json TokenJson(const ScoredToken& one, const Tokenizer& tokenizer) {
  nlohmann::json json = {{"token", one.token},
                         {"text", tokenizer.TokenBytes(one.token)},
                         {"logprob", nullptr}};
  if (!std::isnan(one.logprob)) json["logprob"] = one.logprob;
  return json;
}

void Print(const ScoreFlags& flags, const Tokenizer& tokenizer,
           const ScoredText& scored, double seconds) {
  const double rate =
      static_cast<double>(scored.computed) / std::max(seconds, 1e-9);
  if (!flags.json.wanted()) {
    std::printf(
        "perplexity %.4f (%lld of %zu tokens scored, ln p %.3f, %.4f bits per "
        "byte)\n(%.2f s, %.0f tokens/s)\n",
        scored.perplexity(), static_cast<long long>(scored.scored),
        scored.tokens.size(), scored.logprob, scored.bits_per_byte(), seconds,
        rate);
    return;
  }
  nlohmann::json tokens = nlohmann::json::array();
  for (const ScoredToken& one : scored.tokens) {
    tokens.push_back(TokenJson(one, tokenizer));
  }
  const nlohmann::json json = {{"model", flags.model},
                               {"tokens", std::move(tokens)},
                               {"scored", scored.scored},
                               {"logprob", scored.logprob},
                               {"perplexity", scored.perplexity()},
                               {"bits_per_byte", scored.bits_per_byte()},
                               {"seconds", seconds},
                               {"tokens_per_s", rate}};
  std::printf("%s\n", JsonText(json).c_str());
}

absl::Status RunScore(const ScoreFlags& flags) {
  ESP_RETURN_IF_ERROR(flags.json.TakeStdout());
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
  ESP_ASSIGN_OR_RETURN(const std::string text,
                       ReadTextInput(flags.text, flags.file));
  ESP_ASSIGN_OR_RETURN(
      const std::vector<int32_t> tokens,
      EncodePrompt(*model.tokenizer, text, flags.control_tokens));
  StopRequested();  // from here on Ctrl-C keeps the partial result
  Progress progress("score", static_cast<int64_t>(tokens.size()), "tokens");
  ScoreTextOptions windows = flags.windows;
  windows.stop = &StopRequested();
  windows.progress = [&](int64_t done) { progress.Set(done, 0); };
  const double start = Clock::Real().Seconds();
  ESP_ASSIGN_OR_RETURN(
      const ScoredText scored,
      ScoreText(*model.backend, *model.tokenizer, tokens, windows));
  const double seconds = Clock::Real().Seconds() - start;
  progress.Finish();
  if (scored.scored > 0) Print(flags, *model.tokenizer, scored, seconds);
  if (StopRequested().load()) {
    return absl::CancelledError(
        absl::StrCat("stopped after ", scored.tokens.size(), " of ",
                     tokens.size(), " tokens; the figures are of these"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddScore(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<ScoreFlags>();
  app.footer(
      "  espalier score --model DIR --text \"3 + 4 = 7\" --json\n"
      "  espalier score --model DIR --file book.txt\n\n"
      "The first token has no logprob, unless the model puts a token of its "
      "own\n"
      "before texts. A text longer than the context is scored in windows that\n"
      "start --stride tokens apart. A window scores only tokens that earlier\n"
      "windows did not, so each token is scored once, with at least\n"
      "context - stride tokens before it. --json prints one object: tokens\n"
      "(token, text, logprob), scored, logprob (their sum), perplexity,\n"
      "bits_per_byte, seconds, tokens_per_s.\n");
  app.add_option("--model", flags->model,
                 "Checkpoint: a Hugging Face folder or a GGUF file; or a model "
                 "behind a server, as URL or URL#NAME")
      ->required();
  app.add_option("--tokenizer", flags->tokenizer,
                 "Folder or GGUF file with the tokenizer of a --model behind a "
                 "server");
  CLI::Option* text = app.add_option("--text", flags->text, "The text itself");
  app.add_option(
         "--file", flags->file,
         "File with the text; -: standard input (the default without --text)")
      ->excludes(text);
  app.add_flag("--control-tokens", flags->control_tokens,
               "Parse control tokens in the text, e.g. <|im_start|>; otherwise "
               "they are plain text");
  app.add_option("--context", flags->windows.context,
                 "Tokens per window; 0: the model's context length")
      ->capture_default_str()
      ->check(WholeFrom(0, 1 << 24));
  app.add_option("--stride", flags->windows.stride,
                 "Tokens between the starts of consecutive windows; 0: half "
                 "the context")
      ->capture_default_str()
      ->check(WholeFrom(0, 1 << 24));
  AddJsonOutput(app, flags->json, "one object with every token");
  AddServerFlags(app, flags->server);
  AddMachineFlags(app, *flags);
  run = [flags] { return RunScore(*flags); };
}

}  // namespace espalier
