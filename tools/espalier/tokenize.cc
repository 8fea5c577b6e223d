// espalier tokenize: text to token ids and back, using only a checkpoint's
// tokenizer.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/foreign.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json.hpp"
#include "tools/espalier/command.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/text_input.h"

namespace espalier {
namespace {

struct TokenizeFlags {
  std::string model;
  bool decode = false;
  bool special = false;
  bool bos = false;
  bool continues = false;
  JsonOutput json;
};

// The ids in `text`, separated by white space or commas.
absl::StatusOr<std::vector<int32_t>> ParseIds(const std::string& text,
                                              int vocab_size) {
  std::vector<int32_t> ids;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \t\r\n,[]"), absl::SkipEmpty())) {
    int32_t id = 0;
    if (!absl::SimpleAtoi(word, &id) || id < 0 || id >= vocab_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("id ", ids.size() + 1,
                       " on standard input: expected a number from "
                       "0 to ",
                       vocab_size - 1, ", found \"",
                       absl::CHexEscape(word.substr(0, 40)), "\""));
    }
    ids.push_back(id);
  }
  return ids;
}

// One object: the ids, and the text of each token (JsonText shows bytes that
// are not complete characters as U+FFFD).
std::string JsonOf(const Tokenizer& tokenizer,
                   const std::vector<int32_t>& ids) {
  nlohmann::json pieces = nlohmann::json::array();
  for (const int32_t id : ids) {
    pieces.push_back(std::string(tokenizer.TokenBytes(id)));
  }
  return JsonText({{"ids", ids}, {"pieces", pieces}});
}

absl::StatusOr<std::vector<int32_t>> EncodeInput(const Tokenizer& tokenizer,
                                                 const TokenizeFlags& flags,
                                                 const std::string& text) {
  std::vector<int32_t> ids;
  if (flags.bos) {
    if (tokenizer.marks().bos < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(flags.model,
                       ": this tokenizer has no beginning token "
                       "for --bos"));
    }
    ids.push_back(tokenizer.marks().bos);
  }
  ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> body,
                       flags.continues ? tokenizer.EncodeContinuation(text)
                                       : tokenizer.Encode(text, flags.special));
  ids.insert(ids.end(), body.begin(), body.end());
  return ids;
}

absl::Status RunTokenize(const TokenizeFlags& flags) {
  ESP_RETURN_IF_ERROR(flags.json.TakeStdout());
  std::error_code error;
  if (!std::filesystem::exists(flags.model, error)) {
    return absl::NotFoundError(
        absl::StrCat("cannot open ", flags.model, ": No such file or directory",
                     ForeignName(flags.model, Wanted::kModel)));
  }
  ESP_ASSIGN_OR_RETURN(const auto tokenizer, Tokenizer::Load(flags.model));
  ESP_ASSIGN_OR_RETURN(const std::string input, ReadStandardInput());
  std::string output;
  if (flags.decode) {
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                         ParseIds(input, tokenizer->vocab_size()));
    output = flags.json.wanted() ? JsonOf(*tokenizer, ids) + "\n"
             : flags.continues   ? ForOutput(tokenizer->Decode(ids))
                                 : ForOutput(tokenizer->DecodeText(ids));
  } else {
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                         EncodeInput(*tokenizer, flags, input));
    output =
        flags.json.wanted() ? JsonOf(*tokenizer, ids) : absl::StrJoin(ids, " ");
    output += "\n";
  }
  std::fwrite(output.data(), 1, output.size(), stdout);
  return absl::OkStatus();  // main checks that standard output was written
}

}  // namespace

void AddTokenize(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<TokenizeFlags>();
  app.description(
      "Convert text on standard input to token ids on standard output, or "
      "back.\n\n"
      "  printf 'Hello world' | espalier tokenize --model DIR\n"
      "  echo 9906 1917 | espalier tokenize --model DIR --decode\n\n"
      "The whole input is used, including a final newline. Only the tokenizer "
      "is\n"
      "read: tokenizer.json, tokenizer.model (SentencePiece), or vocab.json "
      "with\n"
      "merges.txt; and tokenizer_config.json.");
  app.add_option("--model", flags->model,
                 "Checkpoint folder, or a tokenizer.json, tokenizer.model or "
                 ".gguf file")
      ->required();
  CLI::Option* decode = app.add_flag("--decode", flags->decode,
                                     "Convert ids (separated by white space or "
                                     "commas) to the bytes of their text");
  CLI::Option* special =
      app.add_flag("--special", flags->special,
                   "Recognise special tokens in the text, e.g. <|im_end|>");
  CLI::Option* bos =
      app.add_flag("--bos", flags->bos, "Put the tokenizer's BOS token first");
  CLI::Option* continues =
      app.add_flag("--continue", flags->continues,
                   "The text continues after other tokens: no space is added "
                   "before its first word, or removed by --decode");
  AddJsonOutput(app, flags->json,
                "one object with ids and pieces (the text of each token)");
  special->excludes(decode)->excludes(continues);
  bos->excludes(decode)->excludes(continues);
  run = [flags] { return RunTokenize(*flags); };
}

}  // namespace espalier
