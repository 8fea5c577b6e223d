// Damaged, odd or hostile files: errors name file and line, `strict` stops at
// the first one, otherwise the rest is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/utf8.h"
#include "datasets/sets/labelled_steps.h"
#include "datasets/sets/problem_set.h"
#include "tests/base/one_thread.h"
#include "tests/base/resident_memory.h"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

std::string BadRow(int i) {
  return absl::StrCat("{\"question\": \"Q", i, "\", \"answer\": \"", i,
                      "\"}\n");
}

std::string Rows(int n) {
  std::string text;
  for (int i = 1; i <= n; ++i) text += BadRow(i);
  return text;
}

std::string Echo(const std::string& tests) {
  return absl::StrCat("{\"question\": \"Echo.\", \"tests\": ", tests, "}\n");
}

std::string Verl(std::string messages, const std::string& truth) {
  std::erase(messages, '\n');
  return absl::StrCat("{\"prompt\": ", messages,
                      ", \"reward_model\": {\"ground_truth\": ", truth, "}}\n");
}

struct BadFile {
  const char* what;
  std::string name;
  std::string text;
  std::string place;  // "name:line" that the message contains
  std::string says;
  int read;  // problems that are still read
  int skipped;
};

std::vector<BadFile> BadFiles() {
  const std::string zipped = Gzipped(Rows(5000));
  std::string damaged = zipped;
  damaged[damaged.size() - 6] ^= 0x55;  // the checksum
  std::string deep = "{\"question\": ";
  deep.append(1000000, '[');
  return {
      {"not JSON", "a.jsonl", BadRow(1) + "{\"question\": \n" + BadRow(3),
       "a.jsonl:2", "not JSON at column 14", 2, 1},
      {"a list", "b.jsonl", BadRow(1) + "\n[1]\n", "b.jsonl:3",
       "expected a JSON object, found a value of type array", 1, 1},
      {"wrong columns", "c.jsonl", BadRow(1) + "{\"q\": 1}\n" + BadRow(3),
       "c.jsonl:2", "no column \"question\"", 2, 1},
      {"wrong columns first", "d.jsonl", "{\"q\": 1}\n" + BadRow(2),
       "d.jsonl:1", "no known kind of set has the columns \"q\"", 1, 1},
      {"wrong type", "e.jsonl",
       BadRow(1) + "{\"question\": {\"a\": 1}, \"answer\": 1}\n", "e.jsonl:2",
       "expected text in \"question\", found {\"a\":1}", 1, 1},
      {"a gold of a wrong type", "e1.jsonl",
       BadRow(1) + "{\"question\": \"Q\", \"answer\": {\"a\": 2}}\n",
       "e1.jsonl:2", "expected text or a number in \"answer\", found {\"a\":2}",
       1, 1},
      {"a competition's gold of a wrong type", "e2.jsonl",
       "{\"problem\": \"P\", \"answer\": 1}\n"
       "{\"problem\": \"P\", \"answer\": true}\n",
       "e2.jsonl:2", "expected text or a number in \"answer\", found true", 1,
       1},
      {"golds of a wrong type", "e3.jsonl",
       BadRow(1) + "{\"question\": \"Q\", \"golds\": [[1]]}\n", "e3.jsonl:2",
       "expected a list of texts and numbers in \"golds\", found [[1]]", 1, 1},
      {"options of a wrong type", "e4.jsonl",
       R"({"question": "Q", "choices": ["p", "q"], "answer": "A"})"
       "\n"
       R"({"question": "Q", "choices": 5, "answer": "A"})"
       "\n",
       "e4.jsonl:2", "expected options in \"choices\", found 5", 1, 1},
      {"an option that is not there", "e5.jsonl",
       R"({"question": "Q", "choices": ["p", "q"], "answerKey": "A"})"
       "\n"
       R"({"question": "Q", "choices": ["p", "q"], "answerKey": "Z"})"
       "\n",
       "e5.jsonl:2", "it is under \"answerKey\"", 1, 1},
      {"a ground truth of a wrong type", "e6.jsonl",
       Verl(R"("Q")", "\"1\"") + Verl(R"("Q")", "[[1, 2], 3]"), "e6.jsonl:2",
       "in \"reward_model.ground_truth\", found [[1,2],3]", 1, 1},
      {"messages of a wrong type", "e7.jsonl",
       Verl(R"("Q")", "\"1\"") + Verl("7", "\"1\""), "e7.jsonl:2",
       "in \"prompt\", found 7", 1, 1},
      {"no mark in GSM8K", "f.jsonl",
       "{\"question\": \"Q\", \"answer\": \"x\\n#### 1\"}\n"
       "{\"question\": \"Q\", \"answer\": \"2\"}\n",
       "f.jsonl:2",
       "expected \"#### \" before the final answer in \"answer\", found \"2\"",
       1, 1},
      {"the same id twice", "g.jsonl",
       "{\"id\": 1, \"question\": \"Q\"}\n{\"id\": 2, \"question\": \"Q\"}\n"
       "{\"id\": 1, \"question\": \"R\"}\n",
       "g.jsonl:3", "the id \"1\" is already in line 1", 2, 1},
      {"the same key twice", "h.jsonl",
       BadRow(1) + "{\"question\": \"a\", \"question\": \"b\"}\n", "h.jsonl:2",
       "gives \"question\" twice", 1, 1},
      {"a byte that is not UTF-8", "i.jsonl",
       BadRow(1) + "{\"question\": \"\xFF\"}\n" + BadRow(3), "i.jsonl:2",
       "byte 15 is not UTF-8 (0xff)", 2, 1},
      {"half a surrogate", "j.jsonl",
       BadRow(1) + "{\"question\": \"\\ud800\"}\n", "j.jsonl:2", "not JSON", 1,
       1},
      {"a number beyond doubles", "j1.jsonl",
       BadRow(1) + "{\"question\": \"Q\", \"answer\": 1e400}\n", "j1.jsonl:2",
       "has the number 1e400 at column 33, which no double holds", 1, 1},
      {"a NUL", "k.jsonl", BadRow(1) + std::string("\0\n", 2), "k.jsonl:2",
       "not JSON", 1, 1},
      {"a million brackets", "l.jsonl", BadRow(1) + deep + "\n" + BadRow(3),
       "l.jsonl:2", "nests deeper than 128", 2, 1},
      {"a million brackets in a list", "m.json",
       "[" + deep + std::string(1000000, ']') + "}, {\"question\": \"Q\"}]",
       "m.json:1", "nests deeper than 128", 1, 1},
      {"truncated gzip", "n.jsonl.gz", zipped.substr(0, zipped.size() / 2),
       "n.jsonl.gz:", "the gzip data ends too early", -1, 1},
      {"damaged gzip", "o.jsonl.gz", damaged,
       "o.jsonl.gz:", "the gzip data is damaged (incorrect data check)", -1, 1},
      {"no gzip", "p.jsonl.gz", Rows(3), "p.jsonl.gz:1", "expected gzip data",
       0, 0},
      {"a list that breaks off", "q.json",
       "[{\"question\": \"Q\"},\n{\"question\": \"R", "q.json:2",
       "the file ends inside the value that begins in line 2", 1, 1},
      {"a list without commas", "r.json",
       "[{\"question\": \"Q\"}\n{\"question\": \"R\"}]", "r.json:2",
       "expected a comma", 1, 1},
      {"a number in a list", "s.json",
       "[{\"question\": \"Q\"},\n7,\n{\"question\": \"R\"}]", "s.json:2",
       "found a value of type number", 2, 1},
      {"too few cells", "t.csv", "question,answer\nQ,1\nR\nS,3\n", "t.csv:3",
       "the row has 1 cells, expected 2", 2, 1},
      {"too many cells", "u.csv", "question,answer\nQ,1\nR, or S,2\n",
       "u.csv:3", "a cell with commas needs quotes", 1, 1},
      {"a quote that is never closed", "v.csv",
       "question,answer\nQ,1\n\"R,2\nS,3\n", "v.csv:3",
       "the quote that opens cell 1 is never closed", 1, 1},
      {"text after a quote", "w.csv", "question,answer\nQ,1\n\"R\"x,2\nS,3\n",
       "w.csv:3", "continues after its closing quote", 2, 1},
      {"a column named twice", "x.csv", "question,question\nQ,1\n", "x.csv:1",
       "names the column \"question\" twice", 0, 0},
      {"a cell that is not UTF-8", "y.csv", "question\nQ\n\xC3(\nR\n",
       "y.csv:3", "is not UTF-8", 2, 1},
      {"five numbers for 24", "z.csv", "Rank,Puzzles\n1,1 1 4 6\n2,1 2 3 4 5\n",
       "z.csv:3", "expected four numbers", 1, 1},
      {"no cases", "cases1.jsonl",
       Echo(R"([{"input": "1", "output": "1"}])") + Echo("[]"),
       "cases1.jsonl:2", "column \"tests\": expected at least one case", 1, 1},
      {"a case without output", "cases2.jsonl",
       Echo(R"([{"input": "1"}])") + Echo(R"([{"input": "1", "output": "1"}])"),
       "cases2.jsonl:1", "expected case 1 to have texts", 1, 1},
      {"compressed cases", "cases3.jsonl",
       Echo("\"eJxrYJkaz8gABhHZQEZ0\"") +
           Echo(R"("[{\"input\": \"1\", \"output\": \"1\"}]")"),
       "cases3.jsonl:1", "as JSON in a text", 1, 1},
      {"a turn of an assistant", "verl1.jsonl",
       Verl(R"([{"role": "user", "content": "Q"}])", "\"1\"") +
           Verl(R"([{"role": "user", "content": "Q"},
                    {"role": "assistant", "content": "A"}])",
                "\"1\""),
       "verl1.jsonl:2", "a message has the role \"assistant\"", 1, 1},
      {"tests as ground truth", "verl2.jsonl",
       Verl(R"([{"role": "user", "content": "Q"}])", "\"1\"") +
           Verl(R"([{"role": "user", "content": "Q"}])",
                R"("{\"inputs\": [\"1\"], \"outputs\": [\"1\"]}")"),
       "verl2.jsonl:2", "holds tests of a program", 1, 1},
      {"a number that is not there", "numbers1.csv",
       "Question,Numbers,Answer\nnumber0 ?,1.0,1\nnumber1 ?,1.0,1\n",
       "numbers1.csv:3", "has number1, and \"Numbers\" holds 1", 1, 1},
      {"marks for numbers", "numbers2.csv",
       "Question,Numbers,Answer\nN_00 ?,1.0,1\nN_00 N_01 ?,1.0,1\n",
       "numbers2.csv:3", "the question has N_01 in place of a number", 1, 1},
      {"marks without numbers", "numbers3.csv",
       "question,answer\n1 ?,1\nN_00 ?,1\n", "numbers3.csv:3",
       "no column \"Numbers\" or \"num_list\" gives it", 1, 1},
      {"options left out", "aqua1.jsonl",
       R"({"question": "Q", "options": ["A)1", "B)2"], "correct": "B"})"
       "\n"
       R"({"question": "Q", "options": [], "correct": "B"})"
       "\n",
       "aqua1.jsonl:2", "there are no options, and \"correct\" is \"B\"", 1, 1},
      {"options that are null", "aqua2.jsonl",
       R"({"question": "Q", "options": ["A)1", "B)2"], "answer_index": 1})"
       "\n"
       R"({"question": "Q", "options": null, "answer_index": 1})"
       "\n",
       "aqua2.jsonl:2", "there are no options, and \"answer_index\" is 1", 1,
       1},
      {"options in a file without", "mixed.jsonl",
       BadRow(1) +
           R"({"question": "x", "options": ["A)1", "B)2"], "correct": "B"})"
           "\n"
           R"({"question": "y", "options": null, "answer": "3"})" +
           "\n",
       "mixed.jsonl:2", "the record has options, which the kind plain", 2, 1},
      {"TruthfulQA", "truthful.jsonl",
       R"({"question": "Q", "mc1_targets": {"choices": ["a", "b"], "labels": [1, 0]}})"
       "\n",
       "truthful.jsonl:1", "TruthfulQA's \"mc1_targets\" is not read", 0, 0},
      {"messages as Python's text", "verl3.csv",
       "prompt,reward_model\n"
       "\"[{'role': 'user', 'content': 'Q'}]\",{'ground_truth': '3'}\n",
       "verl3.csv:2", "expected messages in \"prompt\", found", 0, 0},
      {"a ground truth in Python's text", "verl4.csv",
       "prompt,reward_model\nWhat is 1+2?,{'ground_truth': '3'}\n",
       "verl4.csv:2", "save the rows as JSON lines", 0, 0},
      {"an image", "image1.jsonl",
       R"({"question": "Q", "final_answer": ["1"], "image_1": null})"
       "\n"
       R"({"question": "R", "final_answer": ["1"], "image_1": {"path": "a.jpg"}})"
       "\n"
       R"({"question": "S", "final_answer": ["1"], "image": ""})"
       "\n",
       "image1.jsonl:2", "needs an image, which is in \"image_1\"", 2, 1},
      {"words and numbers as answers", "listed.jsonl",
       BadRow(1) +
           R"({"question": "When?", "answer": ["2012", "the year 2012"]})" +
           "\n",
       "listed.jsonl:2", "put accepted answers under \"golds\"", 1, 1},
      {"several lists of records", "lists1.json",
       R"({"questions": [{"question": "Q"}], "few_shot": [{"question": "R"}]})",
       "lists1.json:1",
       "expected one list of records, found 2: \"questions\", \"few_shot\"", 0,
       0},
      {"several lists on lines", "lists2.json",
       "{\n\"train\": [{\"question\": \"[\\\"Q\"}],\n\"n\": [1],\n"
       "\"test\": [{\"question\": \"R\"}]}\n",
       "lists2.json:1",
       "expected one list of records, found 2: \"train\", \"test\"", 0, 0},
      {"nothing", "empty.jsonl", "", "empty.jsonl", "no problems in it", 0, 0},
      {"blank lines", "blank.jsonl", "\n \r\n\n", "blank.jsonl",
       "no problems in it", 0, 0},
      {"nothing good", "bad.jsonl", "x\ny\n", "bad.jsonl:1",
       "2 records skipped", 0, 2},
      {"packed by another program", "packed.jsonl", "\x28\xB5\x2F\xFD\x04",
       "packed.jsonl", "packed by zstd; only gzip is read as it is", 0, 0},
      {"no text", "text.json", "once upon a time", "text.json:1",
       "expected a list or an object", 0, 0},
  };
}

