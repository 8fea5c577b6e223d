#include "models/prompt/streamed_text.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

TEST(StreamedTextTest, CharactersComeWhole) {
  StreamedText text;
  EXPECT_EQ(text.Push("a\xF0\x9F"), "a");
  EXPECT_EQ(text.Push("\xA6\x8A\xC3"), "\xF0\x9F\xA6\x8A");
  EXPECT_EQ(text.Push("\xA9"), "\xC3\xA9");
  EXPECT_EQ(text.Finish(7), "");
}

TEST(StreamedTextTest, NothingOfAStopIsShown) {
  StreamedText text({"\n\nQ:", "END"});
  EXPECT_EQ(text.Push("5\n"), "5");
  EXPECT_EQ(text.Push("6\n\n"), "\n6");
  EXPECT_EQ(text.Push("Q"), "");
  EXPECT_EQ(text.Push("R E"), "\n\nQR ");
  EXPECT_EQ(text.Push("N"), "");
  EXPECT_EQ(text.Push("T more"), "ENT more");
  EXPECT_EQ(text.Push(" EN"), " ");
  EXPECT_EQ(text.Push("D"), "");
  // The text is "5\n6\n\nQR ENT more "; the stop string after it is dropped.
  EXPECT_EQ(text.Finish(17), "");
}

TEST(StreamedTextTest, WhatOnlyBeginsAStopIsShownAtTheEnd) {
  StreamedText text({"END"});
  EXPECT_EQ(text.Push("the EN"), "the ");
  EXPECT_EQ(text.Finish(6), "EN");
}

TEST(StreamedTextTest, AllPiecesMakeTheText) {
  const std::string all = "x\xE2\x82\xAC y\xC3\xA9 z\n\nQ";
  for (size_t step = 1; step < all.size(); ++step) {
    StreamedText text({"\n\nQ:"});
    std::string shown;
    for (size_t at = 0; at < all.size(); at += step) {
      shown += text.Push(std::string_view(all).substr(at, step));
    }
    EXPECT_EQ(shown + text.Finish(all.size()), all) << step;
  }
}

}  // namespace
}  // namespace espalier
