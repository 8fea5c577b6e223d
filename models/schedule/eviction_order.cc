#include "models/schedule/eviction_order.h"

#include "src/base/check.h"

namespace espalier {

void EvictionOrder::Insert(const Entry& entry) {
  if (entry.redundant) {
    redundant_.insert(entry);
    return;
  }
  Group& group = groups_[entry.group];
  if (!group.empty()) ranks_.erase(RankOf(entry.group, group));
  group.insert(entry);
  ranks_.insert(RankOf(entry.group, group));
}

void EvictionOrder::Erase(const Entry& entry) {
  if (entry.redundant) {
    ESP_CHECK(redundant_.erase(entry) == 1);
    return;
  }
  const auto it = groups_.find(entry.group);
  ESP_CHECK(it != groups_.end());
  Group& group = it->second;
  ranks_.erase(RankOf(entry.group, group));
  ESP_CHECK(group.erase(entry) == 1);
  if (group.empty()) {
    groups_.erase(it);
  } else {
    ranks_.insert(RankOf(entry.group, group));
  }
}

SeqId EvictionOrder::Lowest() const {
  if (!redundant_.empty()) return redundant_.begin()->id;
  if (ranks_.empty()) return -1;
  return groups_.find(ranks_.begin()->group)->second.begin()->id;
}

}  // namespace espalier
