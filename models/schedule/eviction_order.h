// The order in which evictable sequences lose their keys and values:
//
//   1 redundant ones, whose tokens are also stored elsewhere: nothing is lost
//   2 from the group (the sequences of one search) with the most entries, the
//     one with the lowest priority, ties by least recent use, then lowest id
//
// Priorities of different searches are not comparable, so groups come first: no
// search can take all memory by setting high priorities. Between groups of
// equal size, the one whose first entry is least recently used goes first.
// Insert, Erase and Lowest cost O(log n).
//
// Externally synchronised.
#ifndef ESPALIER_MODELS_SCHEDULE_EVICTION_ORDER_H_
#define ESPALIER_MODELS_SCHEDULE_EVICTION_ORDER_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "models/backend/backend.h"

namespace espalier {

class EvictionOrder {
 public:
  struct Entry {
    bool redundant = false;
    SeqId group = kEmptySeq;
    float priority = 0;
    int64_t last_use = 0;
    SeqId id = kEmptySeq;

    bool operator<(const Entry& other) const {
      return std::tie(priority, last_use, id) <
             std::tie(other.priority, other.last_use, other.id);
    }
    bool operator==(const Entry&) const = default;
  };

  void Insert(const Entry& entry);
  void Erase(const Entry& entry);  // must have been inserted
  // The next sequence to evict; -1: none.
  SeqId Lowest();

 private:
  struct Rank {  // of a group among the others
    size_t size = 0;
    int64_t last_use = 0;
    SeqId group = kEmptySeq;
    bool operator<(const Rank& other) const {
      return std::tie(other.size, last_use, group) <
             std::tie(size, other.last_use, other.group);
    }
  };
  struct Group {
    absl::btree_set<Entry> entries;
    Rank rank;             // its entry in ranks_ if size > 0
    bool changed = false;  // listed in changed_
  };
  void Changed(SeqId id, Group& group);
  void Refresh();

  absl::btree_set<Entry> redundant_;
  absl::flat_hash_map<SeqId, Group> groups_;
  absl::btree_set<Rank> ranks_;
  std::vector<SeqId> changed_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_EVICTION_ORDER_H_