TEST(BadInput, IsNamedByFileAndLine) {
  ESP_ONE_THREAD();
  for (const BadFile& bad : BadFiles()) {
    SCOPED_TRACE(bad.what);
    const std::string path = WriteTestFile(bad.name, bad.text);
    const std::string place = path.substr(0, path.rfind('/') + 1) + bad.place;
    const auto set = LoadSet(path, {});
    if (bad.read == 0) {
      ASSERT_FALSE(set.ok());
      const std::string message(set.status().message());
      EXPECT_TRUE(absl::StrContains(message, place)) << message;
      EXPECT_TRUE(absl::StrContains(message, bad.says)) << message;
      continue;
    }
    ASSERT_TRUE(set.ok()) << set.status();
    if (bad.read > 0) {
      EXPECT_EQ(set->problems.size(), static_cast<size_t>(bad.read));
    } else {
      EXPECT_GT(set->problems.size(), 1000u);
      EXPECT_LT(set->problems.size(), 5000u);
    }
    ASSERT_EQ(set->notes.size(), 2u);
    EXPECT_TRUE(absl::StrContains(set->notes[0], place)) << set->notes[0];
    EXPECT_TRUE(absl::StrContains(set->notes[0], bad.says)) << set->notes[0];
    EXPECT_TRUE(absl::StrContains(set->notes[1],
                                  absl::StrCat(", ", bad.skipped, " skipped")))
        << set->notes[1];
    const auto strict = LoadSet(path, {.strict = true});
    ASSERT_FALSE(strict.ok());
    const std::string message(strict.status().message());
    EXPECT_TRUE(absl::StrContains(message, place)) << message;
    EXPECT_TRUE(absl::StrContains(message, bad.says)) << message;
  }
}

