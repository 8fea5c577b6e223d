#include "models/prompt/find_template.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/models/testing/gguf_builder.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// The literals that identify the published templates, each in a minimal
// template.
const std::string kChatMl =
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + "
    "m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

std::string ChatMl(const std::string& begin, const std::string& end) {
  return begin + kChatMl.substr(0, kChatMl.rfind("{% endif %}")) + end +
         "{% endif %}";
}

std::string Mistral(const std::string& open, const std::string& close,
                    const std::string& rest) {
  return "{{ bos_token }}{% for m in messages %}{{ " + open +
         " + m['content'] + " + close + " }}" + rest + "{% endfor %}";
}

std::string NameOf(const std::string& text) {
  const auto chat = RecogniseTemplate(text, "here");
  return chat.ok() ? chat->name() : "none";
}

class FindTemplateTest : public testing::Test {
 protected:
  FindTemplateTest() : folder_(testing::TempDir() + "/find_template") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~FindTemplateTest() override { fs::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  const std::string folder_;
};

TEST_F(FindTemplateTest, ChatMlByItsThinking) {
  EXPECT_EQ(NameOf(kChatMl), "chatml");
  const std::string closed =
      "{% if enable_thinking is defined and enable_thinking is false %}"
      "{{ '<think>\\n\\n</think>\\n\\n' }}";
  EXPECT_EQ(NameOf(ChatMl("", closed + "{% endif %}")), "qwen3");
  EXPECT_EQ(NameOf(ChatMl("", "{{ '<think>\\n' }}")), "qwq");
  EXPECT_EQ(NameOf(ChatMl("", closed + "{% else %}{{ '<think>\\n' }}"
                                       "{% endif %}")),
            "qwen3.5");
  // A thinking block written only into earlier turns does not count.
  EXPECT_EQ(NameOf(ChatMl("{{ '<think>\\n' + m.reasoning_content }}", "")),
            "chatml");
}

TEST_F(FindTemplateTest, DefaultSystemMessageIsRead) {
  const std::string own =
      "{{ '<|im_start|>system\\n' + m.content + "
      "'<|im_end|>\\n' }}";
  // Qwen/Qwen2.5-7B-Instruct and Qwen/Qwen2-7B-Instruct.
  const auto chat = RecogniseTemplate(
      ChatMl(own + "{{- '<|im_start|>system\\nYou are Qwen, created by Alibaba "
                   "Cloud. You are a helpful assistant.<|im_end|>\\n' }}",
             ""),
      "here");
  EXPECT_EQ(chat->default_system(),
            "You are Qwen, created by Alibaba Cloud. You are a helpful "
            "assistant.");
  EXPECT_EQ(RecogniseTemplate(ChatMl(own, ""), "here")->default_system(), "");
}

TEST_F(FindTemplateTest, Llama3ByItsHeadersAndDates) {
  const std::string text =
      "{{ bos_token }}{{ '<|start_header_id|>' + m['role'] + "
      "'<|end_header_id|>\\n\\n' + m['content'] | trim + '<|eot_id|>' }}";
  EXPECT_EQ(NameOf(text), "llama3");
  EXPECT_EQ(NameOf(text + "{{ \"Cutting Knowledge Date: December 2023\\n\" }}"),
            "llama3.1");
}

TEST_F(FindTemplateTest, DeepSeekByWhereItsAnswerBegins) {
  const std::string text =
      "{{ '<｜User｜>' + m['content'] }}{% set content = "
      "content.split('</think>')[-1] %}{{ '<｜Assistant｜>' + content + "
      "'<｜end▁of▁sentence｜>' }}{% if add_generation_prompt %}";
  EXPECT_EQ(NameOf(text + "{{ '<｜Assistant｜>' }}"), "deepseek");
  EXPECT_EQ(NameOf(text + "{{ '<｜Assistant｜><think>\\n' }}"), "deepseek-r1");
  // V3.1 has a switch.
  EXPECT_EQ(NameOf(text + "{% if thinking %}{{ '<think>' }}"), "none");
}

TEST_F(FindTemplateTest, MistralByItsSpaces) {
  EXPECT_EQ(NameOf(Mistral("'[INST] '", "' [/INST]'",
                           "{{ m['content'] + eos_token + ' ' }}")),
            "mistral-v0.1");
  EXPECT_EQ(NameOf(Mistral("'[INST] '", "' [/INST]'",
                           "{{ m['content'] + eos_token }}")),
            "mistral-v0.2");
  EXPECT_EQ(NameOf(Mistral("' [INST] '", "' [/INST]'", "")), "mistral-v1");
  EXPECT_EQ(NameOf(Mistral("\"[INST] \"", "\"[/INST]\"", "")), "mistral-v3");
  EXPECT_EQ(NameOf(Mistral("\"[INST]\"", "\"[/INST]\"", "")), "mistral-tekken");
  EXPECT_EQ(NameOf(Mistral("'[INST] '", "'[/INST]'",
                           "{{ '[SYSTEM_PROMPT] ' + m['content'] + "
                           "'[/SYSTEM_PROMPT]' }}")),
            "mistral-v7");
}

TEST_F(FindTemplateTest, OthersAreRefusedWithWhatToDo) {
  // As in Llama 2, Phi-4, Gemma, and a later Mistral.
  EXPECT_EQ(NameOf("[INST] <<SYS>>\\n"), "none");
  EXPECT_EQ(NameOf("<|im_start|>user<|im_sep|>x<|im_end|>"), "none");
  EXPECT_EQ(NameOf("<start_of_turn>user"), "none");
  EXPECT_EQ(NameOf(Mistral("'[INST]'", "'[/INST]'", "{{ '[SYSTEM_PROMPT]' }}")),
            "none");
  const auto status = RecogniseTemplate("", "x/chat_template.jinja").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("x/chat_template.jinja"),
            absl::string_view::npos);
  EXPECT_NE(status.message().find("--template"), absl::string_view::npos);
}

