# cmake -D FOLDER=f -D NAMES=a,b -D HEADER=search/presets.h
#       -D FUNCTION=PresetFiles -D OUT=presets.cc -P EmbedPresets.cmake
# Writes the files FOLDER/a.textproto, ... into a C++ file that defines FUNCTION
# of HEADER.
string(REPLACE "," ";" names "${NAMES}")
set(entries "")
foreach(name ${names})
  file(READ ${FOLDER}/${name}.textproto text)
  if(text MATCHES "\\)textproto\"")
    message(FATAL_ERROR "${name}.textproto holds the end of a raw string")
  endif()
  string(APPEND entries "    {\"${name}\", R\"textproto(${text})textproto\"},\n")
endforeach()
file(WRITE ${OUT} "// Written by cmake/EmbedPresets.cmake.
#include \"${HEADER}\"

namespace espalier {
namespace {

constexpr PresetFile kFiles[] = {
${entries}};

}  // namespace

absl::Span<const PresetFile> ${FUNCTION}() { return kFiles; }

}  // namespace espalier
")
