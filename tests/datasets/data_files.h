// Files for tests of readers: public data and small files written by tests.
#ifndef ESPALIER_TESTS_DATASETS_DATA_FILES_H_
#define ESPALIER_TESTS_DATASETS_DATA_FILES_H_

#include <string>
#include <string_view>

namespace espalier {

// The folder of public data; "" if ESPALIER_DATA is not set.
std::string PublicData();

#define SKIP_WITHOUT_PUBLIC_DATA() \
  if (PublicData().empty())        \
  GTEST_SKIP() << "set ESPALIER_DATA to the folder of public test data"

// Writes `text` to a file of this name in the test's temporary folder, creating
// folders as needed. Returns its path.
std::string WriteTestFile(const std::string& name, std::string_view text);

// `text` as gzip data.
std::string Gzipped(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_TESTS_DATASETS_DATA_FILES_H_
