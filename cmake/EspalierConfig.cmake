# find_package(Espalier) defines Espalier::espalier.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(absl)
find_dependency(TBB)
find_dependency(nlohmann_json)
find_dependency(Protobuf)
find_dependency(SQLite3)
include("${CMAKE_CURRENT_LIST_DIR}/EspalierTargets.cmake")