// Where the file cannot be read twice.
TEST(BadInput, SeveralListsInAPipeAreRefused) {
  const std::string text = "{\"train\": [\n" + BadRow(1) +
                           "],\n\"names\": [\"a\"], \"test\": [\n" + BadRow(2) +
                           "]}";
  const auto reader = SetReader::Create(
      *RecordReader::Open(ByteSource::FromText(text, "f.json")), "f.json", {});
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE((*reader)->Next().ok());
  const auto second = (*reader)->Next();
  ASSERT_FALSE(second.ok());
  EXPECT_TRUE(absl::StrContains(second.status().message(),
                                "found 2: \"train\", \"test\""))
      << second.status();
}

// Records of one line each may have lists of objects.
TEST(BadInput, OneListIsReadNextToOthersOfNumbers) {
  const std::string record =
      R"({"question": "Q", "a": [{"b": 1}], "c": [{"d": 1}]})";
  for (const auto& [name, text] :
       {std::pair("one.json", "{\"n\": [1, 2], \"data\": [" + record +
                                  "], \"m\": {\"a\": [{\"b\": 2}]}}"),
        std::pair("lines.json", record + "\n" + record + "\n"),
        std::pair("line.jsonl", record + "\n")}) {
    const auto set = LoadSet(WriteTestFile(name, text), {.strict = true});
    ASSERT_TRUE(set.ok()) << name << ": " << set.status();
    EXPECT_EQ(set->problems[0].problem.question, "Q");
  }
}

