# Functions that turn folders into layers, programs, tests and benchmarks.
# Adding a file to a folder is enough: folders are globbed.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# -g1: line tables for backtraces; full debug info triples link times.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
# Lets two checkouts share ccache entries: paths below the root are hashed as
# relative ones. The sloppiness is what ccache requires for precompiled headers.
find_program(ESPALIER_CCACHE ccache)
if(ESPALIER_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${ESPALIER_CCACHE})
endif()
# Messages and debug information name files relative to the root, on every
# machine.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

# Products keep one order of additions: the compiler may not contract a*b+c by
# itself, or rows would differ between kernels. Kernels use FMA explicitly.
# Designated initialisers leave fields at their defaults on purpose. With a
# precompiled header g++ 12 takes std::string's code for ours and warns of
# copies in it that never happen.
set(ESPALIER_FALSE_WARNINGS)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(ESPALIER_FALSE_WARNINGS
    -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
endif()
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers
  ${ESPALIER_FALSE_WARNINGS} -ffp-contract=off)
# Another compiler's new warning must not break a user's build.
if(ESPALIER_WERROR)
  add_compile_options(-Werror)
endif()

# Headers that most files need are precompiled once for all layers, once for the
# commands and once for all tests. tools/dev check compiles many files without
# them, so that each includes what it uses.
set(ESPALIER_COMMON_HEADERS <algorithm> <cmath> <functional> <memory>
  <optional> <string> <string_view> <utility> <vector>
  <absl/container/flat_hash_map.h> <absl/status/statusor.h>
  <absl/strings/str_cat.h> <absl/types/span.h> <nlohmann/json.hpp>)

# espalier_precompile(TARGET KIND header...): precompiles the headers, or takes
# those of the first target of this KIND, which must have the same options.
function(espalier_precompile target kind)
  get_property(first GLOBAL PROPERTY ESPALIER_PRECOMPILED_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY ESPALIER_PRECOMPILED_${kind} ${target})
  endif()
endfunction()

# For a build that is made once and run: compiles sources of layers, commands
# and tests several at a time, which takes less than half as long. File-local
# names must then be unique.
function(espalier_join target)
  if(ESPALIER_JOIN_SOURCES)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# A file with its own flags cannot use headers that were precompiled with
