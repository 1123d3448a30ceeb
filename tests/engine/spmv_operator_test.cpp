// y = A x over ranks, kernels and blocks of vectors against a plain loop over the graph's edges.
#include "engine/spmv_operator.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "engine/graph_stats.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

std::vector<double> random_vector(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.5, 1);
  std::vector<double> values(size);
  for (double& value : values) value = uniform(random);
  return values;
}

Graph skewed_graph(std::uint64_t n, std::uint64_t num_edges, bool weighted, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::pair<VertexId, VertexId>> edges;
  const auto pick = [&](double power) {
    return static_cast<VertexId>(std::pow(uniform(random), power) * static_cast<double>(n));
  };
  for (std::uint64_t e = 0; n > 0 && e < num_edges; ++e) edges.emplace_back(pick(3), pick(2));
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return sample_graph(edges, range_labels(n, 0), weighted);
}

/// sum over in-edges u -> v of weight * x[u] (or over out-edges of weight * x[v]).
std::vector<double> plain_product(const Graph& graph, const std::vector<double>& x, bool out_edges = false) {
  std::vector<double> y(graph.num_vertices, 0.0);
  for (std::uint64_t v = 0; v < graph.num_vertices; ++v)
    for (EdgeOffset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
      const double weight = graph.weighted ? graph.weights[e] : 1.0;
      const VertexId u = graph.col_indices[e];
      (out_edges ? y[u] : y[v]) += weight * (out_edges ? x[v] : x[u]);
    }
  return y;
}

/// The product with `from` (whose inputs are laid out as the rows of `rows_of_inputs`) in original order.
template <class S>
std::vector<double> product(SpmvOperator<S>& op, const SpmvOperator<S>& rows_of_inputs,
                            const std::vector<double>& x) {
  Buffer<S> on_ranks = op.make_x();
  op.replicate(rows_of_inputs.to_local(x), nullptr, on_ranks);
  Buffer<double> y = op.make_y();
  op.apply(on_ranks, y);
  for (double& value : y) value = value == 0 ? 0 : -1e300;  // which the next product must write again
  op.apply(on_ranks, y);
  Buffer<S> stored(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) stored[i] = static_cast<S>(y[i]);
  return op.to_original(stored);
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected, double relative) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], relative * (1 + std::abs(expected[i]))) << i;
}

struct Case {
  std::uint64_t n, num_edges;
  bool weighted;
};
const std::vector<Case> kCases = {{500, 6000, false}, {500, 6000, true}, {3, 4, false},
                                  {1, 1, true},       {6, 0, false},     {100000, 300000, false}};

TEST(SpmvOperator, IsTheProductWithTheSameBitsOnAnyNumberOfRanksAndThreads) {
  for (const Case& c : kCases) {
    const Graph whole = skewed_graph(c.n, c.num_edges, c.weighted, 3);
    const std::vector<double> x = random_vector(c.n, 4), expected = plain_product(whole, x);
    for (const KernelKind kernel : {KernelKind::tile_composite, KernelKind::csr}) {
      std::vector<double> first;
      for (const auto& [ranks, threads] :
           {std::pair(1, 1), std::pair(1, 2), std::pair(1, 4), std::pair(2, 1), std::pair(3, 1),
            std::pair(4, 1), std::pair(7, 1), std::pair(3, 2)})
        run_ranks(ranks, [&, threads = threads](Communicator& comm) {
          omp_set_num_threads(threads);
          const auto backend = make_backend<double>("cpu");
          auto op = SpmvOperator<double>::in_edges(block_of(whole, comm), {.kernel = kernel}, *backend, comm);
          const std::vector<double> y = product(op, op, x);
          if (!comm.is_root()) return;
          expect_near(y, expected, 1e-13);
          if (first.empty()) first = y;
          EXPECT_EQ(y, first);
        });
    }
  }
}

/// Small whole numbers have exact sums in any order, so every bit of the product is known.
RC_GTEST_PROP(SpmvOperator, IsExactOnWholeNumbers, ()) {
  const auto n = *rc::gen::inRange<std::uint64_t>(1, 40);
  const auto vertex = rc::gen::inRange<VertexId>(0, static_cast<VertexId>(n));
  auto edges = *rc::gen::container<std::vector<std::pair<VertexId, VertexId>>>(rc::gen::pair(vertex, vertex));
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const bool weighted = *rc::gen::arbitrary<bool>();
  const Graph whole = sample_graph(edges, range_labels(n, 0), weighted);  // weights 0.5, 1.5, ...
  std::vector<double> x(n);
  for (double& value : x) value = *rc::gen::inRange(-50, 50);
  const auto kernel = *rc::gen::element(KernelKind::automatic, KernelKind::csr, KernelKind::tile_composite);
  const int ranks = *rc::gen::element(1, 2, 3, 7);
  const bool is_float = *rc::gen::arbitrary<bool>();
  std::vector<double> y;
  run_ranks(ranks, [&](Communicator& comm) {
    const auto multiply = [&]<class S>(S) {
      const auto backend = make_backend<S>("cpu");
      auto op = SpmvOperator<S>::in_edges(block_of(whole, comm), {.kernel = kernel}, *backend, comm);
      const std::vector<double> on_rank = product(op, op, x);
      if (comm.is_root()) y = on_rank;
    };
    is_float ? multiply(float{}) : multiply(double{});
  });
  RC_ASSERT(y == plain_product(whole, x));
}