TEST(BadInput, ManySkippedRecordsAreCountedAndAFewShown) {
  std::string text = BadRow(1);
  for (int i = 0; i < 100; ++i) text += "oops\n";
  const auto set = LoadSet(WriteTestFile("many.jsonl", text), {});
  ASSERT_TRUE(set.ok());
  ASSERT_EQ(set->notes.size(), 7u);
  EXPECT_EQ(set->notes[5], "skipped: 95 more");
  EXPECT_TRUE(absl::StrContains(set->notes[6], "1 read as plain, 100 skipped"))
      << set->notes[6];
}

TEST(BadInput, WindowsFilesAreReadAsOthers) {
  std::string text = "\xEF\xBB\xBF" + Rows(3);
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;
       at += 2) {
    text.insert(at, "\r");
  }
  for (const char* name : {"crlf.jsonl", "crlf.json", "crlf"}) {
    const auto set = LoadSet(WriteTestFile(name, text), {.strict = true});
    ASSERT_TRUE(set.ok()) << set.status();
    ASSERT_EQ(set->problems.size(), 3u);
    EXPECT_EQ(set->problems[2].problem.question, "Q3");
    EXPECT_TRUE(set->problems[2].problem.id.ends_with(":3"));
  }
}

TEST(BadInput, LinesAreReadUpToTheCap) {
  ESP_ONE_THREAD();
  const std::string ten(10 << 20, 'x');
  std::string text =
      BadRow(1) + "{\"question\": \"" + ten + "\"}\n" + BadRow(3);
  for (const char* name : {"ten.jsonl", "ten.json"}) {
    const auto set = LoadSet(WriteTestFile(name, text), {.strict = true});
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_EQ(set->problems[1].problem.question.size(), ten.size());
    EXPECT_EQ(set->problems[2].problem.question, "Q3");
  }
  text = BadRow(1) + "{\"question\": \"";
  text.append(kMaxRecordBytes, 'x');
  text += "\"}\n" + BadRow(3);
  const std::string path = WriteTestFile("long.jsonl", text);
  const auto set = LoadSet(path, {});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->problems.size(), 2u);
  EXPECT_TRUE(absl::StrContains(set->notes[0],
                                "long.jsonl:2: the record is longer than 64"))
      << set->notes[0];
  EXPECT_EQ(set->problems[1].problem.question, "Q3");
  // The same in a list and in table cells.
  text = "[" + BadRow(1) + ", {\"question\": \"";
  text.append(kMaxRecordBytes, 'x');
  text += "\"}, " + BadRow(3) + "]";
  const auto list = LoadSet(WriteTestFile("long.json", text), {});
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->problems.size(), 2u);
  EXPECT_EQ(list->notes.size(), 2u);
  text = "question\n";
  text.append(kMaxRecordBytes + 1, 'x');
  text += "\nQ3\n";
  const auto rows = LoadSet(WriteTestFile("long.csv", text), {});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->problems.size(), 1u);
  EXPECT_TRUE(
      absl::StrContains(rows->notes[0], "long.csv:2: the row is longer"));
}

