// See graph_generator.hpp. R-MAT: Chakrabarti, Zhan, Faloutsos, SDM 2004, with the parameters of Graph500.
#include "engine/graph_generator.hpp"

#include <cmath>
#include <string>

#include "engine/edge_source.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/mix_bits.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

/// Random numbers of one edge, by counter.
class EdgeRandom {
 public:
  EdgeRandom(std::uint64_t seed_hash, std::uint64_t edge) : key_(mix_bits(seed_hash ^ mix_bits(edge))) {}
  std::uint64_t operator()(std::uint64_t counter) const { return mix_bits(key_ + counter); }

 private:
  std::uint64_t key_;
};

/// A permutation of the numbers of `scale` bits: odd factors and shifted xors can be undone.
class Scrambler {
 public:
  Scrambler(int scale, std::uint64_t seed_hash)
      : mask_((std::uint64_t{1} << scale) - 1),
        shift_((scale + 1) / 2),
        factor_(mix_bits(seed_hash) | 1),
        addend_(mix_bits(seed_hash + 1)) {}
  std::uint32_t operator()(std::uint64_t x) const {
    for (int round = 0; round < 3; ++round) {
      x = (x * factor_ + addend_) & mask_;
      x ^= x >> shift_;
    }
    return static_cast<std::uint32_t>(x);
  }

 private:
  std::uint64_t mask_;
  int shift_;
  std::uint64_t factor_, addend_;
};

void check(const GeneratorOptions& o) {
  if (o.scale < 1 || o.scale > 31)
    throw OptionError("scale " + std::to_string(o.scale) + " is out of range: expected 1 to 31");
  if (!(o.edge_factor > 0) || o.edge_factor > 1e9)
    throw OptionError("edge factor " + std::to_string(o.edge_factor) +
                      " is out of range: expected above 0, at most 1e9");
  const double rest = 1 - o.a - o.b - o.c;
  if (!(o.a >= 0 && o.b >= 0 && o.c >= 0 && rest >= -1e-12))
    throw OptionError("R-MAT quadrants must be at least 0 and add up to at most 1");
}

class EdgeMaker {
 public:
  explicit EdgeMaker(const GeneratorOptions& options)
      : options_(options),
        seed_hash_(mix_bits(options.seed)),
        scramble_(options.scale, seed_hash_),
        below_a_(threshold(options.a)),
        below_b_(threshold(options.a + options.b)),
        below_c_(threshold(options.a + options.b + options.c)) {}

  void operator()(std::uint64_t edge, std::uint32_t* pair) const {
    const EdgeRandom random(seed_hash_, edge);
    if (options_.kind == GeneratorKind::uniform) {
      const std::uint64_t bits = random(0);
      pair[0] = static_cast<std::uint32_t>(bits & 0xFFFFFFFFu) >> (32 - options_.scale);
      pair[1] = static_cast<std::uint32_t>(bits >> 32) >> (32 - options_.scale);
      return;
    }
    std::uint64_t source = 0, target = 0;
    for (int level = 0; level < options_.scale; ++level) {
      // Half a random number decides a level.
      const std::uint64_t draw = (random(level / 2) >> (level % 2 * 32)) & 0xFFFFFFFFu;
      const bool lower = draw >= below_b_, right = (draw >= below_a_ && !lower) || draw >= below_c_;
      source = source << 1 | (lower ? 1 : 0);
      target = target << 1 | (right ? 1 : 0);
    }
    pair[0] = options_.scramble_ids ? scramble_(source) : static_cast<std::uint32_t>(source);
    pair[1] = options_.scramble_ids ? scramble_(target) : static_cast<std::uint32_t>(target);
  }

 private:
  static std::uint64_t threshold(double probability) {
    return static_cast<std::uint64_t>(std::ldexp(std::fmin(probability, 1), 32));
  }
  const GeneratorOptions& options_;
  std::uint64_t seed_hash_;
  Scrambler scramble_;
  std::uint64_t below_a_, below_b_, below_c_;
};

EdgeChunk make_chunk(const EdgeMaker& make, std::uint64_t first, std::uint64_t last) {
  EdgeChunk chunk;
  chunk.pairs = Buffer<std::uint32_t>(2 * (last - first));
  std::uint32_t* pairs = chunk.pairs.data();
  const auto count = static_cast<std::int64_t>(last - first);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) make(first + static_cast<std::uint64_t>(i), pairs + 2 * i);
  return chunk;
}

}  // namespace

ParsedEdges generate_edges(const GeneratorOptions& options, Communicator& comm) {
  check(options);
  const auto num_edges = static_cast<std::uint64_t>(std::ldexp(options.edge_factor, options.scale));
  const auto ranks = static_cast<std::uint64_t>(comm.size()), rank = static_cast<std::uint64_t>(comm.rank());
  const std::uint64_t share = num_edges / ranks, longer = num_edges % ranks;
  const std::uint64_t first = rank * share + std::min(rank, longer);
  const std::uint64_t last = first + share + (rank < longer ? 1 : 0);

  ParsedEdges parsed;
  parsed.kind = LabelKind::range;
  parsed.declared_vertices = std::uint64_t{1} << options.scale;
  parsed.max_key = parsed.declared_vertices - 1;
  parsed.facts.edges_read = last - first;
  parsed.facts.format = options.kind == GeneratorKind::rmat ? "R-MAT generator" : "uniform generator";
  parsed.facts.compression = "none";
  parsed.facts.label_choice = "integer (0 to 2^scale - 1)";
  run_together(comm, [&] {
    const EdgeMaker make(options);
    for (std::uint64_t begin = first; begin < last; begin += 8 * kEdgesPerPiece)
      parsed.chunks.push_back(make_chunk(make, begin, std::min(begin + 8 * kEdgesPerPiece, last)));
  });
  return parsed;
}

}  // namespace tessera
