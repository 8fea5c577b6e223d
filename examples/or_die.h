// Ends the program with the error where there is no value.
#ifndef ESPALIER_EXAMPLES_OR_DIE_H_
#define ESPALIER_EXAMPLES_OR_DIE_H_

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "espalier/espalier.h"

inline void OrDie(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <class T>
T OrDie(absl::StatusOr<T> value) {
  OrDie(value.status());
  return *std::move(value);
}

inline espalier::SearchResult OrDie(espalier::SearchResult result) {
  OrDie(result.status);
  return result;
}

#endif  // ESPALIER_EXAMPLES_OR_DIE_H_
