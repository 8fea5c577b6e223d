// For tests that compute long in one thread.
#ifndef ESPALIER_TESTS_BASE_ONE_THREAD_H_
#define ESPALIER_TESTS_BASE_ONE_THREAD_H_

#include <gtest/gtest.h>

// First in a test: ThreadSanitizer, ten times slower, has nothing to see here.
// Elsewhere the test runs.
#ifdef __SANITIZE_THREAD__
#define ESP_ONE_THREAD() \
  GTEST_SKIP() << "one thread: nothing for ThreadSanitizer to see"
#else
#define ESP_ONE_THREAD() static_cast<void>(0)
#endif

#endif  // ESPALIER_TESTS_BASE_ONE_THREAD_H_
