// Nodes of a search tree are numbers in order of creation.
#ifndef ESPALIER_API_NODE_ID_H_
#define ESPALIER_API_NODE_ID_H_

#include <cstdint>

namespace espalier {

using NodeId = uint32_t;
inline constexpr NodeId kRoot = 0;  // the prompt

}  // namespace espalier

#endif  // ESPALIER_API_NODE_ID_H_
