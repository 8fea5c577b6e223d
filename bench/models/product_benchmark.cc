// Products of activations with packed weights, shaped as in a layer of the
// 100 M Llama, compared with oneDNN on the same machine with weights in its
// preferred layout. Twelve layers take turns, so that weights come from memory
// as in decoding. One thread; both exclude the rounding of activations.
//
// Counters: Gop/s, multiplications and additions; weight_GB/s.
#include <omp.h>

#include <algorithm>
#include <dnnl.hpp>
#include <memory>
#include <vector>

#include "base/random.h"
#include "bench/base/smoke.h"
#include "benchmark/benchmark.h"
#include "models/kernels/choose_kernels.h"
#include "models/kernels/kernel_path.h"

namespace espalier {
namespace {

struct Shape {
  int n, k;
};
// Queries, keys and values; output; gate and up; down.
constexpr Shape kLayer[] = {{1280, 768}, {768, 768}, {4096, 768}, {768, 2048}};
const int kLayers = SmokeOr(1, 12);

void Count(benchmark::State& state, int rows, double weight_bytes) {
  double operations = 0;
  for (const Shape& s : kLayer) operations += 2.0 * s.n * s.k * rows;
  const auto rate = [](double n) {
    return benchmark::Counter(n, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["Gop/s"] = rate(operations * kLayers * 1e-9);
  state.counters["weight_GB/s"] = rate(weight_bytes * 1e-9);
}

// Of the largest product, drawn once: a benchmark's function runs several
// times.
const std::vector<float>& Numbers() {
  static const std::vector<float> numbers = [] {
    RandomStream rng(StreamKey(1, 2, 3, Purpose::kTest));
    std::vector<float> out(4096 * 768);
    for (float& v : out) v = static_cast<float>(rng.Normal());
    return out;
  }();
  return numbers;
}

void Ours(benchmark::State& state, WeightKind kind) {
  const int rows = static_cast<int>(state.range(0));
  const KernelPath& path = *ChooseKernels("", kind, 64).value();
  const std::vector<float>& numbers = Numbers();
  struct Product {
    std::unique_ptr<Weights> weights;
    std::vector<std::byte> operand;
  };
  std::vector<Product> products;
  double bytes = 0;
  for (int layer = 0; layer < kLayers; ++layer) {
    for (const Shape& s : kLayer) {
      Product p{path.Pack(s.n, s.k, kind, [&](int begin, int count, float* to) {
        std::copy_n(numbers.data() + begin * s.k, count * s.k, to);
      })};
      p.operand.resize(path.OperandBytes(*p.weights, rows) + 64);
      path.PackRows(*p.weights, numbers.data(), static_cast<size_t>(s.k), 0,
                    rows, p.operand.data());
      bytes += static_cast<double>(p.weights->bytes());
      products.push_back(std::move(p));
    }
  }
  std::vector<float> y(static_cast<size_t>(rows + 31) * 4096);
  for (auto _ : state) {
    for (const Product& p : products) {
      for (int r = 0; r < rows; r += path.row_block()) {
        const int some = std::min(path.row_block(), rows - r);
        path.Product(*p.weights, p.operand.data(), r, some, 0, p.weights->n(),
                     y.data(), 4096);
      }
    }
  }
  Count(state, rows, bytes);
}

void OneDnn(benchmark::State& state, WeightKind kind) {
  using dnnl::memory;
  using Type = memory::data_type;
  using Tag = memory::format_tag;
  const int rows = static_cast<int>(state.range(0));
  const bool int8 = kind == WeightKind::kInt8;
  if (!int8 && !__builtin_cpu_supports("avx512bw")) {
    state.SkipWithError("oneDNN has no bf16 product on this processor");
    return;
  }
  const Type type = int8 ? Type::s8 : Type::bf16;
  omp_set_num_threads(1);  // oneDNN's threads are OpenMP's
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  struct Product {
    dnnl::matmul run;
    memory source, weights, result;
  };
  std::vector<Product> products;
  double bytes = 0;
  for (int layer = 0; layer < kLayers; ++layer) {
    for (const Shape& s : kLayer) {
      const dnnl::matmul::primitive_desc plan(
          dnnl::matmul::desc(
              memory::desc({rows, s.k}, type, Tag::ab),
              memory::desc({s.k, s.n}, type, Tag::any),
              memory::desc({rows, s.n}, int8 ? Type::s32 : Type::f32, Tag::ab)),
          engine);
      Product p{dnnl::matmul(plan), memory(plan.src_desc(), engine),
                memory(plan.weights_desc(), engine),
                memory(plan.dst_desc(), engine)};
      // Varied small numbers: all zeros could take a fast path.
      for (const memory* m : {&p.source, &p.weights}) {
        std::fill_n(static_cast<uint8_t*>(m->get_data_handle()),
                    m->get_desc().get_size(), uint8_t{61});
      }
      bytes += static_cast<double>(plan.weights_desc().get_size());
      products.push_back(std::move(p));
    }
  }
  for (auto _ : state) {
    for (Product& p : products) {
      p.run.execute(stream, {{DNNL_ARG_SRC, p.source},
                             {DNNL_ARG_WEIGHTS, p.weights},
                             {DNNL_ARG_DST, p.result}});
    }
    stream.wait();
  }
  Count(state, rows, bytes);
}

void Rows(benchmark::internal::Benchmark* b) {
  b->ArgName("rows")->Arg(1)->Arg(4)->Arg(8)->Arg(12)->Arg(16)->Arg(32)->Arg(
      512);
  b->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(Ours, bf16, WeightKind::kBf16)->Apply(Rows);
BENCHMARK_CAPTURE(OneDnn, bf16, WeightKind::kBf16)->Apply(Rows);
BENCHMARK_CAPTURE(Ours, int8, WeightKind::kInt8)->Apply(Rows);
BENCHMARK_CAPTURE(OneDnn, int8, WeightKind::kInt8)->Apply(Rows);
BENCHMARK_CAPTURE(Ours, int4, WeightKind::kInt4)->Apply(Rows);

}  // namespace
}  // namespace espalier
