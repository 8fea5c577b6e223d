# cmake -D FILE=worker.py -D HEADER=worker_source.h -D FUNCTION=WorkerSource
#       -D OUT=worker_source.cc -P EmbedText.cmake
# Writes a file into a C++ file that defines FUNCTION of HEADER.
file(READ ${FILE} text)
if(text MATCHES "\\)embedded\"")
  message(FATAL_ERROR "${FILE} holds the end of a raw string")
endif()
# Not every compiler accepts literals above 64 KB (65,536 bytes): longer files
# become several, parted behind a line and joined when first asked for.
set(most 60000)
set(parts "")
string(LENGTH "${text}" length)
while(length GREATER most)
  string(SUBSTRING "${text}" 0 ${most} part)
  string(FIND "${part}" "\n" line REVERSE)
  if(line EQUAL -1)
    message(FATAL_ERROR "${FILE}: a line has more than ${most} bytes")
  endif()
  math(EXPR end "${line} + 1")
  string(SUBSTRING "${text}" 0 ${end} part)
  string(SUBSTRING "${text}" ${end} -1 text)
  string(LENGTH "${text}" length)
  string(APPEND parts "R\"embedded(${part})embedded\",\n")
endwhile()
string(APPEND parts "R\"embedded(${text})embedded\"")
file(WRITE ${OUT} "// Written by cmake/EmbedText.cmake.
#include \"${HEADER}\"

#include <string>

namespace espalier {

std::string_view ${FUNCTION}() {
  static constexpr std::string_view kParts[] = {
${parts}};
  static const std::string* const kText = [] {
    auto* text = new std::string;
    for (const std::string_view part : kParts) *text += part;
    return text;
  }();
  return *kText;
}

}  // namespace espalier
")
