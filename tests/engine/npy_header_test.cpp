// Headers of NumPy arrays, by the format's description (NEP 1).
#include "engine/io/npy_header.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

std::string header_of(std::initializer_list<std::uint64_t> shape) {
  return npy_header_float64({shape.begin(), shape.size()});
}

TEST(NpyHeader, HoldsMagicVersionAndLength) {
  for (const auto& header :
       {header_of({3}), header_of({2, 5}), header_of({18446744073709551615u, 1, 1, 1})}) {
    ASSERT_GE(header.size(), 10u);
    EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(header[i]); };
    EXPECT_EQ(byte(8) + 256u * byte(9), header.size() - 10);
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(header.back(), '\n');
  }
}

TEST(NpyHeader, HoldsTypeAndShape) {
  const std::string header = header_of({7, 25});
  EXPECT_NE(header.find("{'descr': '<f8', 'fortran_order': False, 'shape': (7, 25, ), }"), std::string::npos);
  EXPECT_NE(header_of({7}).find("'shape': (7, )"), std::string::npos);
}

}  // namespace
}  // namespace tessera
