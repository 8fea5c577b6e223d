// Attention over tile_pages.h, page by page, for the paths that multiply tiles
// in their own ways. Included by their files inside an anonymous namespace,
// after vectors-inl.h; hence no include guard. `Dots` is a struct of static
// functions:
//
//   Number               of queries and softmax weights, all rounded to bf16:
//                        uint16_t or float
//   Scope                an object that lives while tiles are multiplied
//   Computed(rows)       of 16 rows that are computed for `rows` of them
//   Scores(queries, keys, steps, tiles, rows, scores)
//                        scores[16][64] = queries [16, 32 steps] x keys, for
//                        the tiles of 16 keys below `tiles`
//   AddValues(weights, values, steps, dims, rows, sums)
//                        sums [16, dims] += weights [16, 64] x values [64,
//                        dims], for `steps` of 32 keys

// 16 query rows (some may be padding) against one page.
template <class Number>
struct Tile {
  const Number* queries = nullptr;  // [16, dims]
  float* sums = nullptr;            // [16, dims], running
  float* highest = nullptr;         // [16], running maxima
  float* total = nullptr;           // [16]
};

// Keys of the page that each row of a tile attends to: [first, last).
struct Range {
  int first[16];
  int last[16];
};

// Rows [from, to) have the same page at `block`.
struct Run {
  int block = 0;
  int from = 0;
  int to = 0;
};

// Per-thread buffers of Attend.
struct Scratch {
  std::vector<Run> runs;
  std::vector<float> sums, highest, total;
};

// Mask of the 16 keys from `key` on that lie within [first, last).
[[gnu::always_inline]] inline __mmask16 Lanes(int key, int first, int last) {
  const int from = std::clamp(first - key, 0, 16);
  const int to = std::clamp(last - key, 0, 16);
  return static_cast<__mmask16>(((1u << to) - 1) & ~((1u << from) - 1));
}

// One row's softmax over the page: rounded weights, running sums rescaled.
template <class Number>
[[gnu::always_inline]] inline void Weigh(const float* scores, int first,
                                         int last, int row,
                                         const Tile<Number>& tile, int dims,
                                         Number* weights) {
  const __m512 none = _mm512_set1_ps(-1e30f);
  __m512 s[4];
  for (int i = 0; i < 4; ++i) {
    s[i] =
        _mm512_mask_loadu_ps(none, Lanes(16 * i, first, last), scores + 16 * i);
  }
  const float now =
      std::max(tile.highest[row],
               _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(s[0], s[1]),
                                                  _mm512_max_ps(s[2], s[3]))));
  const __m512 m = _mm512_set1_ps(now);
  for (int i = 0; i < 4; ++i) s[i] = Exp2(_mm512_sub_ps(s[i], m));
  // Round first, so that the total is the sum of the weights actually used.
  StoreRounded(weights, s[0], s[1]);
  StoreRounded(weights + 32, s[2], s[3]);
  for (int i = 0; i < 4; ++i) s[i] = LoadRounded(weights + 16 * i);
  const float sum = _mm512_reduce_add_ps(
      _mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3])));
  if (now == tile.highest[row]) {
    tile.total[row] += sum;
    return;
  }
  const __m512 keep =
      Exp2(_mm512_set1_ps(std::max(tile.highest[row] - now, -1000.0f)));
  tile.total[row] = tile.total[row] * _mm512_cvtss_f32(keep) + sum;
  tile.highest[row] = now;
  float* sums = tile.sums + static_cast<size_t>(row) * dims;
  for (int d = 0; d < dims; d += 16) {
    _mm512_storeu_ps(sums + d, _mm512_mul_ps(_mm512_loadu_ps(sums + d), keep));
  }
}

// Rows without keys in this page keep their sums: their weights are 0.
template <class Dots>
ESP_RANGES_TOLD void AttendTile(const Tile<typename Dots::Number>& tile,
                                const Range& range, int rows,
                                const std::byte* keys, const std::byte* values,
                                int dims) {
  alignas(64) float scores[16 * kPageSlots];
  using Number = typename Dots::Number;
  alignas(64) Number weights[16 * kPageSlots];
  const int last = *std::max_element(range.last, range.last + rows);
  const int tiles = (last + 15) / 16;
  TellBytesRead(keys, keys + static_cast<size_t>(tiles * dims) * 32);
  TellBytesRead(values,
                values + static_cast<size_t>((last + 31) / 32 * dims) * 64);
  Dots::Scores(tile.queries, keys, dims / 32, tiles, rows, scores);
  for (int r = 0; r < Dots::Computed(rows); ++r) {
    Number* to = weights + r * kPageSlots;
    if (r < rows && range.first[r] < range.last[r]) {
      Weigh(scores + r * kPageSlots, range.first[r], range.last[r], r, tile,
            dims, to);
    } else {
      std::memset(to, 0, kPageSlots * sizeof(Number));
    }
  }
  Dots::AddValues(weights, values, (last + 31) / 32, dims, rows, tile.sums);
}

