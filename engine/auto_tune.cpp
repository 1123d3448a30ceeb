#include "engine/auto_tune.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>

#include "engine/table_file.hpp"
#include "kernels/backend.hpp"
#include "kernels/base/median.hpp"
#include "kernels/base/mix_bits.hpp"
#include "kernels/base/seconds_since.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t kElements = std::uint64_t{1} << 21;  // of each test matrix
constexpr std::uint32_t kTileSlots = 65535;
constexpr std::uint32_t kMaxRows = 1u << 19;

/// Below `bound`, small numbers far more often than large ones, like the columns of a power-law graph in
/// order.
std::uint64_t skewed(RandomBits& random, std::uint64_t bound) {
  const double u = random.uniform();
  return static_cast<std::uint64_t>(u * u * u * static_cast<double>(bound));
}

/// Median seconds of one product.
double time_product(const Matrix<float>& matrix, std::uint64_t num_slots, std::uint64_t num_rows) {
  Buffer<float> x(num_slots);
  std::fill(x.begin(), x.end(), 0.5f);
  Buffer<double> y(num_rows);
  std::fill(y.begin(), y.end(), 0.0);
  std::vector<double> seconds;
  matrix.apply(x, y, 1);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    matrix.apply(x, y, 1);
    seconds.push_back(seconds_since(start));
  }
  return median(std::move(seconds));
}

/// One tile of equal workloads with random columns; row pieces go to scattered rows.
TileComposite<float> uniform_tile(const Workload& shape, RandomBits& random) {
  const std::uint64_t stored = std::uint64_t{shape.width} * shape.height;
  const std::uint64_t count =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(kElements / stored, kMaxRows / shape.num_rows));
  TileComposite<float> a;
  a.num_rows = kMaxRows;
  a.num_slots = kTileSlots + 1;
  a.tiles = Buffer<Tile>(1);
  a.tiles[0] = {.first_slot = 0, .num_columns = kTileSlots, .first_workload = 0, .num_workloads = count};
  a.workloads = Buffer<Workload>(count);
  a.offsets16 = Buffer<std::uint16_t>(count * stored);
  a.row_ids = Buffer<VertexId>(count * shape.num_rows);
  for (std::uint64_t i = 0; i < count; ++i) {
    a.workloads[i] = shape;
    a.workloads[i].first_element = i * stored;
    a.workloads[i].first_row = i * shape.num_rows;
  }
  for (std::uint16_t& offset : a.offsets16) offset = static_cast<std::uint16_t>(skewed(random, kTileSlots));
  // An odd multiplier visits every row of a power of two once, in scattered order.
  for (std::uint64_t i = 0; i < a.row_ids.size(); ++i)
    a.row_ids[i] = static_cast<VertexId>(i * 40503u % kMaxRows);
  return a;
}

/// Seconds to clear y, which is part of every product but not of a workload.
double time_clearing(Backend<float>& backend) {
  TileComposite<float> empty;
  empty.num_rows = kMaxRows;
  empty.num_slots = 1;
  const auto matrix = backend.make_matrix(std::move(empty));
  return time_product(*matrix, 1, kMaxRows);
}

void measure_shapes(Backend<float>& backend, RandomBits& random, PerfTable& table,
                    const std::function<void(double)>& progress) {
  constexpr int kMaxLog = 18;
  const double clearing_seconds = time_clearing(backend);
  for (int log_width = 0; log_width <= 16; ++log_width) {
    for (int log_height = 0; log_width + log_height <= kMaxLog; ++log_height) {
      if (log_width + log_height < 9) continue;  // smaller workloads are never chosen
      Workload shape;
      shape.width = 1u << log_width;
      shape.num_rows = shape.height = 1u << log_height;
      shape.layout = shape.width > shape.height ? Layout::row_major : Layout::column_major;
      TileComposite<float> a = uniform_tile(shape, random);
      const double elements = static_cast<double>(a.offsets16.size());
      const std::uint64_t num_slots = a.num_slots, num_rows = a.num_rows;
      const auto matrix = backend.make_matrix(std::move(a));
      const double seconds = time_product(*matrix, num_slots, num_rows) - clearing_seconds;
      table.entries.push_back({shape.width, shape.height, std::max(0.05, seconds * 1e9 / elements)});
    }
    progress(0.8 * (log_width + 1) / 17);
  }
}

/// Rows of `mean_length` elements on average, each of another length: a row costs little more than its
/// elements where the processor foresees its end, and in a graph it cannot.
CsrMatrix<float> window_matrix(std::uint64_t num_columns, std::uint64_t mean_length, RandomBits& random) {
  std::vector<EdgeOffset> offsets = {0};
  while (offsets.back() < kElements)
    offsets.push_back(std::min(kElements, offsets.back() + random.next() % (2 * mean_length + 1)));
  CsrMatrix<float> a;
  a.num_rows = offsets.size() - 1;
  a.num_slots = num_columns;
  a.row_offsets = Buffer<EdgeOffset>(offsets.size());
  std::copy(offsets.begin(), offsets.end(), a.row_offsets.begin());
  a.col_indices = Buffer<VertexId>(kElements);
  for (VertexId& column : a.col_indices) column = static_cast<VertexId>(random.next() % num_columns);
  return a;
}

/// Seconds of one product and the rows it had.
struct CsrTime {
  double seconds, num_rows;
};

void measure_csr(Backend<float>& backend, RandomBits& random, PerfTable& table,
                 const std::function<void(double)>& progress) {
  constexpr std::uint64_t kFewColumns = 4096, kShortRow = 4, kLongRow = 32;
  auto measure = [&](std::uint64_t num_columns, std::uint64_t mean_length) {
    CsrMatrix<float> a = window_matrix(num_columns, mean_length, random);
    const std::uint64_t num_rows = a.num_rows;
    const auto matrix = backend.make_matrix(std::move(a));
    return CsrTime{time_product(*matrix, num_columns, num_rows), static_cast<double>(num_rows)};
  };
  const CsrTime many = measure(kFewColumns, kShortRow), few = measure(kFewColumns, kLongRow);
  const double row_seconds = std::max(0.0, (many.seconds - few.seconds) / (many.num_rows - few.num_rows));
  table.csr_ns_per_row = row_seconds * 1e9;
  for (std::uint64_t bytes = 16 << 10; bytes <= 256u << 20; bytes *= 4) {
    const CsrTime window = measure(bytes / sizeof(float), kLongRow);
    const double seconds =
        window.seconds - row_seconds * window.num_rows;  // the rows are counted by themselves
    table.csr.push_back({bytes, std::max(0.05, seconds * 1e9 / static_cast<double>(kElements))});
    progress(0.8 + 0.02 * static_cast<double>(table.csr.size()));
  }
}

/// One thread as long as it lives; `progress` may throw.
class OneThread {
 public:
  OneThread() : threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(threads_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int threads_;
};

}  // namespace

PerfTable measure_perf_table(const std::function<void(double fraction)>& progress) {
  const OneThread one_thread;
  PerfTable table;
  RandomBits random(1);
  const auto backend = make_backend<float>("cpu");
  measure_shapes(*backend, random, table, progress);
  measure_csr(*backend, random, table, progress);
  table.machine = processor_name();
  table.measured_on = today();
  table.prepare();
  progress(1);
  return table;
}

}  // namespace tessera
