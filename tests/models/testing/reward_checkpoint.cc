#include "tests/models/testing/reward_checkpoint.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/files.h"
#include "base/random.h"
#include "models/checkpoint/trunk_config.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/hf_layout.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using nlohmann::json;

struct HeadTensor {
  const char* name;
  int rows;  // 0: hidden_size
  bool vector = false;
};

struct PublishedLayout {
  const char* name;
  const char* architecture;  // in config.json
  Architecture body;
  const char* chat;    // template
  const char* prefix;  // of the body's tensors
  bool lm_head;        // stored
  std::vector<HeadTensor> head;
  int readings = 1;
};

const std::vector<PublishedLayout>& AllPublished() {
  constexpr auto kLlama = Architecture::kLlama;
  constexpr auto kMistral = Architecture::kMistral;
  constexpr auto kQwen2 = Architecture::kQwen2;
  constexpr auto kQwen3 = Architecture::kQwen3;
  static const auto& all = *new std::vector<PublishedLayout>{
      {"qwen_prm",
       "Qwen2ForProcessRewardModel",
       kQwen2,
       "chatml",
       "",
       true,
       {{"score.0.weight", 0},
        {"score.0.bias", 0, true},
        {"score.2.weight", 2},
        {"score.2.bias", 2, true}}},
      {"qwen_rm",
       "Qwen2ForRewardModel",
       kQwen2,
       "chatml",
       "",
       true,
       {{"score.0.weight", 0},
        {"score.0.bias", 0, true},
        {"score.2.weight", 1},
        {"score.2.bias", 1, true}}},
      {"skywork_prm",
       "Qwen2ForPrmModel",
       kQwen2,
       "",
       "pretrained_model.",
       true,
       {{"v_head.summary.weight", 1}, {"v_head.summary.bias", 1, true}}},
      {"trl",
       "Qwen2ForTokenClassification",
       kQwen2,
       "",
       "",
       false,
       {{"score.weight", 2}, {"score.bias", 2, true}}},
      {"pure",
       "Qwen2ForTokenClassification",
       kQwen2,
       "",
       "",
       false,
       {{"score.weight", 2}, {"score.bias", 2, true}}},
      {"math_shepherd", "MistralForCausalLM", kMistral, "", "", true, {}},
      {"rlhflow", "LlamaForCausalLM", kLlama, "llama3", "", true, {}},
      {"rlhflow_orm", "LlamaForCausalLM", kLlama, "llama3", "", true, {}},
      {"minos",
       "MistralForTokenClassification",
       kMistral,
       "",
       "",
       false,
       {{"score.weight", 1}}},
      {"reasoneval",
       "ReasonEval_7B",
       kMistral,
       "",
       "",
       false,
       {{"score_head.weight", 3}, {"score_head.bias", 3, true}}},
      {"math_psa", "Qwen2ForCausalLM", kQwen2, "", "", true, {}},
      {"versa_prm", "LlamaForCausalLM", kLlama, "", "", true, {}},
      {"implicit_prm", "Qwen2ForCausalLM", kQwen2, "chatml", "", true, {}, 2},
      {"genprm", "Qwen2ForCausalLM", kQwen2, "", "", true, {}, 3},
      {"thinkprm", "Qwen2ForCausalLM", kQwen2, "", "", true, {}, 3},
      {"llemma_prm", "LlamaForCausalLM", kLlama, "", "", true, {}},
      {"laser", "Qwen2ForCausalLM", kQwen2, "", "", true, {}},
      {"skywork_reward_qwen3",
       "Qwen3ForSequenceClassification",
       kQwen3,
       "qwen3",
       "",
       false,
       {{"score.weight", 1}}},
      {"skywork_reward_llama",
       "LlamaForSequenceClassification",
       kLlama,
       "llama3",
       "",
       false,
       {{"score.weight", 1}}},
      {"hrm",
       "Qwen2ForSequenceClassification",
       kQwen2,
       "",
       "",
       false,
       {{"score.weight", 2}}},
      {"hrm_window",
       "Qwen2ForSequenceClassification",
       kQwen2,
       "",
       "",
       false,
       {{"score.weight", 2}}},
      {"hrm_soft",
       "Qwen2ForSequenceClassification",
       kQwen2,
       "",
       "",
       false,
       {{"score.weight", 1}}},
      {"prorag",
       "Qwen3ForSequenceClassification",
       kQwen3,
       "",
       "",
       false,
       {{"score.weight", 1}}},
  };
  return all;
}

