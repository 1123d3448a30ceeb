#include "engine/spmv_operator.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "engine/graph_builder.hpp"
#include "engine/operator_builder.hpp"
#include "engine/page_memory.hpp"
#include "engine/weight_scale.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/median.hpp"
#include "kernels/base/seconds_since.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

std::shared_ptr<const GraphDegrees> degrees_of(const Graph& graph, const OperatorOptions& options,
                                               Communicator& comm) {
  if (options.degrees != nullptr) return options.degrees;
  return std::make_shared<const GraphDegrees>(graph_degrees(graph, comm));
}

/// HITS does not depend on the unit of weights.
template <class S>
std::optional<Graph> scaled_for(const Graph& graph, Communicator& comm) {
  return sizeof(S) == sizeof(float) ? with_weights_near_one(graph, comm) : std::nullopt;
}

}  // namespace

template <class S>
SpmvOperator<S> SpmvOperator<S>::in_edges(const Graph& graph, const OperatorOptions& options,
                                          Backend<S>& backend, Communicator& comm) {
  const OperatorBuilder<S> builder{options, backend, comm};
  const auto degrees = degrees_of(graph, options, comm);
  SpmvPlan plan = builder.plan(graph, degrees->in, degrees->out);
  const VectorSpace space = builder.space(degrees->in, degrees->out, plan);
  builder.check_weights(graph);
  return builder.build(loaded_rows(graph, comm), degrees->in, space, space, std::move(plan));
}

template <class S>
std::pair<SpmvOperator<S>, SpmvOperator<S>> SpmvOperator<S>::in_and_out_edges(const Graph& graph,
                                                                              const OperatorOptions& options,
                                                                              Backend<S>& backend,
                                                                              Communicator& comm) {
  const OperatorBuilder<S> builder{options, backend, comm};
  builder.check_weights(graph);
  const std::optional<Graph> scaled = scaled_for<S>(graph, comm);
  const Graph& edges = scaled ? *scaled : graph;
  const auto degrees = degrees_of(graph, options, comm);
  const Buffer<std::uint64_t>&in = degrees->in, &out = degrees->out;
  // The spaces are shared, so both products go by one plan.
  const SpmvPlan plan = builder.plan(graph, in, out);
  // Hubs are columns of A^T and rows of A: out-degrees both times. Authorities: in-degrees.
  const VectorSpace hubs = builder.space(out, out, plan);
  const VectorSpace authorities = builder.space(in, in, plan);
  LoadedRows loaded = loaded_rows(edges, comm);
  SpmvOperator first = builder.build(loaded, in, authorities, hubs, plan);
  loaded.is_turned = true;
  SpmvOperator second = builder.build(loaded, out, hubs, authorities, plan);
  return {std::move(first), std::move(second)};
}

template <class S>
SpmvOperator<S> SpmvOperator<S>::hits_block(const Graph& graph, const OperatorOptions& options,
                                            Backend<S>& backend, Communicator& comm) {
  if (graph.num_vertices > kMaxVertices / 2)
    throw ResourceError(
        "the block form of HITS doubles the vertices past the limit; use --update alternating");
  const OperatorBuilder<S> builder{options, backend, comm};
  // Row v (authority) reads the hubs that point to v: in-degree; row n + u reads what u points to:
  // out-degree. Column v is read by the hubs that point to v: in-degree again; column n + u: out-degree.
  const auto degrees = degrees_of(graph, options, comm);
  Buffer<std::uint64_t> lengths(2 * graph.num_vertices);
  std::copy(degrees->out.begin(), degrees->out.end(),
            std::copy(degrees->in.begin(), degrees->in.end(), lengths.begin()));
  SpmvPlan plan = builder.plan(graph, lengths, lengths);
  const VectorSpace space = builder.space(lengths, lengths, plan);
  builder.check_weights(graph);
  const std::optional<Graph> scaled = scaled_for<S>(graph, comm);
  const Graph& edges = scaled ? *scaled : graph;
  const Graph turned = transposed(edges, comm);
  LoadedRows loaded = loaded_rows(edges, comm);
  loaded.second = &turned;
  loaded.first_column_shift = static_cast<VertexId>(graph.num_vertices);
  return builder.build(loaded, lengths, space, space, std::move(plan));
}

