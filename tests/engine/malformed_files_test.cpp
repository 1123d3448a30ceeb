// Odd and broken files of other projects' reader tests (tests/data/malformed/README.md): each is read, or
// refused with the text given here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/support/input_files.hpp"

namespace tessera::test {
namespace {

struct Case {
  const char* file;
  std::size_t edges;  ///< read when `error` is empty
  const char* error;
};

const Case kCases[] = {
    {"cugraph/karate_mod.mtx", 0, ":79: expected two labels, found \"35\""},
    {"cugraph/karate_str.mtx", 78, ""},
    {"cugraph/negative-vertex-id.csv", 3, ""},
    {"cugraph/small_line.csv", 9, ""},
    {"fast_matrix_market/coordinate_hermitian_real_row.mtx", 0, ":1: symmetry \"hermitian\""},
    {"fast_matrix_market/coordinate_hermitian_real_row_general_dup.mtx", 6, ""},
    {"fast_matrix_market/coordinate_hermitian_row.mtx", 0, ":1: field \"complex\""},
    {"fast_matrix_market/coordinate_hermitian_row_general_dup.mtx", 0, ":1: field \"complex\""},
    {"fast_matrix_market/coordinate_pattern_symmetric_row.mtx", 2, ""},
    {"fast_matrix_market/coordinate_pattern_symmetric_row_general_dup.mtx", 4, ""},
    {"fast_matrix_market/coordinate_skew_symmetric_row.mtx", 0,
     ":1: a skew-symmetric matrix has negative values"},
    {"fast_matrix_market/coordinate_skew_symmetric_row_general_dup.mtx", 0, ":4: expected a finite value"},
    {"fast_matrix_market/coordinate_symmetric_row.mtx", 3, ""},
    {"fast_matrix_market/coordinate_symmetric_row_general_dup.mtx", 6, ""},
    {"fast_matrix_market/dim_over_32_bit.mtx", 0, ":3: 1099511627776 rows"},
    {"fast_matrix_market/eye3_pattern.mtx", 3, ""},
    {"fast_matrix_market/invalid_bad_banner.mtx", 0, ":1: expected the banner"},
    {"fast_matrix_market/invalid_bad_field.mtx", 0, ":1: field \"____\""},
    {"fast_matrix_market/invalid_bad_object.mtx", 0, ":1: object \"___\""},
    {"fast_matrix_market/invalid_bad_value.mtx", 0, ":3: expected a finite value"},
    {"fast_matrix_market/invalid_bad_value_3.mtx", 0, ":1: object \"vector\""},
    {"fast_matrix_market/invalid_dimensions_out_of_range_1.mtx", 0, ":3: expected the size line"},
    {"fast_matrix_market/invalid_dimensions_out_of_range_3.mtx", 0, ":3: expected the size line"},
    {"fast_matrix_market/invalid_indices_out_of_range_2.mtx", 0,
     ":6: expected an index from 1 to 7, found \"2000\""},
    {"fast_matrix_market/invalid_indices_out_of_range_4.mtx", 0,
     ":6: expected an index from 1 to 7, found \"0\""},
    {"fast_matrix_market/invalid_indices_out_of_range_6.mtx", 0,
     ":6: expected an index from 1 to 7, found \"-2\""},
    {"fast_matrix_market/invalid_symmetry_vector.mtx", 0, ":1: object \"vector\""},
    {"fast_matrix_market/invalid_truncated_header_2.mtx", 0, ":1: expected the banner"},
    {"fast_matrix_market/invalid_truncated_line_2.mtx", 0,
     ":2: the size line states 12 entries, but only 13 bytes"},
    {"fast_matrix_market/invalid_vector_array_too_long.mtx", 0, ":1: object \"vector\""},
    {"fast_matrix_market/invalid_vector_index_out_of_range_1.mtx", 0, ":1: object \"vector\""},
    {"fast_matrix_market/invalid_vector_negative_length.mtx", 0, ":1: object \"vector\""},
    {"fast_matrix_market/kepner_gilbert_graph.mtx", 12, ""},
    {"fast_matrix_market/matrix_array_integer_general.mtx", 0, ":1: layout \"array\""},
    {"fast_matrix_market/matrix_coordinate_complex_general.mtx", 0, ":1: field \"complex\""},
    {"fast_matrix_market/matrix_coordinate_real_skew-symmetric.mtx", 0, ":1: a skew-symmetric matrix"},
    {"fast_matrix_market/nist_ex1_freeformat.mtx", 0, ":8: expected a finite value"},
    {"fast_matrix_market/overflow_dim_gt_int64.mtx", 0, ":2: expected the size line"},
    {"fast_matrix_market/overflow_index_gt_int8.mtx", 1, ""},
    {"fast_matrix_market/overflow_value_gt_float128.mtx", 0, ":4: expected a finite value"},
    {"fast_matrix_market/overflow_value_gt_int32.mtx", 1, ""},
    {"fast_matrix_market/permissive_banner_leading_spaces_eye3.mtx", 3, ""},
    {"fast_matrix_market/permissive_lines_indented.mtx", 1, ""},
    {"fast_matrix_market/row_3by4.mtx", 0, ":3: 3 x 4 is not square"},
    {"fast_matrix_market/windows_newlines.mtx", 0, ":1: lines end in CR alone"},
    {"lagraph/comments_full.mtx", 0, ":1: layout \"array\""},
    {"lagraph/complex.mtx", 0, ":1: layout \"array\""},
    {"lagraph/full_noheader.mtx", 0, ":2: expected two labels, found \".646\""},
    {"lagraph/mangled1.mtx", 0, ":1: object \"mangled\""},
    {"lagraph/mangled11.mtx", 0, ":4: 3 x 4 is not square"},
    {"lagraph/mangled13.mtx", 0, ":4: 3 x 4 is not square"},
    {"lagraph/mangled15.mtx", 0, ":1: layout \"array\""},
    {"lagraph/mangled2.mtx", 0, ":1: layout \"mangled\""},
    {"lagraph/mangled4.mtx", 0, ":1: symmetry \"mangled\""},
    {"lagraph/mangled6.mtx", 0, ":1: symmetry \"hermitian\""},
    {"lagraph/mangled8.mtx", 0, ":4: expected the size line"},
    {"lagraph/mangled_bool.mtx", 12, ""},
    {"lagraph/mangled_int16.mtx", 0, ":8: expected a finite value"},
    {"lagraph/mangled_int8.mtx", 0, ":8: expected a finite value"},
    {"lagraph/mangled_uint16.mtx", 12, ""},
    {"lagraph/mangled_uint8.mtx", 12, ""},
#ifdef TESSERA_HAVE_LIBARCHIVE
    {"fast_matrix_market/matrix_coordinate_real_general.mtx.bz2", 3, ""},
#endif
};

const std::string kFolder = std::string(TESSERA_TEST_DATA) + "/malformed/";

TEST(MalformedFiles, AreReadOrRefusedWithPlaceAndReason) {
  for (const Case& test : kCases)
    for (int ranks : {1, 3}) {
      const ReadResult result = read_input({}, kFolder + test.file, ranks);
      if (*test.error == 0) {
        EXPECT_EQ(result.error, "") << test.file;
        EXPECT_EQ(result.edges.size(), test.edges) << test.file;
      } else {
        EXPECT_THAT(result.error, testing::HasSubstr(test.file + std::string(test.error)));
        EXPECT_EQ(result.category, 4);
      }
    }
}

TEST(MalformedFiles, AllHaveACase) {
  std::set<std::string> known;
  for (const Case& test : kCases) known.insert(test.file);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    const std::string name = std::filesystem::relative(entry.path(), kFolder).string();
    if (!entry.is_regular_file() || name == "README.md" || name.ends_with(".bz2")) continue;
    EXPECT_EQ(known.count(name), 1u) << name;
  }
}

}  // namespace
}  // namespace tessera::test
