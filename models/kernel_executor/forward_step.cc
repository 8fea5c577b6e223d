#include "models/kernel_executor/forward_step.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "models/kernel_executor/gated_columns.h"
#include "models/kernels/kernels.h"

namespace espalier {
namespace {

// Rows per chunk of phases that only move numbers.
constexpr int kRowChunk = 16;
// At most this many rows attend together, with about 50 us of work.
constexpr int kItemRows = 32;
constexpr int kItemWork = 64 * 16;

int Ceil(int a, int b) { return (a + b - 1) / b; }

}  // namespace

void ForwardStep::Begin(const Network& net, const KernelPath& path,
                        const Ropes& ropes, absl::Span<const Segment> segments,
                        PageMemory& pages, int threads) {
  net_ = &net;
  path_ = &path;
  ropes_ = &ropes;
  pages_ = &pages;
  segments_ = segments;
  by_rows_ = !path.PacksBlocks(*net.layers[0].output);
  GatherRows(segments);
  MakeItems();
  PlanPhases(threads);
  Reserve();
}

void ForwardStep::GatherRows(absl::Span<const Segment> segments) {
  first_row_.clear();
  positions_.clear();
  tokens_.clear();
  page_tables_.clear();
  for (const Segment& s : segments) {
    first_row_.push_back(rows());
    for (size_t t = 0; t < s.tokens.size(); ++t) {
      positions_.push_back(s.start + static_cast<int>(t));
      tokens_.push_back(s.tokens[t]);
      page_tables_.push_back(s.pages.data());
    }
  }
}

// Rows with the same first page are grouped, since they share at least that
// read; others only while they read little.
void ForwardStep::MakeItems() {
  items_.clear();
  const int group = config().heads / config().kv_heads;
  int work = 0;  // of the last item, in 1/16 of a tile's pass over a page
  for (int r = 0; r < rows(); ++r) {
    const size_t at = static_cast<size_t>(r);
    const int pages = positions_[at] / kPageSlots + 1;
    const bool shared = r > 0 && page_tables_[at - 1][0] == page_tables_[at][0];
    const int own = shared ? std::min(group, 16) * pages : 16 * pages;
    const bool join =
        !items_.empty() && items_.back().rows < kItemRows &&
        (work + own <= kItemWork || (shared && items_.back().rows < 16));
    if (!join) {
      items_.push_back({.row = r});
      work = 16 * pages;
    } else {
      work += own;
    }
    ++items_.back().rows;
  }
}

void ForwardStep::PlanPhases(int threads) {
  const TrunkConfig& c = config();
  const NetworkLayer& layer = net_->layers[0];
  const int block = path_->column_block();
  const auto plan = [&](const Weights& w, int unit) {
    return ProductPlan(*path_, w, rows(), unit, threads);
  };
  // Multiples of whole heads and of whole column blocks.
  heads_plan_ = plan(*layer.qkv, std::lcm(c.head_dim, block));
  output_plan_ = plan(*layer.output, block);
  const bool dense = c.experts == 0;
  if (dense) {
    up_plan_ = plan(*layer.up, block);
    down_plan_ = plan(*layer.down, block);
  }
  stages_.clear();
  const auto stage = [this](Stage stage, bool wanted) {
    if (wanted) stages_.push_back(stage);
  };
  stage(Stage::kNorm, true);
  stage(Stage::kHeads, true);
  stage(Stage::kPlaceRows, c.qk_norm_rows);
  stage(Stage::kAttend, true);
  stage(Stage::kPutAttended, by_rows_);
  stage(Stage::kOutput, true);
  stage(Stage::kAddAttended, c.norms_after);
  stage(Stage::kPostNorm, true);
  stage(Stage::kUp, dense);
  stage(Stage::kPutHidden, dense && by_rows_);
  stage(Stage::kDown, dense);
  stage(Stage::kExperts, !dense);
  stage(Stage::kMix, !dense);
  stage(Stage::kAddForwarded, c.norms_after);

  const int row_chunks = Ceil(rows(), kRowChunk);
  chunks_ = {static_cast<int>(segments_.size())};
  for (int i = 0; i < c.layers; ++i) {
    for (const Stage stage : stages_) {
      chunks_.push_back(stage == Stage::kHeads ? heads_plan_.chunks()
                        : stage == Stage::kAttend
                            ? static_cast<int>(items_.size()) * c.kv_heads
                        : stage == Stage::kOutput  ? output_plan_.chunks()
                        : stage == Stage::kUp      ? up_plan_.chunks()
                        : stage == Stage::kDown    ? down_plan_.chunks()
                        : stage == Stage::kExperts ? c.experts
                                                   : row_chunks);
    }
  }
  chunks_.push_back(static_cast<int>(segments_.size()));
}

void ForwardStep::Reserve() {
  const TrunkConfig& c = config();
  const NetworkLayer& layer = net_->layers[0];
  const auto grow = [](auto& v, size_t size) {
    if (v.size() < size) v.resize(size);
  };
  const size_t n = static_cast<size_t>(rows());
  grow(x_, n * d());
  grow(normed_, path_->OperandBytes(*layer.qkv, rows()));
  grow(attended_, path_->OperandBytes(*layer.output, rows()));
  if (c.norms_after) grow(branch_, n * d());
  if (c.qk_norm_rows) grow(qkv_, n * static_cast<size_t>(layer.qkv->n()));
  if (c.experts > 0) {
    experts_.Begin(*net_, *path_, rows());
  } else {
    grow(hidden_, path_->OperandBytes(*layer.down, rows()));
    if (by_rows_) grow(hidden_rows_, n * static_cast<size_t>(layer.down->k()));
  }
  if (by_rows_) {
    grow(attended_rows_, n * static_cast<size_t>(layer.output->k()));
  }
  query_rows_ = n * static_cast<size_t>(c.heads / c.kv_heads) + 15;
  grow(queries_, query_rows_ * static_cast<size_t>(c.kv_heads) *
                     path_->QueryBytes(c.head_dim));
}

std::byte* ForwardStep::Query(int row, int head) {
  const int group = config().heads / config().kv_heads;
  const size_t at = static_cast<size_t>(head / group) * query_rows_ +
                    static_cast<size_t>(row * group + head % group);
  return queries_.data() + at * path_->QueryBytes(config().head_dim);
}

void ForwardStep::Run(int phase, int chunk) {
  if (phase == 0) return Embed(chunk);
  const size_t at = static_cast<size_t>(phase - 1);
  const size_t index = at / stages_.size();
  if (index == net_->layers.size()) return Final(chunk);
  RunStage(net_->layers[index], static_cast<int>(index),
           stages_[at % stages_.size()], chunk);
}

void ForwardStep::RunStage(const NetworkLayer& layer, int index, Stage stage,
                           int chunk) {
  switch (stage) {
    case Stage::kNorm:
      return Norm(layer.input_norm, layer.input_norm_bias, layer.qkv.get(),
                  layer, chunk);
    case Stage::kHeads:
      return Heads(layer, index, chunk);
    case Stage::kPlaceRows:
      return PlaceRows(layer, index, chunk);
    case Stage::kAttend:
      return AttendItem(layer, index, chunk);
    case Stage::kPutAttended:
      return PackRows(*layer.output, attended_rows_, chunk, attended_);
    case Stage::kOutput:
      return AddProduct(*layer.output, attended_, output_plan_,
                        layer.output_bias, chunk);
    case Stage::kAddAttended:
      return AddNormed(layer.attended_norm, chunk);
    case Stage::kPostNorm:
      return Norm(layer.post_norm, layer.post_norm_bias, layer.up.get(), layer,
                  chunk);
    case Stage::kUp:
      return Up(layer, chunk);
    case Stage::kPutHidden:
      return PackRows(*layer.down, hidden_rows_, chunk, hidden_);
    case Stage::kDown:
      return AddProduct(*layer.down, hidden_, down_plan_, layer.down_bias,
                        chunk);
    case Stage::kExperts:
      return experts_.RunExpert(layer, chunk);
    case Stage::kMix:
      return Mix(chunk);
    case Stage::kAddForwarded:
      return AddNormed(layer.forwarded_norm, chunk);
  }
}

void ForwardStep::Embed(int chunk) {
  const Segment& segment = segments_[static_cast<size_t>(chunk)];
  OpenPages(segment);
  const int first = first_row_[static_cast<size_t>(chunk)];
  for (size_t t = 0; t < segment.tokens.size(); ++t) {
    float* x = x_.data() + (static_cast<size_t>(first) + t) * d();
    net_->embedding->Row(segment.tokens[t], x);
    if (config().embedding_scale != 1) {
      for (size_t i = 0; i < d(); ++i) x[i] *= config().embedding_scale;
    }
    if (net_->positions.empty()) continue;
    AddTo(
        x,
        net_->positions.data() + (static_cast<size_t>(segment.start) + t) * d(),
        config().hidden_size);
  }
}

void ForwardStep::OpenPages(const Segment& segment) {
  const int end = segment.start + static_cast<int>(segment.tokens.size());
  for (int at = segment.start; at < end;) {
    const int page = at / kPageSlots;
    const int until = std::min(end, (page + 1) * kPageSlots);
    path_->OpenSlots(*pages_, segment.pages[static_cast<size_t>(page)],
                     at % kPageSlots, (until - 1) % kPageSlots + 1);
    at = until;
  }
}

void ForwardStep::NormRow(const std::vector<float>& weight,
                          const std::vector<float>& bias, int row,
                          float* to) const {
  const int n = config().hidden_size;
  const float* x = x_.data() + static_cast<size_t>(row) * d();
  if (weight.empty()) {  // norms_before is false
    std::copy_n(x, d(), to);
  } else if (config().norm == NormKind::kRms) {
    RmsNorm(x, weight.data(), n, config().rms_norm_eps, to);
  } else {
    LayerNorm(x, weight.data(), bias.data(), n, config().rms_norm_eps, to);
  }
}

// For a product with `next`, or for the layer's experts if it is null.
void ForwardStep::Norm(const std::vector<float>& weight,
                       const std::vector<float>& bias, const Weights* next,
                       const NetworkLayer& layer, int chunk) {
  thread_local std::vector<float> y;
  y.resize(kRowChunk * d());
  const int row = chunk * kRowChunk;
  const int count = std::min(kRowChunk, rows() - row);
  for (int r = 0; r < count; ++r) {
    NormRow(weight, bias, row + r, y.data() + static_cast<size_t>(r) * d());
  }
  if (next == nullptr) return experts_.Route(layer, row, count, y.data());
  path_->PackRows(*next, y.data(), d(), row, count, normed_.data());
}

void ForwardStep::Heads(const NetworkLayer& layer, int index, int chunk) {
  const ProductPlan::Chunk at = heads_plan_.chunk(chunk);
  float* y = RunProduct(*path_, *layer.qkv, normed_.data(), at);
  const int h = config().head_dim;
  for (int r = 0; r < at.rows; ++r, y += at.stride()) {
    for (int c = 0; c < at.columns; c += h) {
      float* x = y + c;
      if (!layer.qkv_bias.empty()) {
        AddTo(x, layer.qkv_bias.data() + at.column + c, h);
      }
      if (config().qk_norm_rows) {
        std::copy_n(x, h,
                    qkv_.data() +
                        static_cast<size_t>(at.row + r) *
                            static_cast<size_t>(layer.qkv->n()) +
                        static_cast<size_t>(at.column + c));
        continue;
      }
      PlaceHead(layer, index, at.row + r, (at.column + c) / h, x);
    }
  }
}

// Norms a row's queries and keys over all heads before they are placed.
void ForwardStep::PlaceRows(const NetworkLayer& layer, int index, int chunk) {
  const TrunkConfig& c = config();
  const int h = c.head_dim, q = c.heads * h, kv = c.kv_heads * h;
  const int end = std::min((chunk + 1) * kRowChunk, rows());
  for (int row = chunk * kRowChunk; row < end; ++row) {
    float* x = qkv_.data() +
               static_cast<size_t>(row) * static_cast<size_t>(layer.qkv->n());
    RmsNorm(x, layer.query_norm.data(), q, c.rms_norm_eps, x);
    RmsNorm(x + q, layer.key_norm.data(), kv, c.rms_norm_eps, x + q);
    for (int head = 0; head < c.heads + 2 * c.kv_heads; ++head, x += h) {
      PlaceHead(layer, index, row, head, x);
    }
  }
}

// Heads are in the order queries, keys, values.
void ForwardStep::PlaceHead(const NetworkLayer& layer, int index, int row,
                            int head, float* x) {
  const TrunkConfig& c = config();
  const size_t r = static_cast<size_t>(row);
  const int position = positions_[r];
  const PageId page =
      page_tables_[r][static_cast<size_t>(position / kPageSlots)];
  const int slot = position % kPageSlots;
  const int key = head - c.heads, value = key - c.kv_heads;
  if (value >= 0) {
    return path_->StoreValue(*pages_, page, index, value, slot, x);
  }
  if (c.qk_norm && !c.qk_norm_rows) {
    const std::vector<float>& norm =
        key < 0 ? layer.query_norm : layer.key_norm;
    RmsNorm(x, norm.data(), c.head_dim, c.rms_norm_eps, x);
  }
  if (const Rope* rope = ropes_->of(index)) {
    Rotate(x, rope->cos(position), rope->sin(position), c.rotary() / 2);
  }
  if (key >= 0) return path_->StoreKey(*pages_, page, index, key, slot, x);
  const float scale = c.attention_scale > 0
                          ? c.attention_scale
                          : 1.0f / std::sqrt(static_cast<float>(c.head_dim));
  path_->PackQuery(x, c.head_dim, scale, Query(row, head));
}

void ForwardStep::AttendItem(const NetworkLayer& layer, int index, int chunk) {
  const TrunkConfig& c = config();
  const int count = static_cast<int>(items_.size());
  const Item& item = items_[static_cast<size_t>(chunk % count)];
  const int kv_head = chunk / count;
  const int group = c.heads / c.kv_heads;
  const int group_dim = group * path_->PadHead(c.head_dim);
  const size_t row = static_cast<size_t>(item.row);
  thread_local std::vector<float> out;
  out.resize(static_cast<size_t>(item.rows * group_dim));
  const AttendRows task = {.layer = index,
                           .kv_head = kv_head,
                           .rows = item.rows,
                           .group = group,
                           .positions = positions_.data() + row,
                           .pages = page_tables_.data() + row,
                           .window = c.window(index),
                           .cap = c.attention_cap,
                           .queries = Query(item.row, kv_head * group)};
  const int read = path_->Attend(*pages_, task, out.data());
  pages_read_.fetch_add(read, std::memory_order_relaxed);
  if (!by_rows_) {
    path_->PackBlock(*layer.output, out.data(), static_cast<size_t>(group_dim),
                     item.row, item.rows, kv_head * group_dim, group_dim,
                     attended_.data());
    return;
  }
  const size_t k = static_cast<size_t>(layer.output->k());
  for (int r = 0; r < item.rows; ++r) {
    std::copy_n(out.data() + r * group_dim, group_dim,
                attended_rows_.data() + (row + static_cast<size_t>(r)) * k +
                    static_cast<size_t>(kv_head * group_dim));
  }
}

void ForwardStep::PackRows(const Weights& w, const std::vector<float>& x,
                           int chunk, std::vector<std::byte>& operand) {
  const size_t k = static_cast<size_t>(w.k());
  const int row = chunk * kRowChunk;
  path_->PackRows(w, x.data() + static_cast<size_t>(row) * k, k, row,
                  std::min(kRowChunk, rows() - row), operand.data());
}

void ForwardStep::AddProduct(const Weights& w,
                             const std::vector<std::byte>& operand,
                             const ProductPlan& plan,
                             const std::vector<float>& bias, int chunk) {
  const ProductPlan::Chunk at = plan.chunk(chunk);
  float* y = RunProduct(*path_, w, operand.data(), at);
  for (int r = 0; r < at.rows; ++r, y += at.stride()) {
    if (!bias.empty()) AddTo(y, bias.data() + at.column, at.columns);
    AddBranch(at.row + r, at.column, at.columns, y);
  }
}

void ForwardStep::AddBranch(int row, int column, int columns, const float* y) {
  const size_t at =
      static_cast<size_t>(row) * d() + static_cast<size_t>(column);
  if (config().norms_after) {
    std::copy_n(y, columns, branch_.data() + at);
    return;
  }
  float* x = x_.data() + at;
  const float scale = config().residual_scale;
  if (scale == 1) return AddTo(x, y, columns);
  for (int i = 0; i < columns; ++i) x[i] += scale * y[i];
}

void ForwardStep::AddNormed(const std::vector<float>& weight, int chunk) {
  const int end = std::min((chunk + 1) * kRowChunk, rows());
  const float scale = config().residual_scale;
  for (int row = chunk * kRowChunk; row < end; ++row) {
    float* y = branch_.data() + static_cast<size_t>(row) * d();
    float* x = x_.data() + static_cast<size_t>(row) * d();
    RmsNorm(y, weight.data(), config().hidden_size, config().rms_norm_eps, y);
    for (size_t i = 0; i < d(); ++i) x[i] += scale * y[i];
  }
}

void ForwardStep::Mix(int chunk) {
  thread_local std::vector<float> y;
  y.resize(kRowChunk * d());
  const int row = chunk * kRowChunk;
  const int count = std::min(kRowChunk, rows() - row);
  experts_.Mix(row, count, y.data());
  for (int r = 0; r < count; ++r) {
    AddBranch(row + r, 0, config().hidden_size,
              y.data() + static_cast<size_t>(r) * d());
  }
}

void ForwardStep::Up(const NetworkLayer& layer, int chunk) {
  const ProductPlan::Chunk at = up_plan_.chunk(chunk);
  float* y = RunProduct(*path_, *layer.up, normed_.data(), at);
  if (!layer.up_bias.empty()) {
    for (int r = 0; r < at.rows; ++r) {
      AddTo(y + static_cast<size_t>(r) * at.stride(),
            layer.up_bias.data() + at.column, at.columns);
    }
  }
  ActivateChunk(at, y);
  const int column = config().gated ? at.column / 2 : at.column;
  const int columns = std::min(config().gated ? at.columns / 2 : at.columns,
                               config().intermediate_size - column);
  if (!by_rows_) {
    path_->PackBlock(*layer.down, y, at.stride(), at.row, at.rows, column,
                     columns, hidden_.data());
    return;
  }
  const size_t k = static_cast<size_t>(layer.down->k());
  for (int r = 0; r < at.rows; ++r) {
    std::copy_n(y + static_cast<size_t>(r) * at.stride(), columns,
                hidden_rows_.data() + static_cast<size_t>(at.row + r) * k +
                    static_cast<size_t>(column));
  }
}

// Leaves its result in the first columns of each row.
void ForwardStep::ActivateChunk(const ProductPlan::Chunk& at, float* y) const {
  for (int r = 0; r < at.rows; ++r, y += at.stride()) {
    if (config().gated) {
      ActivateGated(config().activation, path_->column_block(), at.columns, y);
    } else {
      Activate(config().activation, y, at.columns);
    }
  }
}

void ForwardStep::Final(int chunk) {
  const Segment& s = segments_[static_cast<size_t>(chunk)];
  const int first = first_row_[static_cast<size_t>(chunk)];
  const size_t count = s.tokens.size();
  const auto norm = [&](size_t t, float* to) {
    NormRow(net_->final_norm, net_->final_norm_bias,
            first + static_cast<int>(t), to);
  };
  if (s.all_hidden != nullptr) {
    for (size_t t = 0; t < count; ++t) norm(t, s.all_hidden + t * d());
  }
  if (s.last_hidden != nullptr && count > 0) norm(count - 1, s.last_hidden);
}

}  // namespace espalier
