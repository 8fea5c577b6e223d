// For tests with a long single-threaded computation.
#ifndef ESPALIER_TESTS_BASE_ONE_THREAD_H_
#define ESPALIER_TESTS_BASE_ONE_THREAD_H_

#include <gtest/gtest.h>

// Put this first in a test: skips it under ThreadSanitizer, which is ten times
// slower and has nothing to find in one thread.
#ifdef __SANITIZE_THREAD__
#define ESP_ONE_THREAD() \
  GTEST_SKIP() << "one thread: nothing for ThreadSanitizer to see"
#else
#define ESP_ONE_THREAD() static_cast<void>(0)
#endif

#endif  // ESPALIER_TESTS_BASE_ONE_THREAD_H_