template <class S>
Buffer<S> SpmvOperator<S>::make_x(unsigned num_vectors) const {
  if (exchange_ != nullptr) return {};
  Buffer<S> x = backend_->template allocate<S>(x_size_ * num_vectors);
  backend_->clear(x);
  return x;
}

template <class S>
Buffer<double> SpmvOperator<S>::make_y(unsigned num_vectors) const {
  matrix_->prepare(num_vectors);
  const RowPlaces places = row_places();
  const std::uint64_t size = places.positions == nullptr ? num_local_rows() : places.num_products;
  Buffer<double> y = backend_->template allocate<double>(size * num_vectors);
  backend_->clear(y);
  return y;
}

template <class S>
void SpmvOperator<S>::replicate(const Buffer<S>& local, const Buffer<S>* scale, Buffer<S>& x,
                                unsigned num_vectors) {
  backend_->put_inputs(local, scale, num_vectors, input_target(x, num_vectors));
  send(x, num_vectors);
}

template <class S>
InputTarget<S> SpmvOperator<S>::input_target(Buffer<S>& x, unsigned num_vectors) {
  if (comm_->size() == 1) return {&x, own_places_};
  if (exchange_ != nullptr) return exchange_->inputs(num_vectors);
  if (send_.size() < exchange_plan_.count * num_vectors) {
    send_ = backend_->template allocate<S>(exchange_plan_.count * num_vectors);
    backend_->clear(send_);  // what is left over is sent, too
    if (!input_slots_.empty())
      received_ = backend_->template allocate<S>(exchange_plan_.num_received() * num_vectors);
  }
  return {&send_,
          {.count = exchange_plan_.num_mine,
           .listed = send_positions_.empty() ? nullptr : send_positions_.data()}};
}

template <class S>
void SpmvOperator<S>::send(Buffer<S>& x, unsigned num_vectors) {
  if (comm_->size() == 1) return;
  if (exchange_ != nullptr)
    x = exchange_->start(num_vectors);
  else
    send_through_host(x, num_vectors);
}

template <class S>
void SpmvOperator<S>::send_through_host(Buffer<S>& x, unsigned num_vectors) {
  backend_->synchronize();
  const auto start = std::chrono::steady_clock::now();
  gather_through_host(exchange_plan_.count * num_vectors, input_slots_.empty() ? x : received_);
  if (!input_slots_.empty())
    backend_->put_inputs(received_, nullptr, num_vectors, {&x, InputPlaces::listed_in(input_slots_)});
  host_exchange_seconds_ += seconds_since(start);
}

template <class S>
void SpmvOperator<S>::gather_through_host(std::uint64_t num_sent, Buffer<S>& all) {
  const std::vector<std::uint64_t> counts(static_cast<std::size_t>(comm_->size()), num_sent);
  const std::uint64_t num_received = num_sent * counts.size();
  if (backend_->memory_is_host())
    return all_gather<S>(*comm_, send_.span().first(num_sent), all.span().first(num_received), counts);
  std::vector<S> mine(num_sent), host(num_received);
  backend_->download(send_.data(), mine.data(), num_sent * sizeof(S));
  all_gather<S>(*comm_, std::span<const S>(mine), std::span<S>(host), counts);
  backend_->upload(host.data(), all.data(), num_received * sizeof(S));
}

template <class S>
const char* SpmvOperator<S>::exchange_kind() const {
  return comm_->size() == 1 ? "none" : exchange_ == nullptr ? "host" : exchange_->kind();
}

template <class S>
double SpmvOperator<S>::exchange_seconds() const {
  return exchange_ == nullptr ? host_exchange_seconds_ : exchange_->seconds();
}