TEST(SpmvOperator, PlainCsrHasTheBitsOfASingleTile) {
  // A row's sum inside a tile is that of the whole row when one tile has all columns.
  for (const bool weighted : {false, true}) {
    const Graph whole = skewed_graph(3000, 90000, weighted, 21);
    const std::vector<double> x = random_vector(3000, 22);
    for (const int ranks : {1, 3})
      run_ranks(ranks, [&](Communicator& comm) {
        const auto backend = make_backend<double>("cpu");
        const Graph block = block_of(whole, comm);
        auto tiled =
            SpmvOperator<double>::in_edges(block, {.kernel = KernelKind::tile_composite}, *backend, comm);
        auto plain = SpmvOperator<double>::in_edges(block, {.kernel = KernelKind::csr}, *backend, comm);
        ASSERT_EQ(tiled.stats().num_tiles, 1u);
        EXPECT_EQ(product(tiled, tiled, x), product(plain, plain, x));
      });
  }
}

TEST(SpmvOperator, SinglePrecisionSumsInDouble) {
  const Graph whole = skewed_graph(2000, 60000, false, 5);
  const std::vector<double> x = random_vector(2000, 6);
  std::vector<double> rounded = x;
  for (double& value : rounded) value = static_cast<double>(static_cast<float>(value));
  run_ranks(1, [&](Communicator& comm) {
    const auto backend = make_backend<float>("cpu");
    auto op = SpmvOperator<float>::in_edges(block_of(whole, comm), {}, *backend, comm);
    expect_near(product(op, op, x), plain_product(whole, rounded), 0x1p-24);  // one rounding, at the end
  });
}

TEST(SpmvOperator, ThePairFeedsEachOther) {
  for (const Case& c : kCases) {
    const Graph whole = skewed_graph(c.n, c.num_edges, c.weighted, 3);
    const std::vector<double> x = random_vector(c.n, 4);
    for (const int ranks : {1, 3})
      run_ranks(ranks, [&](Communicator& comm) {
        const auto backend = make_backend<double>("cpu");
        auto [in, out] = SpmvOperator<double>::in_and_out_edges(block_of(whole, comm), {}, *backend, comm);
        // Inputs of `in` are rows of `out` and the other way round.
        expect_near(product(in, out, x), plain_product(whole, x), 1e-13);
        expect_near(product(out, in, x), plain_product(whole, x, true), 1e-13);
      });
  }
}

TEST(SpmvOperator, TheBlockMatrixHoldsBothProducts) {
  for (const Case& c : kCases) {
    const Graph whole = skewed_graph(c.n, c.num_edges, c.weighted, 3);
    const std::vector<double> z = random_vector(2 * c.n, 4);
    const auto middle = z.begin() + static_cast<std::ptrdiff_t>(c.n);
    std::vector<double> expected = plain_product(whole, {middle, z.end()});
    const std::vector<double> hubs = plain_product(whole, {z.begin(), middle}, true);
    expected.insert(expected.end(), hubs.begin(), hubs.end());
    for (const int ranks : {1, 4})
      run_ranks(ranks, [&](Communicator& comm) {
        const auto backend = make_backend<double>("cpu");
        auto op = SpmvOperator<double>::hits_block(block_of(whole, comm), {}, *backend, comm);
        EXPECT_EQ(op.num_rows(), 2 * c.n);
        expect_near(product(op, op, z), expected, 1e-13);
      });
  }
}

