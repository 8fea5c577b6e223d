// How many files and connections the process may hold open.
#ifndef ESPALIER_BASE_OPEN_FILES_H_
#define ESPALIER_BASE_OPEN_FILES_H_

namespace espalier {

// Raises the soft limit to the hard one, for programs with many connections.
// Thread-safe.
void AllowManyOpenFiles();

}  // namespace espalier

#endif  // ESPALIER_BASE_OPEN_FILES_H_