// Hugging Face's templates in short.
std::string JinjaOf(const std::string& name) {
  const auto chatml = [](const std::string& said) {
    return "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + " +
           said +
           " + '<|im_end|>' + '\\n' }}{% endfor %}"
           "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}";
  };
  if (name == "chatml") return chatml("m['content']") + "{% endif %}";
  if (name == "qwen3") {
    return chatml("m['content'].split('</think>')[-1].lstrip('\\n')") +
           "{% if enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' "
           "}}{% endif %}{% endif %}";
  }
  ESP_CHECK(name == "llama3");
  return "<|begin_of_text|>{% for m in messages %}{{ '<|start_header_id|>' + "
         "m['role'] + '<|end_header_id|>\\n\\n' + m['content'] | trim + "
         "'<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}"
         "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif "
         "%}";
}

// GPT-2's alphabet: a printable character for every byte.
std::string Spell(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto b = static_cast<uint8_t>(c);
    int code = b;
    if (!((b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174)) {
      // The n-th of the others is 256 + n.
      int n = 0;
      for (int k = 0; k < b; ++k) {
        n += !((k >= 33 && k <= 126) || (k >= 161 && k <= 172) || k >= 174);
      }
      code = 256 + n;
    }
    if (code < 128) {
      out += static_cast<char>(code);
    } else {
      out += static_cast<char>(0xC0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 63));
    }
  }
  return out;
}

// Makes the log-probs of a token those of one that is never written, about the
// -23 +- 10 that its reward is made from.
void MakeUnlikely(int token, const TrunkConfig& config,
                  std::vector<RandomTensor>& tensors) {
  const auto hidden = static_cast<size_t>(config.hidden_size);
  for (RandomTensor& tensor : tensors) {
    if (tensor.name != "lm_head.weight") continue;
    for (size_t i = 0; i < hidden; ++i) {
      tensor.values[static_cast<size_t>(token) * hidden + i] *= -8;
    }
  }
}

}  // namespace

std::vector<std::string> RewardCheckpointNames() {
  std::vector<std::string> names;
  for (const PublishedLayout& one : AllPublished())
    names.emplace_back(one.name);
  return names;
}

std::vector<std::string> OneReadingNames() {
  std::vector<std::string> names;
  for (const PublishedLayout& one : AllPublished()) {
    if (one.readings == 1) names.emplace_back(one.name);
  }
  return names;
}

