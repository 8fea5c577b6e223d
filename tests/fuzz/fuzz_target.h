// Targets for fuzzing: each feeds bytes to one reader of untrusted input and
// checks what the reader promises. A broken promise ends the program.
//
//   ESPALIER_FUZZ(gguf) {                      // in tests/fuzz/gguf_fuzz.cc
//     const auto file = GgufFile::Open(FuzzFile("model.gguf", bytes));
//     if (file.ok()) Use(*file);
//   }
//
// The target of NAME_fuzz.cc is called NAME and has seeds in
// tests/fuzz/corpus/NAME/. Two programs call the targets: espalier_fuzz
// (libFuzzer, `tools/dev fuzz`) and espalier_fuzz_replay, a test that feeds
// each seed to its target.
//
// Not thread-safe: targets run one at a time.
#ifndef ESPALIER_TESTS_FUZZ_FUZZ_TARGET_H_
#define ESPALIER_TESTS_FUZZ_FUZZ_TARGET_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {

using FuzzTarget = void (*)(std::string_view bytes);

// All targets by name.
std::map<std::string, FuzzTarget>& FuzzTargets();

struct FuzzRegistration {
  FuzzRegistration(const char* name, FuzzTarget target) {
    FuzzTargets()[name] = target;
  }
};

#define ESPALIER_FUZZ(name)                                                   \
  static void Fuzz_##name(std::string_view bytes);                            \
  static const ::espalier::FuzzRegistration registration_##name(#name,        \
                                                                Fuzz_##name); \
  static void Fuzz_##name(std::string_view bytes)

// A folder for files, in memory where the system has /dev/shm; the same on
// every call, removed at exit.
const std::string& FuzzFolder();

// Writes `bytes` to FuzzFolder()/NAME, in place of an older file, and returns
// its path.
std::string FuzzFile(const std::string& name, std::string_view bytes);

// Cuts `bytes` at the first `mark`: what precedes it and what follows; all and
// nothing if there is none.
std::pair<std::string_view, std::string_view> CutAt(std::string_view bytes,
                                                    char mark);

// Reads every byte, so that AddressSanitizer sees an invalid view.
void Touch(std::string_view bytes);

}  // namespace espalier

#endif  // ESPALIER_TESTS_FUZZ_FUZZ_TARGET_H_
