# cmake -D FILE=worker.py -D HEADER=worker_source.h -D FUNCTION=WorkerSource
#       -D OUT=worker_source.cc -P EmbedText.cmake
# Writes a file into a C++ file that defines FUNCTION of HEADER.
file(READ ${FILE} text)
if(text MATCHES "\\)embedded\"")
  message(FATAL_ERROR "${FILE} holds the end of a raw string")
endif()
# Every compiler accepts literals of 64 KB (65,536 bytes).
string(LENGTH "${text}" length)
if(length GREATER 65500)
  message(FATAL_ERROR "${FILE}: ${length} bytes; at most 65500 fit")
endif()
file(WRITE ${OUT} "// Written by cmake/EmbedText.cmake.
#include \"${HEADER}\"

namespace espalier {

std::string_view ${FUNCTION}() { return R\"embedded(${text})embedded\"; }

}  // namespace espalier
")