template <class S>
void SpmvOperator<S>::apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) {
  start(x, y, num_vectors);
  wait_for_inputs();
}

template <class S>
void SpmvOperator<S>::start(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) {
  matrix_->apply(x, y, num_vectors);
}

template <class S>
void SpmvOperator<S>::wait_for_inputs() {
  if (exchange_ != nullptr) exchange_->finish();
}

template <class S>
bool SpmvOperator<S>::works_ahead() const {
  return backend_->is_asynchronous() && (comm_->size() == 1 || exchange_ != nullptr);
}

template <class S>
std::vector<PartTime> SpmvOperator<S>::time_parts(int repeats) const {
  require(comm_->size() == 1 && repeats > 0, "products are timed on one rank");
  const Buffer<S> x = make_x();
  Buffer<double> y = make_y();
  std::vector<PartTime> result = matrix_->time_parts(x, y);
  std::vector<std::vector<double>> seconds(result.size());
  for (int i = 0; i < repeats; ++i) {
    const std::vector<PartTime> once = matrix_->time_parts(x, y);
    for (std::size_t part = 0; part < once.size(); ++part) seconds[part].push_back(once[part].seconds);
  }
  for (std::size_t part = 0; part < result.size(); ++part)
    result[part].seconds = median(std::move(seconds[part]));
  return result;
}

template <class S>
template <class T>
Buffer<S> SpmvOperator<S>::to_local(std::span<const T> original) const {
  require(original.size() == num_rows(), "a vector in original order has one entry for each row");
  const auto rows = local_rows();
  Buffer<S> host(rows.size());
  const auto count = static_cast<std::int64_t>(rows.size());
#pragma omp parallel for
  for (std::int64_t i = 0; i < count; ++i) host[i] = static_cast<S>(original[rows[i]]);
  if (backend_->memory_is_host()) return host;
  Buffer<S> local = backend_->template allocate<S>(rows.size());
  backend_->upload(host.data(), local.data(), local.size_bytes());
  return local;
}

template <class S>
Buffer<S> SpmvOperator<S>::local_constant(S value, std::uint64_t num_local_rows) const {
  Buffer<S> local = backend_->template allocate<S>(num_local_rows);
  backend_->fill(local, value);
  return local;
}

template <class S>
std::vector<double> SpmvOperator<S>::to_original(const Buffer<S>& local, unsigned num_vectors, unsigned q,
                                                 S rest) const {
  const std::uint64_t num_given = local.size() / num_vectors;
  Buffer<S> of_block;  // which stays where it is
  if (num_vectors > 1) of_block = selected(local, num_vectors, q);
  const Buffer<S>& vector = num_vectors > 1 ? of_block : local;
  Buffer<S> mine(num_local_rows());
  backend_->download(vector.data(), mine.data(), vector.size_bytes());
  std::fill(mine.begin() + num_given, mine.end(), rest);
  Buffer<S> others;
  if (comm_->size() > 1) {
    others = Buffer<S>(num_rows());
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(comm_->size()));
    for (int r = 0; r < comm_->size(); ++r) counts[r] = rows_->of_rank(r).size();
    all_gather<S>(*comm_, std::span<const S>(mine.span()), others.span(), counts);
  }
  const Buffer<S>& all = comm_->size() > 1 ? others : mine;
  std::vector<double> original = zeros_in_found_pages(num_rows());
  const auto num_all = static_cast<std::int64_t>(num_rows());
#pragma omp parallel for
  for (std::int64_t i = 0; i < num_all; ++i) original[rows_->vertices[i]] = static_cast<double>(all[i]);
  return original;
}

template <class S>
Buffer<S> SpmvOperator<S>::selected(const Buffer<S>& block, unsigned num_vectors, unsigned q) const {
  Buffer<S> vector = backend_->template allocate<S>(block.size() / num_vectors);
  backend_->select_vectors(block, num_vectors, {&q, 1}, vector);
  return vector;
}