// 65 MB of text in 300 KB of gzip, as a hostile file might have; one gzip
// stream per record, as appending writes them.
TEST(BadInput, MemoryIsThatOfARecord) {
  if (!kResidentMemoryTells) GTEST_SKIP() << "a sanitizer keeps memory";
  const std::string filler(1 << 16, ' ');
  std::string lines, list = Gzipped("[");
  for (int i = 0; i < 1000; ++i) {
    const std::string row =
        BadRow(i).substr(0, BadRow(i).size() - 2) + filler + "}";
    lines += Gzipped(row + "\n");
    list += Gzipped(row + (i < 999 ? "," : "]"));
  }
  for (const std::string& path : {WriteTestFile("big.jsonl.gz", lines),
                                  WriteTestFile("big.json.gz", list)}) {
    const int64_t before = ResidentBytes();
    const auto reader = SetReader::Open(path, {.strict = true});
    ASSERT_TRUE(reader.ok());
    int count = 0;
    int64_t most = 0;
    while (true) {
      const auto record = (*reader)->Next();
      ASSERT_TRUE(record.ok()) << record.status();
      if (!*record) break;
      if (++count % 100 == 0) most = std::max(most, ResidentBytes());
    }
    EXPECT_EQ(count, 1000);
    EXPECT_LT(most - before, 16 << 20) << path;
  }
}

