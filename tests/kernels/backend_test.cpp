// What updates of walks ask of the blocks of vectors that they are given.
#include "kernels/backend.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/base/error.hpp"

namespace tessera::test {
namespace {

struct Walks {
  explicit Walks(unsigned num_vectors, std::uint64_t num_rows = 3)
      : restarts(num_vectors), weights(num_vectors, 1.5) {
    for (Buffer<float>* block : {&x, &before, &walk, &next, &origin})
      *block = Buffer<float>(num_rows * num_vectors);
  }
  WalkUpdate<float> update(bool weighted) const {
    const std::span<const double> some =
        weighted ? std::span<const double>(weights) : std::span<const double>();
    return {0.9, 0.1, restarts, scale, ExactScale(4.0), false, some};
  }
  InputTarget<float> target() { return {&next, {.count = next.size()}}; }

  Buffer<VertexId> restarts;
  std::vector<double> weights;
  Buffer<float> scale, x, before, walk, next, origin;
};

TEST(WalkUpdate, WeightsAndAnOriginComeTogether) {
  const Walks walks(2);
  EXPECT_NO_THROW(walks.update(true).require_origin(walks.walk, &walks.origin));
  EXPECT_NO_THROW(walks.update(false).require_origin(walks.walk, nullptr));
  EXPECT_THROW(walks.update(true).require_origin(walks.walk, nullptr), InternalError);
  EXPECT_THROW(walks.update(false).require_origin(walks.walk, &walks.origin), InternalError);
}

TEST(WalkUpdate, AnOriginIsAnotherBlockOfTheSameSize) {
  const Walks walks(2);
  EXPECT_THROW(walks.update(true).require_origin(walks.walk, &walks.walk), InternalError);
  EXPECT_THROW(walks.update(true).require_origin(Buffer<float>(4), &walks.origin), InternalError);
  const Walks none(2, 0);  // of a rank without rows
  EXPECT_NO_THROW(none.update(true).require_origin(none.walk, &none.origin));
}

TEST(WalkUpdate, AsManyGoFurtherAsWeightsTravel) {
  for (const unsigned count : {kMostFurtherVectors, kMostFurtherVectors + 1}) {
    const Walks walks(count);
    const auto check = [&] { walks.update(true).require_origin(walks.walk, &walks.origin); };
    if (count == kMostFurtherVectors)
      EXPECT_NO_THROW(check());
    else
      EXPECT_THROW(check(), InternalError);
  }
}

TEST(WalkUpdate, AStepInOneGoWritesNothingThatItReads) {
  Walks walks(2);
  const auto update = walks.update(true);
  const auto check = [&](const Buffer<float>& x, const Buffer<float>& before, const Buffer<float>& origin) {
    update.require_apart(x, before, walks.walk, walks.target(), &origin);
  };
  EXPECT_NO_THROW(check(walks.x, walks.before, walks.origin));
  EXPECT_THROW(check(walks.next, walks.before, walks.origin), InternalError);
  EXPECT_THROW(check(walks.x, walks.walk, walks.origin), InternalError);
  EXPECT_THROW(check(walks.x, walks.before, walks.before), InternalError);
  EXPECT_THROW(check(walks.x, walks.before, walks.next), InternalError);
}

}  // namespace
}  // namespace tessera::test