template <class Dots>
void AttendRun(TilePages& pages, const AttendRows& task, const Run& run,
               Scratch& s) {
  const int dims = pages.dims();
  const PageId page = task.pages[run.from][run.block];
  const std::byte* keys = pages.keys(page, task.layer, task.kv_head);
  const std::byte* values = pages.values(page, task.layer, task.kv_head);
  using Number = typename Dots::Number;
  const Number* queries = reinterpret_cast<const Number*>(task.queries);
  const int begin = run.from * task.group, end = run.to * task.group;
  for (int at = begin; at < end; at += 16) {
    const int rows = std::min(16, end - at);
    Range range;
    for (int r = 0; r < rows; ++r) {
      const int position = task.positions[(at + r) / task.group];
      const int base = run.block * kPageSlots;
      range.last[r] = std::clamp(position + 1 - base, 0, kPageSlots);
      range.first[r] =
          task.window == 0
              ? 0
              : std::clamp(position + 1 - task.window - base, 0, kPageSlots);
    }
    const size_t offset = static_cast<size_t>(at) * static_cast<size_t>(dims);
    AttendTile<Dots>({.queries = queries + offset,
                      .sums = s.sums.data() + offset,
                      .highest = s.highest.data() + at,
                      .total = s.total.data() + at},
                     range, rows, keys, values, dims);
  }
}

// Whether the row attends to any key of the block.
bool Sees(const AttendRows& task, int row, int block) {
  const int position = task.positions[row];
  if (position < block * kPageSlots) return false;
  return task.window == 0 ||
         (block + 1) * kPageSlots > position + 1 - task.window;
}

// Page by page in order, so that rows that share a page read it once.
void FindRuns(const AttendRows& task, std::vector<Run>& runs) {
  int blocks = 0;
  for (int r = 0; r < task.rows; ++r) {
    blocks = std::max(blocks, task.positions[r] / kPageSlots + 1);
  }
  for (int block = 0; block < blocks; ++block) {
    for (int from = 0; from < task.rows;) {
      if (!Sees(task, from, block)) {
        ++from;
        continue;
      }
      int to = from + 1;
      while (to < task.rows && Sees(task, to, block) &&
             task.pages[to][block] == task.pages[from][block]) {
        ++to;
      }
      runs.push_back({block, from, to});
      from = to;
    }
  }
}

// Prefetches what the run will read while another one is computed.
void AskFor(TilePages& pages, const AttendRows& task, const Run& run) {
  const int last = task.positions[run.to - 1] - run.block * kPageSlots;
  const char* keys = reinterpret_cast<const char*>(
      pages.keys(task.pages[run.from][run.block], task.layer, task.kv_head));
  const size_t half = pages.half();
  const size_t key_bytes =
      half / 4 * static_cast<size_t>(std::min(last / 16 + 1, 4));
  const size_t value_bytes =
      half / 2 * static_cast<size_t>(std::min(last / 32 + 1, 2));
  for (size_t i = 0; i < key_bytes; i += 64) {
    _mm_prefetch(keys + i, _MM_HINT_T1);
  }
  for (size_t i = 0; i < value_bytes; i += 64) {
    _mm_prefetch(keys + half + i, _MM_HINT_T1);
  }
}

template <class Dots>
int AttendTiles(PageMemory& memory, const AttendRows& task, float* out) {
  TilePages& pages = PagesOfTiles(memory);
  [[maybe_unused]] const typename Dots::Scope scope;
  const int dims = pages.dims();
  const int rows = task.rows * task.group;
  const size_t padded = static_cast<size_t>(rows + 15);
  thread_local Scratch s;
  s.sums.assign(padded * static_cast<size_t>(dims), 0.0f);
  s.highest.assign(padded, -1e30f);
  s.total.assign(padded, 0.0f);
  s.runs.clear();
  FindRuns(task, s.runs);
  for (size_t i = 0; i < s.runs.size(); ++i) {
    if (i + 1 < s.runs.size()) AskFor(pages, task, s.runs[i + 1]);
    AttendRun<Dots>(pages, task, s.runs[i], s);
  }
  for (int r = 0; r < rows; ++r) {
    const __m512 inverse =
        _mm512_set1_ps(1.0f / s.total[static_cast<size_t>(r)]);
    const size_t at = static_cast<size_t>(r) * static_cast<size_t>(dims);
    for (int d = 0; d < dims; d += 16) {
      _mm512_storeu_ps(
          out + at + d,
          _mm512_mul_ps(_mm512_loadu_ps(s.sums.data() + at + d), inverse));
    }
  }
  return static_cast<int>(s.runs.size());
}