json RewardTokenizerJson() {
  json vocab = json::object(), merges = json::array();
  for (int b = 0; b < 256; ++b) {
    vocab[Spell(std::string(1, static_cast<char>(b)))] = b;
  }
  const std::pair<const char*, const char*> pairs[] = {
      {"\xD0", "\xBA"},
      {"\xD0", "\xB8"},
      {"\xD0\xBA", "\xD0\xB8"},
      {" ", "\xD0\xBA\xD0\xB8"},
      {" ", "\xD0\xB8"},
      {" ", "+"},
      {" ", "-"},
      {"\n", "\n"},
      {"\n\n", "\n\n"},
      {" ", "\n\n\n\n"},
      {" \n\n\n\n", "\n"},
      {".", "\n"},
      {".", "\n\n"},
      {"Y", "es"},
      {"y", "es"},
      {"N", "o"},
      {"n", "o"},
      {"t", "e"},
      {"te", "p"},
      {"e", "s"},
      {"S", "tep"},
      {"t", "h"},
      {"th", "e"},
      {" ", "the"},
      {"i", "s"},
      {" ", "is"},
      {" ", "="}};
  for (const auto& [left, right] : pairs) {
    const std::string l = Spell(left), r = Spell(right);
    if (!vocab.contains(l + r)) vocab[l + r] = vocab.size();
    merges.push_back(l + " " + r);
  }
  json added = json::array();
  int id = static_cast<int>(vocab.size());
  for (const char* name :
       {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<extra_0>",
        "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
        "<|eot_id|>", "<｜begin▁of▁sentence｜>", "<｜User｜>",
        "<｜Assistant｜>", "<｜end▁of▁sentence｜>", "<|vision_start|>"}) {
    added.push_back({{"id", id++},
                     {"content", name},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  const char* words =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
      "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  return {{"version", "1.0"},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "Sequence"},
            {"pretokenizers",
             {{{"type", "Split"},
               {"pattern", {{"Regex", words}}},
               {"behavior", "Isolated"},
               {"invert", false}},
              {{"type", "ByteLevel"},
               {"add_prefix_space", false},
               {"trim_offsets", false},
               {"use_regex", false}}}}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
}

void WriteRewardTokenizer(const std::string& folder,
                          const std::string& chat_template) {
  ESP_CHECK_OK(WriteFileAtomic(folder + "/tokenizer.json",
                               RewardTokenizerJson().dump()));
  json config = {{"bos_token", "<|endoftext|>"},
                 {"eos_token", "<|endoftext|>"},
                 {"add_bos_token", false}};
  if (!chat_template.empty()) config["chat_template"] = JinjaOf(chat_template);
  ESP_CHECK_OK(
      WriteFileAtomic(folder + "/tokenizer_config.json", config.dump()));
}

RewardCheckpoint WriteRewardCheckpoint(const std::string& name, uint64_t seed,
                                       const std::string& tokenizer) {
  const PublishedLayout* published = nullptr;
  for (const PublishedLayout& one : AllPublished()) {
    if (name == one.name) published = &one;
  }
  ESP_CHECK(published != nullptr);
  json words =
      tokenizer.empty()
          ? RewardTokenizerJson()
          : json::parse(ReadFile(tokenizer + "/tokenizer.json").value());
  if (name == "llemma_prm") {
    // In Llama's tokenizer each newline is a token.
    json merges = json::array();
    for (const json& merge : words["model"]["merges"]) {
      const auto text = merge.get<std::string>();
      if (text.find(Spell("\n")) == text.npos) merges.push_back(merge);
    }
    words["model"]["merges"] = merges;
  }
  TrunkConfig config = TinyConfig();
  config.vocab_size = static_cast<int>(words["model"]["vocab"].size() +
                                       words["added_tokens"].size() + 3);
  config.context_length = 4096;
  config.reward_head = false;
  config.head = HeadKind::kNone;
  config.head_labels = 0;
  config.head_bias = false;
  config.tied_embeddings = false;
  config.architecture = published->body;
  config.qkv_bias = published->body == Architecture::kQwen2;
  config.qk_norm = published->body == Architecture::kQwen3;

  RewardCheckpoint out{.folder = TempFolder(), .plain = TempFolder()};
  out.hidden_size = config.hidden_size;
  std::vector<RandomTensor> tensors = RandomTensors(config, seed, DType::kF32);
  if (name == "laser") {
    MakeUnlikely(words["added_tokens"].back()["id"], config, tensors);
  }
  ESP_CHECK_OK(WriteTensors(out.plain, config, tensors, DType::kF32));
  std::vector<RandomTensor> stored;
  for (RandomTensor& tensor : tensors) {
    if (tensor.name == "lm_head.weight" && !published->lm_head) continue;
    tensor.name = published->prefix + tensor.name;
    stored.push_back(std::move(tensor));
  }
  uint64_t index = 0;
  for (const HeadTensor& part : published->head) {
    const int rows = part.rows == 0 ? config.hidden_size : part.rows;
    const int columns = part.vector ? 1 : config.hidden_size;
    RandomStream random(StreamKey(seed, 1, index++, Purpose::kTest));
    RandomTensor tensor{.name = part.name, .shape = {rows}, .values = {}};
    if (!part.vector) tensor.shape.push_back(columns);
    for (int i = 0; i < rows * columns; ++i) {
      tensor.values.push_back(static_cast<float>(0.25 * random.Normal()));
    }
    out.head[tensor.name] = tensor.values;
    stored.push_back(std::move(tensor));
  }
  ESP_CHECK_OK(WriteTensors(out.folder, config, stored, DType::kF32));
  json hf = HfConfigJson(config);
  hf["architectures"] = {published->architecture};
  ESP_CHECK_OK(WriteFileAtomic(out.folder + "/config.json", hf.dump(2)));
  for (const std::string& folder : {out.folder, out.plain}) {
    WriteRewardTokenizer(folder, published->chat);
    ESP_CHECK_OK(WriteFileAtomic(folder + "/tokenizer.json", words.dump()));
  }
  return out;
}

}  // namespace espalier
