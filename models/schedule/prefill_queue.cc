#include "models/schedule/prefill_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace espalier {

// Sets the filler of `id` and of its ancestors down to position `from`.
void PrefillQueue::Mark(SeqId id, int from, SeqId filler) {
  for (; id > kEmptySeq && tree_.at(id).end() > from;
       id = tree_.at(id).parent) {
    tree_.at(id).filler = filler;
  }
}

bool PrefillQueue::Ensure(SeqId id, bool pages) {
  if (id == kEmptySeq) return true;
  Sequence& sequence = tree_.at(id);
  const bool known = !sequence.hidden.empty();
  if (known && (!pages || sequence.resident())) {
    tree_.Touch(id);
    return true;
  }
  if (sequence.filler >= 0) {  // in progress
    tree_.at(sequence.filler).wanted = step_;
    return false;
  }
  return Begin(id) && known;
}

// True if the table is complete now, because it was stored elsewhere.
bool PrefillQueue::Begin(SeqId id) {
  Sequence& sequence = tree_.at(id);
  int length = 0;
  const SeqId source = tree_.FindStored(id, &length);
  for (SeqId above = sequence.parent;
       above > kEmptySeq && tree_.at(above).end() > length;
       above = tree_.at(above).parent) {
    if (tree_.at(above).filler < 0) continue;
    tree_.at(tree_.at(above).filler).wanted = step_;
    return false;
  }
  const bool whole = length == sequence.end() && !sequence.hidden.empty();
  if (scarce_ && !whole && !prefills_.empty()) return false;
  tree_.Touch(id);
  tree_.Lock(id);
  if (source != id || length == sequence.end()) {
    // Leave the last token to compute: that gives its hidden row.
    if (!whole) length = std::min(length, sequence.end() - 1);
    // Its own table falls short and is replaced.
    PageTable old = std::exchange(sequence.table, PageTable());
    const PageTable& from = source == id ? old : tree_.at(source).table;
    if (length > 0 && !tree_.Fork(from, length, sequence.table)) {
      sequence.table = std::move(old);
      tree_.Unlock(id);
      return false;  // tried again when pages are free
    }
    tree_.ReleasePages(old);
  }
  tree_.TableChanged(id);
  if (whole) {
    tree_.Unlock(id);
    return true;
  }
  Prefill& fill = prefills_.emplace_back();
  fill.target = id;
  fill.begin = length;
  sequence.wanted = step_;
  fill.tokens.resize(static_cast<size_t>(sequence.end() - length));
  for (SeqId part = id; part > kEmptySeq && tree_.at(part).end() > length;
       part = tree_.at(part).parent) {
    const Sequence& p = tree_.at(part);
    const int skip = std::max(0, length - p.start);
    std::copy(p.tokens.begin() + skip, p.tokens.end(),
              fill.tokens.begin() + (p.start + skip - length));
  }
  Mark(id, length, id);
  return false;
}

void PrefillQueue::Stop(const Prefill& fill) {
  for (SeqId id = fill.target;
       id > kEmptySeq && tree_.at(id).filler == fill.target;
       id = tree_.at(id).parent) {
    tree_.at(id).filler = -1;
  }
  tree_.Unlock(fill.target);
}

bool PrefillQueue::DropUnwanted() {
  // Unlocking may free a sequence, so partition the list first.
  const auto unwanted = std::stable_partition(
      prefills_.begin(), prefills_.end(),
      [&](const Prefill& f) { return tree_.at(f.target).wanted == step_; });
  std::vector<Prefill> dropped(std::make_move_iterator(unwanted),
                               std::make_move_iterator(prefills_.end()));
  prefills_.erase(unwanted, prefills_.end());
  for (const Prefill& fill : dropped) Stop(fill);
  return !dropped.empty();
}

bool PrefillQueue::GiveUpYoungest() {
  if (prefills_.size() < 2) return false;
  const Prefill last = std::move(prefills_.back());
  prefills_.pop_back();
  Stop(last);
  return true;
}

int PrefillQueue::Boundary(SeqId target, int have) const {
  int end = tree_.at(target).end();
  for (SeqId id = tree_.at(target).parent;
       id > kEmptySeq && tree_.at(id).end() > have; id = tree_.at(id).parent) {
    const Sequence& sequence = tree_.at(id);
    // Requests may need any sequence except an unreferenced split point.
    const bool named = sequence.refs > 0 || !sequence.split;
    if (sequence.hidden.empty() && named) end = sequence.end();
  }
  return end;
}

void PrefillQueue::Plan(int chunk, int room, std::vector<Segment>& segments) {
  planned_.clear();
  for (size_t i = 0; i < prefills_.size() && room > 0; ++i) {
    const Prefill& fill = prefills_[i];
    Sequence& sequence = tree_.at(fill.target);
    const int have = sequence.table.resident;
    const int count =
        std::min({Boundary(fill.target, have) - have, chunk, room});
    if (!tree_.Grow(sequence.table, have + count)) continue;
    room -= count;
    segments.push_back(
        {.pages = sequence.table.pages,
         .start = have,
         .tokens = absl::MakeConstSpan(fill.tokens)
                       .subspan(static_cast<size_t>(have - fill.begin),
                                static_cast<size_t>(count))});
    planned_.push_back({i, count});
  }
}

void PrefillQueue::AdvanceOne(const Chunk& chunk,
                              absl::Span<const float> hidden) {
  const SeqId target = prefills_[chunk.fill].target;
  PageTable& table = tree_.at(target).table;
  const int have = table.resident;
  const int now = have + chunk.count;
  for (SeqId id = target; id > kEmptySeq && tree_.at(id).end() > have;
       id = tree_.at(id).parent) {
    Sequence& part = tree_.at(id);
    const int begin = std::max(have, part.start);
    const int end = std::min(now, part.end());
    if (end <= begin) continue;
    const int again = std::clamp(part.ever_resident - begin, 0, end - begin);
    stats_.tokens_recomputed += again;
    stats_.tokens_needed += end - begin - again;
    part.ever_resident = std::max(part.ever_resident, end);
    if (now == part.end() && part.hidden.empty()) {
      part.hidden.assign(hidden.begin(), hidden.end());
    }
  }
  table.resident = now;
  tree_.TableChanged(target);
  // Its ancestors are covered once it has tokens of its own.
  if (now <= tree_.at(target).start) return;
  for (SeqId id = tree_.at(target).parent;
       id > kEmptySeq && tree_.at(id).filler == target;
       id = tree_.at(id).parent) {
    tree_.at(id).filler = -1;
  }
}

void PrefillQueue::Finish() {
  const auto done = std::stable_partition(
      prefills_.begin(), prefills_.end(),
      [&](const Prefill& f) { return !tree_.at(f.target).resident(); });
  std::vector<Prefill> finished(std::make_move_iterator(done),
                                std::make_move_iterator(prefills_.end()));
  prefills_.erase(done, prefills_.end());
  for (const Prefill& fill : finished) Stop(fill);
}

}  // namespace espalier
