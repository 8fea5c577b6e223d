#include "src/eval/text_list.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

std::vector<std::string> ListedTexts(const TextList& list) {
  return list.First(list.size());
}

TEST(TextList, TextsComeBackAsTheyWerePut) {
  const std::vector<std::string> texts = {
      "", "a", "", std::string("b\0c", 3), std::string(100'000, 'x'), ""};
  for (const bool on_disk : {false, true}) {
    TextList list(on_disk ? std::make_shared<ScratchFile>() : nullptr);
    EXPECT_TRUE(list.empty());
    for (const std::string& text : texts) list.push_back(text);
    EXPECT_EQ(ListedTexts(list), texts);
    list.Seal();
    EXPECT_EQ(ListedTexts(list), texts);
    list.push_back("after");
    EXPECT_EQ(list.size(), texts.size() + 1);
    EXPECT_EQ(ListedTexts(list).back(), "after");
  }
}

TEST(TextList, ListsOfOneFileKeepApart) {
  const auto scratch = std::make_shared<ScratchFile>();
  TextList even(scratch), odd(scratch);
  std::vector<std::string> evens, odds;
  for (int i = 0; i < 40'000; i += 2) {
    evens.push_back(absl::StrCat("the even number ", i));
    odds.push_back(absl::StrCat("the odd one ", i + 1));
    even.push_back(evens.back());
    odd.push_back(odds.back());
  }
  EXPECT_EQ(ListedTexts(even), evens);
  EXPECT_EQ(ListedTexts(odd), odds);
}

// Writes fail beyond a limit of the process, as on a full disk.
void FillALimitedDisk() {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {.rlim_cur = 100'000, .rlim_max = 100'000};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  TextList list(std::make_shared<ScratchFile>());
  std::vector<std::string> texts;
  for (int i = 0; i < 30'000; ++i) {
    texts.push_back(absl::StrCat("text ", i));
    list.push_back(texts.back());
  }
  list.Seal();
  ::exit(ListedTexts(list) == texts ? 0 : 1);
}

TEST(TextList, AFullDiskLosesNothing) {
  EXPECT_EXIT(FillALimitedDisk(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace espalier