// Time must be linear in the size of the file.
TEST(BadInput, ManyObjectsInOneLineTakeNoTime) {
  ESP_ONE_THREAD();
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "{\"question\": \"Q\"}";
  const auto set = LoadSet(WriteTestFile("one_line.json", text), {});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->problems.size(), 300000u);
}

TEST(BadInput, AFolderIsReadBeyondADamagedFile) {
  WriteTestFile("mixed/a.jsonl", BadRow(1));
  WriteTestFile("mixed/b.jsonl.gz", Gzipped(Rows(2000)).substr(0, 40));
  WriteTestFile("mixed/c.csv", "");
  const std::string last = WriteTestFile("mixed/d.jsonl", BadRow(4));
  const auto set = LoadSet(last.substr(0, last.rfind('/')), {});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_GE(set->problems.size(), 2u);
  EXPECT_EQ(set->problems.back().problem.question, "Q4");
  ASSERT_EQ(set->notes.size(), 3u);
  EXPECT_TRUE(absl::StrContains(set->notes[0], "b.jsonl.gz:"));
  EXPECT_TRUE(absl::StrContains(set->notes[1], "c.csv:1: expected a row of"));
}

TEST(BadInput, MissingFilesAndFoldersAreNamed) {
  const auto missing = SetReader::Open("/nowhere/f.jsonl", {});
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
  EXPECT_TRUE(
      absl::StrContains(missing.status().message(), "/nowhere/f.jsonl"));
  const std::string file = WriteTestFile("bare/readme.txt", "");
  const auto folder = SetReader::Open(file.substr(0, file.rfind('/')), {});
  EXPECT_TRUE(absl::IsNotFound(folder.status())) << folder.status();
}