# others.
function(espalier_file_options)
  cmake_parse_arguments(F "" "" "FILES;OPTIONS" ${ARGN})
  set_source_files_properties(${F_FILES} PROPERTIES
    COMPILE_OPTIONS "${F_OPTIONS}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
# The environment of each test. Only sanitizer builds read it. At its end a
# program waits 50 ms for races of threads that still run, not a second: the
# tests start hundreds of programs.
set(ESPALIER_TEST_ENVIRONMENT
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/tsan.supp:atexit_sleep_ms=50"
  "ASAN_OPTIONS=detect_stack_use_after_return=1"
  "UBSAN_OPTIONS=print_stacktrace=1")
if(ESPALIER_SANITIZE)
  set(sanitize -fsanitize=${ESPALIER_SANITIZE})
  if(ESPALIER_SANITIZE STREQUAL "address")
    # AddressSanitizer also finds null pointers and accesses past the end of an
    # object, and x86 allows unaligned reads: without these checks, and at -O1,
    # the build takes half the time.
    list(APPEND sanitize -fsanitize=undefined -fno-sanitize-recover=undefined
      -fno-sanitize=null,alignment,object-size,vptr)
    string(REPLACE "-O2" "-O1" CMAKE_CXX_FLAGS_RELWITHDEBINFO
      "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
  elseif(ESPALIER_SANITIZE STREQUAL "thread")
    # ThreadSanitizer cannot see synchronisation inside LibTorch's threads.
    set(ESPALIER_LIBTORCH OFF)
  elseif(ESPALIER_SANITIZE STREQUAL "fuzzer")
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      message(FATAL_ERROR "ESPALIER_SANITIZE=fuzzer needs clang: "
        "cmake --preset fuzz")
    endif()
    # The checks of "address", and those of debug builds and the standard
    # library. Warnings are left to g++.
    set(sanitize -fsanitize=fuzzer-no-link,address,undefined
      -fno-sanitize-recover=undefined
      -fno-sanitize=null,alignment,object-size,vptr,function)
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
    add_compile_options(-w -D_GLIBCXX_ASSERTIONS)
  else()
    message(FATAL_ERROR "ESPALIER_SANITIZE=${ESPALIER_SANITIZE}: expected "
      "address, thread or fuzzer")
  endif()
  # Once instrumented, g++ 12 reports libstdc++'s own code as uninitialised; the
  # release build keeps the warning.
  add_compile_options(${sanitize} -fno-omit-frame-pointer
    -Wno-maybe-uninitialized)
  add_link_options(${sanitize})
endif()

# A fuzz build compiles the readers of untrusted bytes and what these need, a
# third of the files: the folders here, except for a few files.
set(ESPALIER_FUZZED base include search/tree datasets/answers datasets/programs
  datasets/sets src/trace models/checkpoint models/tokenizer models/prompt
  models/reward models/remote/dialect models/remote/reply_fields
  models/remote/retry_after models/remote/llama_server_dialect
  models/remote/vllm_dialect models/remote/sglang_dialect
  models/remote/openai_dialect models/remote/without_lists
  models/remote/pooled_scores models/remote/choice_scores
  search/method_options search/search_context search/stop
  search/verdict_requests)
set(ESPALIER_NOT_FUZZED src/trace/labels src/trace/replay
  datasets/sets/problem_set datasets/sets/problem_stream datasets/sets/unjudged)
list(JOIN ESPALIER_FUZZED "|" ESPALIER_FUZZED)
list(JOIN ESPALIER_NOT_FUZZED "|" ESPALIER_NOT_FUZZED)

set(ESPALIER_LAYER_ORDER base search datasets trace models engine queue serve eval torch learn zoo all)
list(FIND ESPALIER_LAYER_ORDER "${ESPALIER_LAYERS}" ESPALIER_LAYER_LIMIT)
if(ESPALIER_LAYER_LIMIT LESS 0)
  message(FATAL_ERROR "ESPALIER_LAYERS=${ESPALIER_LAYERS}: expected one of "
    "${ESPALIER_LAYER_ORDER}")
endif()

# Sets `out` to TRUE if every layer named after it was built.
function(espalier_have out)
  set(${out} TRUE PARENT_SCOPE)
  foreach(layer ${ARGN})
    if(NOT TARGET espalier_${layer})
      set(${out} FALSE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

function(espalier_torch target)
  find_package(Torch REQUIRED QUIET)
  # Not find_package(dnnl): Debian's package file needs OpenCL's headers.
  find_library(ESPALIER_DNNL dnnl REQUIRED)
  # Torch's include folders as system folders, because its headers warn.
  target_include_directories(${target} SYSTEM PRIVATE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(${target} PRIVATE torch ${ESPALIER_DNNL})
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "OBJECT_LIBRARY")
    target_precompile_headers(${target} PRIVATE <torch/torch.h>)
  endif()
endfunction()

# Adds the code that protoc generates for `proto` to `target`. It is compiled
# without this project's warnings.
function(espalier_proto target proto)
  string(REGEX REPLACE "\\.proto$" ".pb" stem ${PROJECT_BINARY_DIR}/proto/${proto})
  get_filename_component(folder ${PROJECT_BINARY_DIR}/proto/${proto} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${stem}.cc ${stem}.h
    COMMAND protobuf::protoc --cpp_out=${PROJECT_BINARY_DIR}/proto
      -I ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${proto}
    DEPENDS ${PROJECT_SOURCE_DIR}/${proto} VERBATIM)
  set_source_files_properties(${stem}.cc PROPERTIES COMPILE_OPTIONS -w
    SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE ${stem}.cc ${stem}.h)
  target_include_directories(${target} SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/proto)
endfunction()

# espalier_layer(NAME DIRS d... [EXCLUDE d...] [LINK lib...] [OPTIONS o...]
#                [PROTO file.proto] [TORCH])
# An OBJECT library, so that registration by static objects survives linking.
# Generated protobuf headers are included as "src/trace/trace.pb.h", from the
# build folder.
function(espalier_layer name)
  cmake_parse_arguments(L "TORCH" "" "DIRS;EXCLUDE;LINK;OPTIONS;PROTO" ${ARGN})
  list(FIND ESPALIER_LAYER_ORDER ${name} rank)
  if(rank GREATER ESPALIER_LAYER_LIMIT)
    return()
  endif()
  set(sources)
  foreach(dir ${L_DIRS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/${dir}/*.cc ${PROJECT_SOURCE_DIR}/${dir}/*.h)
    list(APPEND sources ${found})
  endforeach()
  foreach(dir ${L_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${dir}/")
  endforeach()
  if(ESPALIER_SANITIZE STREQUAL "fuzzer")
    list(FILTER sources INCLUDE REGEX
      "^${PROJECT_SOURCE_DIR}/(${ESPALIER_FUZZED})[./]")
    list(FILTER sources EXCLUDE REGEX
      "^${PROJECT_SOURCE_DIR}/(${ESPALIER_NOT_FUZZED})[./]")
  endif()
  set(units ${sources})
  list(FILTER units INCLUDE REGEX "\\.cc$")
  if(NOT units)
    return()
  endif()
  add_library(espalier_${name} OBJECT ${sources})
  target_include_directories(espalier_${name} PUBLIC
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  # Every layer compiles against the base layer's libraries.
  if(NOT name STREQUAL "base")
    get_target_property(base_libs espalier_base ESPALIER_LINK)
    list(APPEND L_LINK ${base_libs})
  endif()
  list(REMOVE_DUPLICATES L_LINK)
  target_link_libraries(espalier_${name} PUBLIC ${L_LINK})
  set_target_properties(espalier_${name} PROPERTIES ESPALIER_LINK "${L_LINK}")
  if(L_PROTO)
    espalier_proto(espalier_${name} ${L_PROTO})
  endif()
  if(L_TORCH)
    espalier_torch(espalier_${name})
  else()
    espalier_precompile(espalier_${name} "layers${L_OPTIONS}"
      ${ESPALIER_COMMON_HEADERS})
  endif()
  espalier_join(espalier_${name})
  # Kernels have the same names for each processor and tasks for their bands and
  # registrations; files that Highway compiles once per target include
  # themselves.
  set(alone ${units})
  list(FILTER alone INCLUDE REGEX
    "/models/(kernels|kernel_executor)/|/datasets/tasks/|/(to_float|softmax|top_sum|kernels_[a-z0-9]*)\\.cc$")
  set_source_files_properties(${alone} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
  # Compiler options of this layer only.
  target_compile_options(espalier_${name} PRIVATE ${L_OPTIONS})
  list(FILTER units INCLUDE REGEX "/kernels_[a-z0-9]*\\.cc$")
  set_source_files_properties(${units} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# Compiles the files of `folder`, *.textproto, into layer `name`, so that an
# installed program needs none of them. `function` of `header` returns them.
function(espalier_presets name folder header function)
  if(NOT TARGET espalier_${name})
    return()
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.textproto)
  list(SORT files)
  set(names)
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    list(APPEND names ${stem})
  endforeach()
  list(JOIN names "," names)
  set(out ${PROJECT_BINARY_DIR}/presets/${name}_presets.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedPresets.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${PROJECT_SOURCE_DIR}/${folder}
      -D HEADER=${header} -D FUNCTION=${function} -D NAMES=${names} -D OUT=${out} -P ${script}
    DEPENDS ${files} ${script} VERBATIM)
  target_sources(espalier_${name} PRIVATE ${out})
endfunction()

# Compiles `file` into layer `name`; `function` of `header` returns its text.
function(espalier_embed name file header function)
  if(NOT TARGET espalier_${name})
    return()
  endif()
  set(out ${PROJECT_BINARY_DIR}/embedded/${function}.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -D FILE=${PROJECT_SOURCE_DIR}/${file}
      -D HEADER=${header} -D FUNCTION=${function} -D OUT=${out} -P ${script}
    DEPENDS ${PROJECT_SOURCE_DIR}/${file} ${script} VERBATIM)
  target_sources(espalier_${name} PRIVATE ${out})
endfunction()

# Links the objects and the libraries of `LAYERS` into `target`.
function(espalier_link target)
  cmake_parse_arguments(P "TORCH" "" "LAYERS" ${ARGN})
  foreach(layer ${P_LAYERS})
    if(TARGET espalier_${layer})
      target_link_libraries(${target} PRIVATE espalier_${layer})
    endif()
  endforeach()
  if(P_TORCH)
    espalier_torch(${target})
  endif()
endfunction()

# Sets `out` to TRUE if programs can be built.
function(espalier_have_programs out)
  espalier_have(ready models engine queue serve eval)
  if(ready AND ESPALIER_LAYERS STREQUAL "all")
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

# espalier_commands(NAME DIRS d... [EXCLUDE file...] LAYERS l...): objects that
# several programs link.
function(espalier_commands name)
  cmake_parse_arguments(P "" "" "DIRS;EXCLUDE;LAYERS" ${ARGN})
  espalier_have_programs(ready)
  if(NOT ready)
    return()
  endif()
  set(sources)
  foreach(dir ${P_DIRS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/*.cc)
    list(APPEND sources ${found})
  endforeach()
  foreach(file ${P_EXCLUDE})
    list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  add_library(${name} OBJECT ${sources})
  espalier_link(${name} LAYERS ${P_LAYERS})
  target_precompile_headers(${name} PRIVATE ${ESPALIER_COMMON_HEADERS}
    <CLI/CLI.hpp>)
  espalier_join(${name})
endfunction()

# espalier_program(NAME [DIRS d...] [FILES file...] [COMMANDS objects...]
#                  LAYERS l... [TORCH])
function(espalier_program name)
  cmake_parse_arguments(P "TORCH" "" "DIRS;FILES;COMMANDS;LAYERS" ${ARGN})
  espalier_have_programs(ready)
  set(sources ${P_FILES})
  foreach(dir ${P_DIRS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/*.cc)
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources OR NOT ready)
    return()
  endif()
  add_executable(${name} ${sources})
  set(torch)
  if(P_TORCH)
    set(torch TORCH)
  endif()
  espalier_link(${name} LAYERS ${P_LAYERS} ${torch})
  target_link_libraries(${name} PRIVATE ${P_COMMANDS})
  install(TARGETS ${name})
endfunction()

# espalier_tests(FOLDER LAYERS l... [WITH helper.cc...] [LINK lib...] [TORCH]
#                [THREADS pattern...]):
# tests/FOLDER/**/*_test.cc become one program, espalier_FOLDER_test, with one
# ctest case per TEST. THREADS names those that start threads, or none; the
# others have nothing to show ThreadSanitizer and are long there.
function(espalier_tests folder)
  cmake_parse_arguments(P "TORCH" "" "LAYERS;WITH;LINK;THREADS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/tests/${folder}/*.cc)
  foreach(helper ${P_WITH})
    list(APPEND sources ${PROJECT_SOURCE_DIR}/tests/${helper})
  endforeach()
  espalier_have(ready ${folder})
  if(NOT sources OR NOT ready)
    return()
  endif()
  set(target espalier_${folder}_test)
  add_executable(${target} ${sources} ${PROJECT_SOURCE_DIR}/tests/main.cc)
  set(torch)
  if(P_TORCH)
    set(torch TORCH)
  endif()
  espalier_link(${target} LAYERS ${P_LAYERS} ${torch})
  target_link_libraries(${target} PRIVATE GTest::gmock GTest::gtest ${P_LINK})
  set(headers ${ESPALIER_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  if(P_TORCH)
    espalier_precompile(${target} torch_tests ${headers} <torch/torch.h>)
  else()
    espalier_precompile(${target} tests ${headers})
  endif()
  espalier_join(${target})
  include(GoogleTest)
  # -L quick selects both; -L torch those of the LibTorch folders.
  set(quick quick)
  if(P_TORCH)
    set(quick quick_torch)
  endif()
  set(threads)
  if(P_THREADS AND ESPALIER_SANITIZE STREQUAL "thread")
    list(JOIN P_THREADS ":" threads)
    gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60
      TEST_FILTER "*-*.Long*:${threads}" TEST_LIST ${target}_ALONE
      PROPERTIES LABELS long TIMEOUT 14400
      ENVIRONMENT "${ESPALIER_TEST_ENVIRONMENT}"
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
  # Tests named Long... are claims about training, many kills and hours of
  # fuzzing.
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60
    TEST_FILTER "${threads}-*.Long*" PROPERTIES LABELS ${quick} TIMEOUT 600
    ENVIRONMENT "${ESPALIER_TEST_ENVIRONMENT}"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60
    TEST_FILTER "*.Long*" TEST_LIST ${target}_LONG
    PROPERTIES LABELS long TIMEOUT 14400
    ENVIRONMENT "${ESPALIER_TEST_ENVIRONMENT}"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

# Fuzz targets (tests/fuzz/fuzz_target.h). In a fuzz build, the program
# espalier_fuzz. In any other, espalier_fuzz_replay with one test per target,
# which feeds it its committed seeds, and one of an hour's fuzzing.
function(espalier_fuzz)
  cmake_parse_arguments(P "" "" "LAYERS" ${ARGN})
  espalier_have(ready ${P_LAYERS})
  if(NOT ready)
    return()
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/tests/fuzz)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  list(REMOVE_ITEM sources ${folder}/fuzz_main.cc ${folder}/replay_main.cc)
  if(ESPALIER_SANITIZE STREQUAL "fuzzer")
    add_executable(espalier_fuzz ${sources} ${folder}/fuzz_main.cc)
    espalier_link(espalier_fuzz LAYERS ${P_LAYERS})
    target_link_options(espalier_fuzz PRIVATE -fsanitize=fuzzer)
    espalier_join(espalier_fuzz)
    return()
  endif()
  add_executable(espalier_fuzz_replay ${sources} ${folder}/replay_main.cc)
  espalier_link(espalier_fuzz_replay LAYERS ${P_LAYERS})
  target_precompile_headers(espalier_fuzz_replay PRIVATE
    ${ESPALIER_COMMON_HEADERS})
  espalier_join(espalier_fuzz_replay)
  list(FILTER sources INCLUDE REGEX "_fuzz\\.cc$")
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" name ${name})
    add_test(NAME fuzz_seeds_${name}
      COMMAND espalier_fuzz_replay ${name} ${folder}/corpus/${name})
    set_tests_properties(fuzz_seeds_${name} PROPERTIES LABELS quick TIMEOUT 600
      ENVIRONMENT "${ESPALIER_TEST_ENVIRONMENT}")
    if(NOT ESPALIER_SANITIZE)
      add_test(NAME LongFuzz_${name}
        COMMAND ${PROJECT_SOURCE_DIR}/tools/dev fuzz --seconds 3600 ${name})
      set_tests_properties(LongFuzz_${name} PROPERTIES LABELS long
        TIMEOUT 14400 RUN_SERIAL TRUE)
    endif()
  endforeach()
endfunction()

# bench/FOLDER/*_benchmark.cc: one program each, named after the file.
function(espalier_benchmarks folder)
  cmake_parse_arguments(P "TORCH" "" "LAYERS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/bench/${folder}/*_benchmark.cc)
  set(torch)
  if(P_TORCH)
    set(torch TORCH)
  endif()
  espalier_have(ready ${P_LAYERS})
  if(NOT ready)
    return()
  endif()
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    espalier_link(${name} LAYERS ${P_LAYERS} ${torch})
    target_link_libraries(${name} PRIVATE benchmark::benchmark_main)
    if(ESPALIER_TESTS)
      add_test(NAME smoke_${name}
        COMMAND ${name} --benchmark_min_time=0.01)
      set_tests_properties(smoke_${name} PROPERTIES LABELS quick TIMEOUT 600
        ENVIRONMENT
        "ESPALIER_BENCH_SMOKE=1;ESPALIER_ZOO=${PROJECT_SOURCE_DIR}/models/zoo")
    endif()
  endforeach()
endfunction()

# Measures the claims about training again; the figures go to docs/results/.
function(espalier_claims)
  add_test(NAME LongLearningCountdown
    COMMAND ${PROJECT_SOURCE_DIR}/tools/learning_evidence --parts countdown
      --work ${PROJECT_BINARY_DIR}/evidence --build ${PROJECT_BINARY_DIR} --fresh
      --check)
  add_test(NAME LongMethodsAheadOnHardStories
    COMMAND ${PROJECT_SOURCE_DIR}/tools/method_table --sets stories:hard
      --work ${PROJECT_BINARY_DIR}/methods --out ${PROJECT_BINARY_DIR}/methods
      --build ${PROJECT_BINARY_DIR} --check)
  set_tests_properties(LongLearningCountdown LongMethodsAheadOnHardStories
    PROPERTIES LABELS long TIMEOUT 14400 RUN_SERIAL TRUE)
endfunction()

# Speed against references in the same process (tools/bench_ratios).
function(espalier_ratios)
  add_test(NAME bench_ratios
    COMMAND ${PROJECT_SOURCE_DIR}/tools/bench_ratios
      --build ${PROJECT_BINARY_DIR})
  set_tests_properties(bench_ratios PROPERTIES LABELS quick TIMEOUT 600
    RUN_SERIAL TRUE)
endfunction()

# What another compiler and its linter say.
function(espalier_other_compiler)
  add_test(NAME LongClangBuild COMMAND ${PROJECT_SOURCE_DIR}/tools/dev clang)
  add_test(NAME LongClangTidy COMMAND ${PROJECT_SOURCE_DIR}/tools/dev tidy)
  set_tests_properties(LongClangTidy PROPERTIES DEPENDS LongClangBuild)
  set_tests_properties(LongClangBuild LongClangTidy PROPERTIES LABELS long
    TIMEOUT 14400 RUN_SERIAL TRUE)
endfunction()

# Tests of the developer scripts, and of what the sanitizer build detects.
function(espalier_tool_tests)
  file(GLOB scripts CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/tests/tools/*_test.py)
  find_program(ESPALIER_PYTHON python3 REQUIRED)
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    if(name MATCHES "_program_test$")
      # AddressSanitizer runs those with hostile input, ThreadSanitizer the
      # programs that search, write and are stopped at the same time.
      set(skip FALSE)
      if(ESPALIER_SANITIZE STREQUAL "thread" AND NOT name MATCHES
          "^espalier_(complete|generate|grade_samples|output|queue|signals)_|^espalier_(serve_)?program_test$")
        set(skip TRUE)
      endif()
      if(TARGET espalier AND NOT skip)
        set(slow)
        if(ESPALIER_SANITIZE)
          set(slow ESPALIER_SLOW=1)
        endif()
        add_test(NAME tools_${name} COMMAND ${ESPALIER_PYTHON} ${script})
        # They begin first, the longest before the others: none is left alone at
        # the end.
        set(cost 100)
        if(name MATCHES "^espalier_((queue|train|output|serve)_)?program_test$")
          set(cost 200)
        endif()
        set_tests_properties(tools_${name} PROPERTIES LABELS quick TIMEOUT 900
          COST ${cost}
          ENVIRONMENT
          "ESPALIER_PROGRAM=$<TARGET_FILE:espalier>;${slow};${ESPALIER_TEST_ENVIRONMENT}")
        file(STRINGS ${script} long REGEX "^class LongTest")
        if(long)
          add_test(NAME tools_${name}_long
            COMMAND ${ESPALIER_PYTHON} ${script} LongTest)
          set_tests_properties(tools_${name}_long PROPERTIES LABELS long
            TIMEOUT 14400 ENVIRONMENT
            "ESPALIER_LONG=1;ESPALIER_PROGRAM=$<TARGET_FILE:espalier>;${slow};${ESPALIER_TEST_ENVIRONMENT}")
        endif()
      endif()
    elseif(NOT ESPALIER_SANITIZE)
      add_test(NAME tools_${name} COMMAND ${ESPALIER_PYTHON} ${script})
      set_tests_properties(tools_${name} PROPERTIES LABELS quick TIMEOUT 600)
    endif()
  endforeach()
  if(ESPALIER_SANITIZE STREQUAL "thread")
    foreach(race planted_race planted_kernel_race)
      add_executable(${race} ${PROJECT_SOURCE_DIR}/tests/tools/${race}.cc)
      espalier_link(${race} LAYERS base search datasets trace models)
      add_test(NAME ${race}_is_reported COMMAND ${race})
      set_tests_properties(${race}_is_reported PROPERTIES LABELS quick
        TIMEOUT 60 ENVIRONMENT "${ESPALIER_TEST_ENVIRONMENT}"
        PASS_REGULAR_EXPRESSION "data race.*${race}.cc")
    endforeach()
  endif()
endfunction()

# The library of `LAYERS` with the public headers, and what `cmake --install`
# writes: include/espalier, libespalier.a, the package Espalier, the programs,
# the shipped models. Methods, tasks and loaders register by static objects, so
# all of the archive is linked.
function(espalier_library)
  cmake_parse_arguments(P "" "" "LAYERS" ${ARGN})
  espalier_have(ready ${P_LAYERS})
  if(NOT ready)
    return()
  endif()
  include(GNUInstallDirs)
  set(objects)
  set(libraries)
  foreach(layer ${P_LAYERS})
    list(APPEND objects $<TARGET_OBJECTS:espalier_${layer}>)
    get_target_property(linked espalier_${layer} ESPALIER_LINK)
    list(APPEND libraries ${linked})
  endforeach()
  list(REMOVE_DUPLICATES libraries)
  add_library(espalier_archive STATIC ${objects})
  set_target_properties(espalier_archive PROPERTIES OUTPUT_NAME espalier
    EXPORT_NAME archive)
  target_link_libraries(espalier_archive PRIVATE ${libraries})
  add_library(espalier_api INTERFACE)
  set_target_properties(espalier_api PROPERTIES EXPORT_NAME espalier)
  target_compile_features(espalier_api INTERFACE cxx_std_20)
  target_include_directories(espalier_api INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(espalier_api INTERFACE
    absl::status absl::statusor absl::span
    $<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,espalier_archive>>
    $<INSTALL_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,Espalier::archive>>)
  add_library(Espalier::espalier ALIAS espalier_api)

  include(CMakePackageConfigHelpers)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Espalier)
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/EspalierConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/espalier
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS espalier_archive espalier_api EXPORT EspalierTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT EspalierTargets NAMESPACE Espalier:: DESTINATION ${package})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/EspalierConfig.cmake
    ${PROJECT_BINARY_DIR}/EspalierConfigVersion.cmake DESTINATION ${package})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/zoo
    DESTINATION ${CMAKE_INSTALL_DATADIR}/espalier/models)
endfunction()
