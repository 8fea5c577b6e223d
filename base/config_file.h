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

// `where` names the text in messages. InvalidArgument names where, line and
// column of what cannot be read, and an option that is given twice.
absl::StatusOr<Config> ParseConfig(const std::string& text,
                                   const std::string& where);

// The same of a file.
absl::StatusOr<Config> ReadConfig(const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_BASE_CONFIG_FILE_H_
