#include "models/schedule/eviction_order.h"

#include "base/check.h"

namespace espalier {
namespace {

// Ranks are refreshed once this many groups changed: bounds the empty groups
// kept in memory.
constexpr size_t kMostChanged = 256;

}  // namespace

void EvictionOrder::Insert(const Entry& entry) {
  if (entry.redundant) {
    redundant_.insert(entry);
    return;
  }
  Group& group = groups_[entry.group];
  group.entries.insert(entry);
  Changed(entry.group, group);
}

void EvictionOrder::Erase(const Entry& entry) {
  if (entry.redundant) {
    ESP_CHECK(redundant_.erase(entry) == 1);
    return;
  }
  const auto it = groups_.find(entry.group);
  ESP_CHECK(it != groups_.end());
  ESP_CHECK(it->second.entries.erase(entry) == 1);
  Changed(entry.group, it->second);
}

void EvictionOrder::Changed(SeqId id, Group& group) {
  if (group.changed) return;
  group.changed = true;
  changed_.push_back(id);
  if (changed_.size() >= kMostChanged) Refresh();
}

void EvictionOrder::Refresh() {
  for (const SeqId id : changed_) {
    const auto it = groups_.find(id);
    Group& group = it->second;
    if (group.rank.size > 0) ranks_.erase(group.rank);
    if (group.entries.empty()) {
      groups_.erase(it);
      continue;
    }
    group.rank = {group.entries.size(), group.entries.begin()->last_use, id};
    group.changed = false;
    ranks_.insert(group.rank);
  }
  changed_.clear();
}

SeqId EvictionOrder::Lowest() {
  if (!redundant_.empty()) return redundant_.begin()->id;
  Refresh();
  if (ranks_.empty()) return -1;
  return groups_.find(ranks_.begin()->group)->second.entries.begin()->id;
}

}  // namespace espalier
