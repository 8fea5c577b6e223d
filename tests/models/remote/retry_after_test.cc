#include "models/remote/retry_after.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

constexpr char kNow[] = "Sun, 06 Nov 1994 08:49:37 GMT";

TEST(RetryAfter, ReadsSeconds) {
  EXPECT_EQ(RetryAfterSeconds("0", ""), 0);
  EXPECT_EQ(RetryAfterSeconds("120", ""), 120);
  EXPECT_EQ(RetryAfterSeconds(" 2 ", kNow), 2);
  EXPECT_EQ(RetryAfterSeconds("0.5", ""), 0.5);
}

TEST(RetryAfter, ReadsDatesByTheServersOwn) {
  EXPECT_EQ(RetryAfterSeconds("Sun, 06 Nov 1994 08:51:07 GMT", kNow), 90);
  EXPECT_EQ(RetryAfterSeconds(" Sun, 06 Nov 1994 08:49:37 GMT ", kNow), 0);
  EXPECT_EQ(RetryAfterSeconds("Mon, 07 Nov 1994 00:00:00 GMT", kNow), 54623);
  // Over the end of February of a leap year and of another one.
  EXPECT_EQ(RetryAfterSeconds("Fri, 01 Mar 2024 00:00:01 GMT",
                              "Wed, 28 Feb 2024 23:59:59 GMT"),
            86402);
  EXPECT_EQ(RetryAfterSeconds("Sat, 01 Mar 2025 00:00:01 GMT",
                              "Fri, 28 Feb 2025 23:59:59 GMT"),
            2);
}

TEST(RetryAfter, ADateThatHasPassedAsksForNoWait) {
  EXPECT_EQ(RetryAfterSeconds("Sun, 06 Nov 1994 08:49:36 GMT", kNow), 0);
  EXPECT_EQ(RetryAfterSeconds("Thu, 01 Jan 1970 00:00:00 GMT", kNow), 0);
}

TEST(RetryAfter, WithoutADateBesideItADateSaysNothing) {
  EXPECT_EQ(RetryAfterSeconds(kNow, ""), -1);
  EXPECT_EQ(RetryAfterSeconds(kNow, "yesterday"), -1);
}

TEST(RetryAfter, WhatCannotBeReadSaysNothing) {
  for (const char* text :
       {"", "-1", "nan", "soon", "12 s", "06 Nov 1994 08:51:07 GMT",
        "Sun, 06 Nov 1994 08:51:07", "Sun, 06 Nov 1994 08:51:07 CET",
        "Sun, 06 nov 1994 08:51:07 GMT", "Son, 06 Nov 1994 08:51:07 GMT",
        "Sun, 00 Nov 1994 08:51:07 GMT", "Sun, 31 Nov 1994 08:51:07 GMT",
        "Sun, 06 Nov 1994 24:51:07 GMT", "Sun, 06 Nov 1994 08:60:07 GMT",
        "Sun, 06 Nov 1994 08:51:61 GMT", "Sun, -6 Nov 1994 08:51:07 GMT",
        "Sun, 06 Nov 1994 +8:51:07 GMT", "Sunday, 06-Nov-94 08:51:07 GMT"}) {
    EXPECT_EQ(RetryAfterSeconds(text, kNow), -1) << text;
  }
}

}  // namespace
}  // namespace espalier