TEST_F(FindTemplateTest, TheDefaultSystemMessageIsTheOneWholeLiteral) {
  const std::string open = "<|im_start|>system\n", close = "<|im_end|>";
  const auto system = [&](const std::string& text) {
    return RecogniseTemplate(text, "here")->default_system();
  };
  EXPECT_EQ(system("{{ '" + open + "' + m }}" + open + "Be kind." + close),
            "Be kind.");
  EXPECT_EQ(system(open + "{{ m }}" + close + open + "A" + close), "A");
  // Megabytes of beginnings take no time.
  std::string many;
  for (int i = 0; i < 200000; ++i) many += open;
  EXPECT_EQ(system(many + "A" + close), "A");
}

TEST_F(FindTemplateTest, ACheckpointsFilesAreRead) {
  EXPECT_EQ(FindTemplate(folder_, "auto").status().code(),
            absl::StatusCode::kNotFound);
  Write("tokenizer_config.json", "{}");
  EXPECT_EQ(FindTemplate(folder_, "auto").status().code(),
            absl::StatusCode::kNotFound);
  Write("tokenizer_config.json",
        nlohmann::json({{"chat_template", kChatMl}}).dump());
  EXPECT_EQ(FindTemplate(folder_, "auto")->name(), "chatml");
  Write("tokenizer_config.json",
        R"({"chat_template": [{"name": "tool_use", "template": "x"},
            {"name": "default", "template": "<|start_header_id|><|eot_id|>"}]})");
  EXPECT_EQ(FindTemplate(folder_, "auto")->name(), "llama3");
  Write("chat_template.jinja", kChatMl);
  EXPECT_EQ(FindTemplate(folder_, "auto")->name(), "chatml");
  EXPECT_EQ(FindTemplate(folder_, "plain")->name(), "plain");
}

TEST_F(FindTemplateTest, AGgufFileHoldsItsTemplate) {
  const std::string path = folder_ + "/t.gguf";
  GgufBuilder().Text("general.architecture", "qwen2").Write(path);
  EXPECT_EQ(FindTemplate(path, "auto").status().code(),
            absl::StatusCode::kNotFound);
  GgufBuilder().Text("tokenizer.chat_template", kChatMl).Write(path);
  EXPECT_EQ(FindTemplate(path, "auto")->name(), "chatml");
  GgufBuilder().Whole("tokenizer.chat_template", 3).Write(path);
  EXPECT_EQ(FindTemplate(path, "auto").status().code(),
            absl::StatusCode::kInvalidArgument);
  Write("t.gguf", "GGUF");
  EXPECT_FALSE(FindTemplate(path, "auto").ok());
}

TEST_F(FindTemplateTest, ABrokenConfigIsAnError) {
  for (const char* bad :
       {"", "[]", "{\"chat_template\": 3}", "{\"chat_template\": []}",
        "{\"chat_template\": [1, {\"name\": 2}, {\"name\": \"default\"}]}"}) {
    Write("tokenizer_config.json", bad);
    const auto status = FindTemplate(folder_, "auto").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_NE(status.message().find("tokenizer_config.json"),
              absl::string_view::npos);
  }
}

TEST_F(FindTemplateTest, AnyOtherProgramIsRun) {
  const std::string turns =
      "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}"
      "{{ eos_token }}{% endfor %}";
  Write("chat_template.jinja", turns);
  Write("tokenizer_config.json",
        R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>"})");
  const auto chat = FindTemplate(folder_, "auto");
  ASSERT_TRUE(chat.ok()) << chat.status();
  EXPECT_EQ(chat->source(), turns);
  const std::vector<ChatMessage> messages = {{ChatRole::kUser, "Hi"}};
  EXPECT_EQ(chat->Render(messages).value(), "<s>user: Hi</s>");

  const std::string path = folder_ + "/model.gguf";
  GgufBuilder()
      .Text("tokenizer.chat_template", turns)
      .Texts("tokenizer.ggml.tokens", {"a", "<s>", "</s>"})
      .Whole("tokenizer.ggml.bos_token_id", 1)
      .Whole("tokenizer.ggml.eos_token_id", 2)
      .Write(path);
  const auto same = FindTemplate(path, "auto");
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->Render(messages).value(), "<s>user: Hi</s>");
}

TEST_F(FindTemplateTest, AKnownOneThatReadsOtherwiseIsRun) {
  Write("chat_template.jinja", kChatMl);
  EXPECT_EQ(FindTemplate(folder_, "auto")->name(), "chatml");
  const std::string own = "Answer well.\n" + kChatMl;
  Write("chat_template.jinja", own);
  const auto chat = FindTemplate(folder_, "auto");
  ASSERT_TRUE(chat.ok()) << chat.status();
  EXPECT_EQ(chat->source(), own);
  EXPECT_EQ(
      chat->Render(std::vector<ChatMessage>{{ChatRole::kUser, "Hi"}}).value(),
      "Answer well.\n<|im_start|>user\nHi<|im_end|>\n"
      "<|im_start|>assistant\n");
}

TEST_F(FindTemplateTest, WhatCannotBeRunIsNamed) {
  Write("chat_template.jinja", "{% for %}");
  const auto status = FindTemplate(folder_, "auto").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const char* part : {"chat_template.jinja", "line 1", "--template"}) {
    EXPECT_NE(status.message().find(part), absl::string_view::npos) << part;
  }
}

}  // namespace
}  // namespace espalier
