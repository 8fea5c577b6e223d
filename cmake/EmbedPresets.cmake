# cmake -D FOLDER=f -D NAMES=a,b -D OUT=presets.cc -P EmbedPresets.cmake
# Writes the files FOLDER/a.textproto, ... into a C++ file (search/presets.h).
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
#include \"search/presets.h\"

namespace espalier {
namespace {

constexpr PresetFile kFiles[] = {
${entries}};

}  // namespace

absl::Span<const PresetFile> PresetFiles() { return kFiles; }

}  // namespace espalier
")