TEST(BadInput, StepSetsAreCheckedToo) {
  struct Case {
    const char* record;
    const char* says;
  };
  const Case cases[] = {
      {R"({"problem": "P", "steps": [1], "label": 0})", "a step is not text"},
      {R"({"problem": "P", "steps": ["a"], "label": 1})",
       "neither an index of the 1"},
      {R"({"problem": "P", "steps": ["a"], "label": 18446744073709551615})",
       "neither an index of the 1"},
      {R"({"problem": "P", "steps": [], "label": -1})", "has no steps"},
      {R"({"problem": " ", "steps": ["a"], "label": -1})", "problem is empty"},
      {R"({"problem": "P", "answer": "a"})", "expected a solution with"},
      {R"({"input": "P Step 1: a ки", "label": "P Step 1: a"})",
       "step 1 has no + or -"},
      {R"({"input": "P a ки", "label": "P a +"})", "no \"Step 1:\""},
      {R"({"input": "ки Step 1: a ки", "label": "+ Step 1: a +"})",
       "a mark before \"Step 1:\""},
      {R"({"question": {"problem": "P"}, "label": {"steps": [{"completions": [{"text": "a", "rating": 2}], "chosen_completion": 0}]}})",
       "a rating is 2"},
      {R"({"question": {"problem": "P"}, "label": {"steps": [{"completions": [{"text": "a", "rating": 18446744073709551615}]}]}})",
       "a rating is 9223372036854775807"},
      {R"({"question": {"problem": "P"}, "label": {"steps": [{"completions": [{"text": "a", "rating": 1}], "chosen_completion": 7}]}})",
       "\"chosen_completion\" is 7 of 1 completions"},
      {R"({"question": {"problem": "P"}, "label": {"steps": 3}})",
       "no list \"label.steps\""},
  };
  for (const Case& c : cases) {
    const auto reader = StepSetReader::Create(
        MakeJsonLinesReader(ByteSource::FromText(c.record, "f")), "f", {});
    const auto one = reader->Next();
    ASSERT_FALSE(one.ok()) << c.record;
    EXPECT_TRUE(absl::StrContains(one.status().message(), "f:1: "));
    EXPECT_TRUE(absl::StrContains(one.status().message(), c.says))
        << one.status();
  }
}