TEST(SpmvOperator, TheBlockMatrixHasTheBitsOfThePair) {
  for (const bool weighted : {false, true}) {
    const Graph whole = skewed_graph(2000, 30000, weighted, 23);
    const std::vector<double> z = random_vector(4000, 24);
    const std::vector<double> authorities(z.begin(), z.begin() + 2000), hubs(z.begin() + 2000, z.end());
    for (const KernelKind kernel : {KernelKind::tile_composite, KernelKind::csr})  // one tile
      for (const int ranks : {1, 3})
        run_ranks(ranks, [&](Communicator& comm) {
          const auto backend = make_backend<double>("cpu");
          const Graph block = block_of(whole, comm);
          auto both = SpmvOperator<double>::hits_block(block, {.kernel = kernel}, *backend, comm);
          auto [in, out] = SpmvOperator<double>::in_and_out_edges(block, {.kernel = kernel}, *backend, comm);
          std::vector<double> expected = product(in, out, hubs);
          const std::vector<double> second = product(out, in, authorities);
          expected.insert(expected.end(), second.begin(), second.end());
          EXPECT_EQ(product(both, both, z), expected);
        });
  }
}

TEST(SpmvOperator, ABlockOfVectorsHasTheBitsOfEachAlone) {
  for (const bool weighted : {false, true})
    for (const KernelKind kernel : {KernelKind::tile_composite, KernelKind::csr}) {
      const Graph whole = skewed_graph(800, 9000, weighted, 8);
      run_ranks(2, [&](Communicator& comm) {
        const auto backend = make_backend<double>("cpu");
        auto op = SpmvOperator<double>::in_edges(block_of(whole, comm), {.kernel = kernel}, *backend, comm);
        for (const unsigned k : {1u, 3u, 8u, 17u}) {
          Buffer<double> block(op.num_local_rows() * k);
          std::vector<std::vector<double>> alone;
          for (unsigned q = 0; q < k; ++q) {
            const std::vector<double> x = random_vector(800, 100 + q);
            const Buffer<double> local = op.to_local(x);
            for (std::size_t i = 0; i < local.size(); ++i) block[i * k + q] = local[i];
            alone.push_back(product(op, op, x));
          }
          Buffer<double> x = op.make_x(k), y = op.make_y(k);
          op.replicate(block, nullptr, x, k);
          op.apply(x, y, k);
          for (unsigned q = 0; q < k; ++q) EXPECT_EQ(op.to_original(y, k, q), alone[q]) << k << ' ' << q;
        }
      });
    }
}

TEST(SpmvOperator, ReplicateScalesAndLeavesZeroSlotsAlone) {
  const Graph whole = skewed_graph(300, 2000, false, 9);
  for (const int ranks : {1, 3})
    run_ranks(ranks, [&](Communicator& comm) {
      const auto backend = make_backend<double>("cpu");
      auto op = SpmvOperator<double>::in_edges(block_of(whole, comm), {.kernel = KernelKind::tile_composite},
                                               *backend, comm);
      const std::vector<double> values = random_vector(300, 1), factors = random_vector(300, 2);
      Buffer<double> x = op.make_x();
      const Buffer<double> scale = op.to_local(factors);
      op.replicate(op.to_local(values), &scale, x);
      std::vector<double> products;
      const auto out = out_degrees(block_of(whole, comm), comm);
      for (std::size_t v = 0; v < 300; ++v)
        if (out[v] > 0) products.push_back(values[v] * factors[v]);  // columns that have a slot
      std::vector<double> filled;
      for (double value : x)
        if (value != 0) filled.push_back(value);
      EXPECT_LT(filled.size(), x.size());  // at least one zero slot
      std::sort(products.begin(), products.end());
      std::sort(filled.begin(), filled.end());
      EXPECT_EQ(filled, products);
    });
}

TEST(SpmvOperator, ReplicateFillsEverySlotAndNothingElse) {
  const Graph whole = skewed_graph(300, 2000, false, 9);
  const double poison = std::nan("");
  for (const KernelKind kernel : {KernelKind::tile_composite, KernelKind::csr})
    for (const int ranks : {1, 3, 7})
      for (const unsigned k : {1u, 3u})
        run_ranks(ranks, [&](Communicator& comm) {
          const auto backend = make_backend<double>("cpu");
          auto op = SpmvOperator<double>::in_edges(block_of(whole, comm), {.kernel = kernel}, *backend, comm);
          Buffer<double> local(op.num_local_inputs() * k), x = op.make_x(k);
          if (ranks > 1) x.truncate(x.size() - k);  // the slot of what fills up the exchange
          std::fill(local.begin(), local.end(), 2.0);
          op.replicate(local, nullptr, x, k);
          std::vector<bool> is_slot;
          for (double& value : x) {
            is_slot.push_back(value != 0);
            value = poison;
          }
          std::fill(local.begin(), local.end(), 3.0);
          op.replicate(local, nullptr, x, k);
          std::size_t untouched = 0;
          for (std::size_t i = 0; i < x.size(); ++i) {
            if (is_slot[i])
              EXPECT_EQ(x[i], 3.0);
            else
              EXPECT_TRUE(std::isnan(x[i]));
            untouched += !is_slot[i];
          }
          EXPECT_EQ(untouched, kernel == KernelKind::csr ? 0 : k);  // one tile, one zero slot
        });
}