template <class S>
BestScores SpmvOperator<S>::best(const Buffer<S>& local, std::uint64_t count, unsigned num_vectors,
                                 unsigned q) const {
  // Of more than these, equal ones among them, a vector of all scores takes less memory.
  const std::uint64_t most = std::max(2 * count, num_rows() / 8);
  std::optional<std::vector<ScoredVertex>> mine;
  run_together(*comm_, [&] { mine = local_best(local, count, most, num_vectors, q); });
  if (!all_true(*comm_, mine.has_value()))
    return best_of(to_original(local, num_vectors, q), std::min(count, num_rows()));
  const std::vector<std::uint64_t> counts = all_gather(*comm_, std::uint64_t{mine->size()});
  std::vector<ScoredVertex> all(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  all_gather<ScoredVertex>(*comm_, std::span<const ScoredVertex>(*mine), std::span<ScoredVertex>(all),
                           counts);
  keep_best(all, count);
  return with_zeros(all, std::min(count, num_rows()));
}

template <class S>
std::optional<std::vector<ScoredVertex>> SpmvOperator<S>::local_best(const Buffer<S>& local,
                                                                     std::uint64_t count, std::uint64_t most,
                                                                     unsigned num_vectors, unsigned q) const {
  const auto entries = num_vectors > 1 ? backend_->largest(selected(local, num_vectors, q), count, most)
                                       : backend_->largest(local, count, most);
  if (!entries) return std::nullopt;
  const auto rows = local_rows();
  std::vector<ScoredVertex> mine;
  for (const VectorEntry<S>& entry : *entries)
    mine.push_back({rows[entry.index], static_cast<double>(entry.value)});
  keep_best(mine, count);
  return mine;
}

template <class S>
std::vector<double> SpmvOperator<S>::values_of(const Buffer<S>& local, std::span<const VertexId> rows) const {
  std::vector<double> values(rows.size(), -std::numeric_limits<double>::infinity());  // of other ranks' rows
  run_together(*comm_, [&] {
    std::vector<std::pair<VertexId, std::size_t>> wanted;  // with the place in the list
    std::vector<std::uint64_t> bits(ceil_div<std::uint64_t>(num_rows(), 64));
    for (const VertexId row : rows) {
      require(row < num_rows(), "rows of the matrix");
      wanted.emplace_back(row, wanted.size());
      bits[row / 64] |= std::uint64_t{1} << row % 64;
    }
    std::sort(wanted.begin(), wanted.end());
    const auto is_same_row = [](const auto& a, const auto& b) { return a.first == b.first; };
    require(std::adjacent_find(wanted.begin(), wanted.end(), is_same_row) == wanted.end(),
            "rows that are named once");
    Buffer<S> mine(num_local_rows());
    backend_->download(local.data(), mine.data(), local.size_bytes());
    std::fill(mine.begin() + local.size(), mine.end(), S{0});
    const auto own = local_rows();
    const auto num_own = static_cast<std::int64_t>(own.size());
#pragma omp parallel for
    for (std::int64_t i = 0; i < num_own; ++i) {
      const VertexId row = own[i];
      if ((bits[row / 64] >> row % 64 & 1) == 0) continue;
      const auto found = std::lower_bound(wanted.begin(), wanted.end(), std::pair{row, std::size_t{0}});
      values[found->second] = static_cast<double>(mine[i]);
    }
  });
  comm_->all_max(std::span<double>(values));
  return values;
}

template <class S>
VertexId SpmvOperator<S>::local_index(VertexId row) const {
  const auto rows = local_rows();
  const auto found = std::find(rows.begin(), rows.end(), row);
  return found == rows.end() ? kNoVertex : static_cast<VertexId>(found - rows.begin());
}

template class SpmvOperator<float>;
template class SpmvOperator<double>;
template Buffer<float> SpmvOperator<float>::to_local(std::span<const float>) const;
template Buffer<float> SpmvOperator<float>::to_local(std::span<const double>) const;
template Buffer<double> SpmvOperator<double>::to_local(std::span<const double>) const;

}  // namespace tessera