TEST(Utf8, FirstInvalidByte) {
  // From the Unicode Standard, tables 3-7 and 3-8.
  EXPECT_EQ(FirstInvalidUtf8("a\u00e9\u20ac\U0001f600"), std::nullopt);
  EXPECT_EQ(FirstInvalidUtf8("ab\xC0\xAF"), 2u);
  EXPECT_EQ(FirstInvalidUtf8("\xE0\x9F\x80"), 0u);
  EXPECT_EQ(FirstInvalidUtf8("\xED\xA0\x80"), 0u);      // a surrogate
  EXPECT_EQ(FirstInvalidUtf8("\xF4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(FirstInvalidUtf8("\xF0\x80\x80\x80"), 0u);
  EXPECT_EQ(FirstInvalidUtf8("x\xE2\x82"), 1u);  // truncated
  EXPECT_EQ(FirstInvalidUtf8("\x80"), 0u);
}

// Random changes to good files: no crash, no hang, and every problem read is
// valid.
TEST(ReaderFuzz, MutatedFilesNeverBreakTheReader) {
  const std::string seeds[] = {
      Rows(4),
      "[" + BadRow(1) + "," + BadRow(2) + "]",
      "{\"data\": [" + BadRow(1) + "," + BadRow(2) +
          "], \"n\": {\"a\": [1, 2]}}",
      "{\n\"problem\": \"P\",\n\"solution\": \"\\\\boxed{1}\"\n}\n",
      "id,question,answer\n1,\"a \"\"b\"\"\nc\",2\n2,x,3\n",
      "{\"id\": \"a\", \"problem\": \"P\", \"steps\": [\"a\", \"b\"], "
      "\"label\": 1, \"final_answer_correct\": false}\n",
      "{\"input\": \"P Step 1: a ки\\nStep 2: b ки\", \"label\": \"P Step 1: a "
      "+\\nStep 2: b -\", \"task\": \"GSM8K\"}\n",
      Gzipped(Rows(50)),
  };
  const std::string_view tokens[] = {"{",
                                     "}",
                                     "[",
                                     "]",
                                     "\"",
                                     ",",
                                     ":",
                                     "\n",
                                     "\r\n",
                                     "\\",
                                     "\0",
                                     "\xFF",
                                     "\xEF\xBB\xBF",
                                     "\xC3",
                                     "1e999",
                                     "-",
                                     "\\u0000",
                                     "null",
                                     "\"question\"",
                                     "\"answer\"",
                                     "[[[[[[[["};
  RandomStream rng(StreamKey(11, 0, 0, Purpose::kTest));
  const std::string names[] = {"f.jsonl", "f.json", "f.csv", "f.tsv", "f"};
  int good = 0, bad = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seeds[rng.Below(std::size(seeds))];
    const uint32_t changes = rng.Below(6);
    for (uint32_t k = 0; k < changes && !text.empty(); ++k) {
      const size_t at = rng.Below(static_cast<uint32_t>(text.size()));
      switch (rng.Below(4)) {
        case 0:
          text[at] = static_cast<char>(rng.Below(256));
          break;
        case 1:
          text.erase(at, rng.Below(20));
          break;
        case 2:
          text.insert(at, tokens[rng.Below(std::size(tokens))]);
          break;
        default:
          text.insert(at, text.substr(at / 2, rng.Below(40)));
      }
    }
    const std::string& name = names[rng.Below(std::size(names))];
    std::unique_ptr<ByteSource> source = ByteSource::FromText(text, name);
    if (text.starts_with("\x1f\x8b")) {
      if (round % 8 != 0) continue;  // through a file, so fewer of them
      auto opened = ByteSource::Open(WriteTestFile("fuzz", text));
      ASSERT_TRUE(opened.ok()) << opened.status();
      source = *std::move(opened);
    }
    auto records = RecordReader::Open(std::move(source));
    if (!records.ok()) {
      ++bad;
      continue;
    }
    if (round % 2 == 0) {
      SetOptions options;
      if (rng.Below(4) == 0) options.shuffle = 1;
      options.limit = rng.Below(3);
      const auto reader = SetReader::Create(*std::move(records), name, options);
      ASSERT_TRUE(reader.ok());
      for (int n = 0;; ++n) {
        ASSERT_LT(n, 1000);
        const auto record = (*reader)->Next();
        if (!record.ok()) {
          EXPECT_FALSE(record.status().message().empty());
          ++bad;
          break;
        }
        if (!*record) break;
        ++good;
        EXPECT_FALSE((*record)->question.empty());
        EXPECT_EQ(FirstInvalidUtf8((*record)->question), std::nullopt);
        EXPECT_TRUE((*record)->fields.is_object());
      }
      for (const std::string& note : (*reader)->report().Notes()) {
        EXPECT_FALSE(note.empty());
      }
    } else {
      const auto reader = StepSetReader::Create(*std::move(records), name, {});
      for (int n = 0;; ++n) {
        ASSERT_LT(n, 1000);
        const auto one = reader->Next();
        if (!one.ok()) {
          ++bad;
          break;
        }
        if (!*one) break;
        ++good;
        EXPECT_EQ((*one)->steps.size(), (*one)->labels.size());
        EXPECT_LT((*one)->first_error, static_cast<int>((*one)->steps.size()));
      }
    }
  }
  EXPECT_GT(good, 2000);
  EXPECT_GT(bad, 2000);
}

}  // namespace
}  // namespace espalier