TEST(SpmvOperator, FewerVectorsAfterManyAreNotMixedUp) {
  const Graph whole = skewed_graph(200, 1500, false, 14);
  run_ranks(3, [&](Communicator& comm) {
    const auto backend = make_backend<double>("cpu");
    auto op = SpmvOperator<double>::in_edges(block_of(whole, comm), {}, *backend, comm);
    const std::vector<double> values = random_vector(200, 15), before = product(op, op, values);
    Buffer<double> many(op.num_local_inputs() * 8), x = op.make_x(8);
    std::fill(many.begin(), many.end(), 5.0);
    op.replicate(many, nullptr, x, 8);
    EXPECT_EQ(product(op, op, values), before);
  });
}

TEST(SpmvOperator, ThePlanAndTheStatsAreTheSameOnEveryRank) {
  const Graph whole = skewed_graph(4000, 50000, false, 16);
  std::string first_reason;
  for (const int ranks : {1, 2, 3, 7}) {
    std::vector<OperatorStats> stats(ranks);
    std::vector<std::string> reasons(ranks);
    run_ranks(ranks, [&](Communicator& comm) {
      const auto backend = make_backend<float>("cpu");
      const auto op = SpmvOperator<float>::in_edges(block_of(whole, comm), {}, *backend, comm);
      stats[comm.rank()] = op.stats();
      reasons[comm.rank()] = op.plan().reason;
    });
    if (first_reason.empty()) first_reason = reasons[0];  // names the kernel and both predictions
    for (int r = 0; r < ranks; ++r) {
      EXPECT_EQ(reasons[r], first_reason);
      EXPECT_EQ(stats[r].num_stored, stats[0].num_stored);
      EXPECT_EQ(stats[r].num_workloads, stats[0].num_workloads);
      EXPECT_EQ(stats[r].matrix_bytes, stats[0].matrix_bytes);
      EXPECT_EQ(stats[r].vector_bytes, stats[0].vector_bytes);
      EXPECT_EQ(stats[r].exchanged_bytes, stats[0].exchanged_bytes);
      EXPECT_EQ(stats[r].nonzero_imbalance, stats[0].nonzero_imbalance);
      EXPECT_LE(stats[r].exchanged_bytes, 4000 * sizeof(float));
    }
  }
}

TEST(SpmvOperator, StatsAddUpOverRanks) {
  const Graph whole = skewed_graph(5000, 60000, false, 11);
  std::uint64_t pieces = 0;
  for (const int ranks : {1, 4})
    run_ranks(ranks, [&](Communicator& comm) {
      const auto backend = make_backend<float>("cpu");
      const auto op = SpmvOperator<float>::in_edges(block_of(whole, comm),
                                                    {.kernel = KernelKind::tile_composite}, *backend, comm);
      const OperatorStats& stats = op.stats();
      EXPECT_EQ(stats.num_nonzeros, whole.num_edges);
      EXPECT_GE(stats.num_stored, stats.num_nonzeros);
      EXPECT_GE(stats.matrix_bytes, 2 * stats.num_stored);
      EXPECT_GE(stats.row_imbalance, 1.0);
      EXPECT_LT(stats.nonzero_imbalance, 1.2);
      EXPECT_EQ(stats.exchanged_bytes == 0, ranks == 1);
      EXPECT_NEAR(stats.padding_ratio,
                  static_cast<double>(stats.num_stored - stats.num_nonzeros) /
                      static_cast<double>(stats.num_nonzeros),
                  1e-12);
      if (comm.is_root() && ranks == 1) pieces = stats.num_row_pieces;
      EXPECT_EQ(stats.num_row_pieces, pieces);  // a row stays whole, whoever has it
    });
}

TEST(SpmvOperator, WeightsThatDoNotFitThePrecisionAreRefusedOnAllRanks) {
  Graph whole = skewed_graph(50, 300, true, 12);
  for (const double bad : {1e39, 1e-39}) {
    whole.weights[whole.weights.size() / 2] = bad;
    EXPECT_THROW(run_ranks(3,
                           [&](Communicator& comm) {
                             const auto backend = make_backend<float>("cpu");
                             SpmvOperator<float>::in_edges(block_of(whole, comm), {}, *backend, comm);
                           }),
                 InputError);
    EXPECT_NO_THROW(run_ranks(3, [&](Communicator& comm) {
      const auto backend = make_backend<double>("cpu");
      SpmvOperator<double>::in_edges(block_of(whole, comm), {}, *backend, comm);
    }));
  }
}

}  // namespace
}  // namespace tessera::test
