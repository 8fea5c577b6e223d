// Configuration files: the text form of ConfigFile (config.proto).
//
//   ESP_ASSIGN_OR_RETURN(Config config, ReadConfig("my_recipe.textproto"));
//   OptionParser parser(config.options);
//   options.Visit(parser);
//   ESP_RETURN_IF_ERROR(parser.Finish("my_recipe.textproto"));
//
// Stateless: thread-safe.
#ifndef ESPALIER_BASE_CONFIG_FILE_H_
#define ESPALIER_BASE_CONFIG_FILE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace espalier {

struct Config {
  std::string name;
  std::map<std::string, std::string> options;
  std::string summary;
  std::string source;
};

// `where` names the text in error messages. InvalidArgument, with line and
// column, for a parse error; InvalidArgument for an option given twice.
absl::StatusOr<Config> ParseConfig(const std::string& text,
                                   const std::string& where);

// Same, for a file.
absl::StatusOr<Config> ReadConfig(const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_BASE_CONFIG_FILE_H_
