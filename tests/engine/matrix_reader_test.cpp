// General sparse matrices from Matrix Market files: values by hand, errors by place and text, random matrices
// written and read back, and real files against the answers of an independent script.
#include "engine/io/matrix_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "engine/io/open_input.hpp"
#include "tests/support/input_files.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";
const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string kSkew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
const std::string kMalformed = std::string(TESSERA_TEST_DATA) + "/malformed/";

/// Row, column (both from 0) and value, in the order of the CSR.
using Element = std::tuple<std::uint64_t, VertexId, double>;

std::vector<Element> elements(const SparseMatrix& matrix) {
  const CsrView<double> view = matrix.view();
  std::vector<Element> result;
  EXPECT_EQ(view.row_offsets[0], 0u);
  EXPECT_EQ(view.num_nonzeros(), matrix.num_nonzeros());
  for (std::uint64_t i = 0; i < view.num_rows; ++i)
    for (EdgeOffset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k)
      result.emplace_back(i, view.col_indices[k], view.values[k]);
  return result;
}

SparseMatrix matrix_of(const std::string& bytes) {
  const InputText file(bytes, "m.mtx");
  return read_matrix(file.path());
}

/// The message, without the folder.
std::string error_of(const std::string& bytes) {
  const InputText file(bytes, "m.mtx");
  try {
    read_matrix(file.path());
  } catch (const InputError& error) {
    const std::string text = error.what(), folder = file.path().substr(0, file.path().size() - 5);
    return text.starts_with(folder) ? text.substr(folder.size()) : "no place: " + text;
  }
  return "read";
}

TEST(MatrixReader, RectangleWithAnEmptyRowAndAnEmptyColumn) {
  const SparseMatrix matrix = matrix_of(kReal + "4 3 4\n4 1 -2.5\n1 3 1e2\n1 1 +7\n3 3 .5\n");
  EXPECT_EQ(matrix.num_rows, 4u);
  EXPECT_EQ(matrix.num_cols, 3u);
  EXPECT_FALSE(matrix.symmetric);
  EXPECT_FALSE(matrix.pattern);
  EXPECT_THAT(matrix.row_offsets.span(), ElementsAre(0, 2, 2, 3, 4));
  EXPECT_THAT(matrix.col_indices.span(), ElementsAre(0, 2, 2, 0));
  EXPECT_THAT(matrix.values.span(), ElementsAre(7, 100, 0.5, -2.5));
  EXPECT_EQ(matrix.view().num_rows, 4u);
  EXPECT_EQ(matrix.view().num_cols, 3u);
}

TEST(MatrixReader, SymmetricFillsBothTriangles) {
  const SparseMatrix matrix = matrix_of(kSymmetric + "3 3 4\n1 1 5\n2 1 -1\n3 1 0\n2 3 4\n");
  EXPECT_TRUE(matrix.symmetric);
  EXPECT_THAT(elements(matrix),
              ElementsAre(Element{0, 0, 5}, Element{0, 1, -1}, Element{0, 2, 0}, Element{1, 0, -1},
                          Element{1, 2, 4}, Element{2, 0, 0}, Element{2, 1, 4}));
}

TEST(MatrixReader, SkewSymmetricMirrorsWithTheOtherSign) {
  const SparseMatrix matrix = matrix_of(kSkew + "3 3 4\n2 1 3\n1 3 -4\n3 2 0\n2 2 0\n");
  EXPECT_FALSE(matrix.symmetric);
  EXPECT_THAT(elements(matrix),
              ElementsAre(Element{0, 1, -3}, Element{0, 2, -4}, Element{1, 0, 3}, Element{1, 1, 0},
                          Element{1, 2, 0}, Element{2, 0, 4}, Element{2, 1, 0}));
  for (const double value : matrix.values) EXPECT_FALSE(value == 0 && std::signbit(value));
}

TEST(MatrixReader, BothTrianglesListedAddUp) {
  EXPECT_THAT(elements(matrix_of(kSymmetric + "2 2 2\n1 2 3\n2 1 5\n")),
              ElementsAre(Element{0, 1, 8}, Element{1, 0, 8}));
  EXPECT_THAT(elements(matrix_of(kSkew + "2 2 2\n1 2 3\n2 1 5\n")),
              ElementsAre(Element{0, 1, -2}, Element{1, 0, 2}));
}

TEST(MatrixReader, PatternIsAllOnes) {
  const SparseMatrix matrix = matrix_of(kPattern + "2 5 3\n2 5\n1 2\n2 1\n");
  EXPECT_TRUE(matrix.pattern);
  EXPECT_THAT(elements(matrix), ElementsAre(Element{0, 1, 1}, Element{1, 0, 1}, Element{1, 4, 1}));
  const SparseMatrix both =
      matrix_of("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n");
  EXPECT_TRUE(both.pattern);
  EXPECT_TRUE(both.symmetric);
  EXPECT_THAT(elements(both), ElementsAre(Element{0, 0, 1}, Element{0, 1, 1}, Element{1, 0, 1}));
}

TEST(MatrixReader, ARepeatedEntryOfAPatternCountsAndEndsThePattern) {
  const SparseMatrix matrix = matrix_of(kPattern + "2 2 3\n2 1\n1 2\n2 1\n");
  EXPECT_FALSE(matrix.pattern);
  EXPECT_THAT(elements(matrix), ElementsAre(Element{0, 1, 1}, Element{1, 0, 2}));
}

TEST(MatrixReader, EveryFieldNameIsRead) {
  for (const char* field : {"real", "double", "integer", "unsigned-integer"})
    EXPECT_THAT(elements(matrix_of(
                    fmt::format("%%MatrixMarket matrix coordinate {} general\n1 2 1\n1 2 12\n", field))),
                ElementsAre(Element{0, 1, 12}))
        << field;
}

TEST(MatrixReader, RepeatedEntriesAddInTheOrderOfTheFile) {
  // 1e16 + 1 - 1e16 is 0, 1e16 - 1e16 + 1 is 1.
  const SparseMatrix matrix =
      matrix_of(kReal + "2 2 8\n2 2 1e16\n1 1 1e16\n2 2 -1e16\n1 1 1\n2 1 3\n2 2 1\n1 1 -1e16\n2 1 -3\n");
  EXPECT_THAT(elements(matrix), ElementsAre(Element{0, 0, 0}, Element{1, 0, 0}, Element{1, 1, 1}));
  std::string long_row = kReal + "1 99 297\n";
  for (const char* value : {"1e16", "1", "-1e16"})
    for (int column = 99; column > 0; --column) long_row += fmt::format("1 {} {}\n", column, value);
  EXPECT_THAT(matrix_of(long_row).values.span(), testing::Each(0));
}

TEST(MatrixReader, IsLenientAboutTheForm) {
  for (const std::string& text :
       {"%%matrixmarket MATRIX Coordinate REAL General\r\n\r\n% c\r\n2 3 2\r\n1 2 3\r\n2 3 -4\r\n"s,
        kReal + "% before\n\n2 3 2\n% between\n1 2 3\n\n  # more\n2\t3   -4  \n\n% after\n",
        kReal + "2 3 2\n1 2 3\n2 3 -4", "\xEF\xBB\xBF\n" + kReal + "2 3 2\n1 2 3.0e0\n2 3 -4\n"}) {
    const SparseMatrix matrix = matrix_of(text);
    EXPECT_EQ(matrix.num_cols, 3u);
    EXPECT_THAT(elements(matrix), ElementsAre(Element{0, 1, 3}, Element{1, 2, -4})) << text;
  }
}

TEST(MatrixReader, EmptyMatrices) {
  for (const auto& [line, rows, cols] : {std::tuple{"0 0 0", 0u, 0u}, {"0 3 0", 0u, 3u}, {"3 0 0", 3u, 0u}}) {
    const SparseMatrix matrix = matrix_of(kReal + line + "\n");
    EXPECT_EQ(matrix.num_rows, rows);
    EXPECT_EQ(matrix.num_cols, cols);
    EXPECT_EQ(matrix.row_offsets.size(), rows + 1u);
    EXPECT_THAT(elements(matrix), ElementsAre());
  }
}

TEST(MatrixReader, CompressedFiles) {
  // gzip -n of kReal + "2 3 2\n1 3 -1.5\n2 1 4\n".
  const std::string bytes =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x53\x55\xf5\x4d\x2c\x29\xca\xac\xf0\x4d\x2c\xca\x4e\x2d"
      "\x51\xc8\x05\x73\x14\x92\xf3\xf3\x8b\x52\x32\xf3\x12\x4b\x52\x15\x8a\x52\x13\x73\x14\xd2\x53\xf3"
      "\x52\x8b\x12\x73\xb8\x8c\x14\x8c\x15\x8c\xb8\x0c\x81\xa4\xae\xa1\x9e\x29\x90\x6b\xa8\x60\xc2\x05"
      "\x00\x43\x1d\xe0\x84\x43\x00\x00\x00"s;
  const InputText file(bytes, "m.mtx.gz");
  EXPECT_TRUE(is_matrix_file(file.path()));
  EXPECT_THAT(elements(read_matrix(file.path())), ElementsAre(Element{0, 2, -1.5}, Element{1, 0, 4}));
}

TEST(MatrixReader, IsMatrixFileGoesByTheBanner) {
  const auto is_matrix = [](const std::string& bytes) { return is_matrix_file(InputText(bytes).path()); };
  EXPECT_TRUE(is_matrix(kReal));
  EXPECT_TRUE(is_matrix("\xEF\xBB\xBF\r\n \n" + kReal + "1 1 1\n1 1 1\n"));
  EXPECT_TRUE(is_matrix("%MatrixMarket matrix array real general\n"));  // and refused when read
  EXPECT_FALSE(is_matrix(""));
  EXPECT_FALSE(is_matrix("1 2\n" + kReal));
  EXPECT_FALSE(is_matrix("% asym unweighted\n1 2\n"));
  EXPECT_FALSE(is_matrix("TSR\x01\r\x02\n\x03"));  // a byte of a cache is no end of a line
  EXPECT_TRUE(is_matrix("%%MatrixMarket matrix coordinate real general\r1 1 1\r"));  // and refused when read
  EXPECT_THROW(is_matrix_file("/nonexistent/m.mtx"), InputError);
}

TEST(MatrixReader, RefusesOtherBanners) {
  EXPECT_EQ(error_of(""),
            "m.mtx:1: expected the banner \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\", found \"\"");
  EXPECT_THAT(error_of("1 2 3\n"), HasSubstr("m.mtx:1: expected the banner"));
  EXPECT_THAT(error_of("\n%%MatrixMarket matrix array real general\n"),
              HasSubstr("m.mtx:2: layout \"array\" is not read"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate complex general\n"),
              HasSubstr("m.mtx:1: field \"complex\" is not read"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate real hermitian\n"),
              HasSubstr("m.mtx:1: symmetry \"hermitian\" is not read"));
  EXPECT_EQ(error_of("%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 1\n"),
            "m.mtx:1: a pattern matrix has no values to negate, so it cannot be skew-symmetric");
  EXPECT_EQ(error_of(kReal + "1 1 1\n1 1 1\n" + kReal),
            "m.mtx:4: a second Matrix Market banner; one file holds one matrix");
  EXPECT_EQ(error_of("%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 1\r"),
            "m.mtx:1: lines end in CR alone; convert them to LF (tr '\\r' '\\n')");
}

TEST(MatrixReader, RefusesBadSizes) {
  EXPECT_THAT(error_of(kReal + "% c\n2 2\n"), HasSubstr("m.mtx:3: expected the size line"));
  EXPECT_THAT(error_of(kReal + "2 -2 1\n"), HasSubstr("m.mtx:2: expected the size line"));
  EXPECT_EQ(error_of(kReal), "m.mtx: the size line \"ROWS COLUMNS ENTRIES\" is missing");
  for (const std::string& banner : {kSymmetric, kSkew})
    EXPECT_EQ(error_of(banner + "2 3 1\n2 1 1\n"),
              "m.mtx:2: 2 x 3 is not square, but the banner says symmetric");
  EXPECT_EQ(error_of(kReal + "4294967295 1 1\n1 1 1\n"),
            "m.mtx:2: 4294967295 rows, at most 4294967294 are possible");
  EXPECT_EQ(error_of(kReal + "1 4294967295 1\n1 1 1\n"),
            "m.mtx:2: 4294967295 columns, at most 4294967294 are possible");
  EXPECT_THAT(error_of(kReal + "9 9 4611686018427387904\n1 1 1\n"), HasSubstr("but only 6 bytes follow"));
  EXPECT_THAT(elements(matrix_of(kReal + "1 4294967294 1\n1 4294967294 2\n")),
              ElementsAre(Element{0, 4294967293u, 2}));
}

TEST(MatrixReader, EntryCountsMustAgree) {
  EXPECT_EQ(error_of(kReal + "% c\n3 3 2\n1 2 1.25\n2 1 1\n% c\n3 1 1\n"),
            "m.mtx: the size line (line 3) states 2 entries, the file has 3");
  EXPECT_EQ(error_of(kSymmetric + "3 3 3\n1 2 1.25\n2 1 1\n"),
            "m.mtx: the size line (line 2) states 3 entries, the file has 2; is it complete?");
  EXPECT_EQ(error_of(kReal + "3 3 0\n1 1 1\n"),
            "m.mtx: the size line (line 2) states 0 entries, the file has 1");
}

TEST(MatrixReader, IndicesMustBeInRange) {
  for (const char* index : {"0", "4", "18446744073709551616", "-1", "x", "01", "1.0", "+1"})
    EXPECT_EQ(error_of(fmt::format("{}3 2 2\n1 2 1\n{} 1 1\n", kReal, index)),
              fmt::format("m.mtx:4: expected a row index from 1 to 3, found \"{}\"", index));
  EXPECT_EQ(error_of(kReal + "3 2 2\n1 2 1\n\n% c\n2 3 1\n"),
            "m.mtx:6: expected a column index from 1 to 2, found \"3\"");
  EXPECT_EQ(error_of(kReal + "2 2 2\n0 0 1\n1 1 1\n"),
            "m.mtx:3: expected a row index from 1 to 2, found \"0\"");
}

TEST(MatrixReader, ValuesMustBeFiniteDecimals) {
  for (const char* value : {"x", "nan", "inf", "-inf", "0x10", "1,5", "1e999", "--1", "1d3"})
    EXPECT_EQ(
        error_of(fmt::format("{}2 2 1\n1 2 {}\n", kReal, value)),
        fmt::format("m.mtx:3: expected a finite value, written with a decimal point, found \"{}\"", value));
  EXPECT_EQ(error_of(kReal + "2 2 2\n2 1 1.5e308\n2 1 1.5e308\n"),
            "m.mtx: the entries of row 2, column 1 add up to more than a double holds");
}

TEST(MatrixReader, FieldsMustBeThoseOfTheBanner) {
  for (const char* line : {"1 2", "1", "1 2 3 4"})
    EXPECT_EQ(error_of(fmt::format("{}2 2 1\n{}\n%fill\n", kReal, line)),
              fmt::format("m.mtx:3: expected a row index, a column index and a value, found \"{}\"", line));
  for (const char* line : {"1 2 1", "1"})
    EXPECT_EQ(
        error_of(fmt::format("{}2 2 1\n{}\n%fill\n", kPattern, line)),
        fmt::format("m.mtx:3: expected a row index and a column index (the banner says pattern: no values), "
                    "found \"{}\"",
                    line));
  EXPECT_EQ(
      error_of(kReal + "2 2 2\n1 2 3\r1 1 1\n"),
      "m.mtx:3: a carriage return inside the line (line ends must be LF or CR LF): \"1 2 3\\x0d1 1 1\"");
}

TEST(MatrixReader, ASkewDiagonalMustBeZero) {
  EXPECT_EQ(error_of(kSkew + "2 2 2\n2 1 1\n2 2 30\n"),
            "m.mtx:4: expected 0 on the diagonal, as the banner says skew-symmetric, found \"30\"");
}

TEST(MatrixReader, FilesThatListEveryEntryAreTheSameMatrix) {
  for (const std::string name : {"coordinate_skew_symmetric_row", "coordinate_pattern_symmetric_row"}) {
    const std::string path = kMalformed + "fast_matrix_market/" + name;
    EXPECT_EQ(elements(read_matrix(path + ".mtx")), elements(read_matrix(path + "_general_dup.mtx"))) << name;
  }
}

TEST(MatrixReader, OddAndBrokenFilesAreReadOrRefusedWithTheirName) {
  std::size_t num_read = 0, num_refused = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kMalformed)) {
    if (entry.path().extension() != ".mtx") continue;
    try {
      elements(read_matrix(entry.path().string()));
      ++num_read;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(entry.path().string() + ":"));
      ++num_refused;
    }
  }
  EXPECT_GT(num_read, 0u);
  EXPECT_GT(num_refused, 0u);
}

/// The entries in random order, each as summands that add up to it exactly.
std::string text_of(const RandomMatrix& matrix, std::mt19937_64& engine) {
  std::vector<std::string> lines;
  for (std::uint64_t i = 0; i < matrix.num_rows; ++i)
    for (EdgeOffset k = matrix.row_offsets[i]; k < matrix.row_offsets[i + 1]; ++k) {
      const std::uint32_t column = matrix.col_indices[k] + 1;
      const bool twice = engine() % 8 == 0;
      lines.push_back(
          fmt::format("{} {} {}\n", i + 1, column, twice ? matrix.values[k] / 2 : matrix.values[k]));
      if (twice) lines.push_back(lines.back());
    }
  std::shuffle(lines.begin(), lines.end(), engine);
  std::string text = fmt::format("{}{} {} {}\n", kReal, matrix.num_rows, matrix.num_cols, lines.size());
  for (const std::string& line : lines) text += line;
  return text;
}

TEST(MatrixReader, ReadsBackWhatWasWritten) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937_64 engine(seed);
    RandomMatrix expected = random_matrix(seed, engine() % 200, engine() % 150 + 1, 3, true);
    for (double& value : expected.values)
      if (engine() % 2 == 0) value = -value * 1e-200;
    const SparseMatrix matrix = matrix_of(text_of(expected, engine));
    EXPECT_EQ(matrix.num_rows, expected.num_rows);
    EXPECT_EQ(matrix.num_cols, expected.num_cols);
    EXPECT_THAT(matrix.row_offsets.span(), ElementsAreArray(expected.row_offsets)) << seed;
    EXPECT_THAT(matrix.col_indices.span(), ElementsAreArray(expected.col_indices)) << seed;
    EXPECT_THAT(matrix.values.span(), ElementsAreArray(expected.values)) << seed;
  }
}

/// Of one matrix, from reference/spmv.tsv.
struct Answer {
  std::uint64_t rows = 0, cols = 0, nnz = 0, longest_row = 0;
  std::string symmetry;
  double sum_y = 0, norm_y = 0, max_y = 0, sum_z = 0, norm_z = 0;
};

std::map<std::string, Answer> reference_answers() {
  std::ifstream file(std::string(TESSERA_REFERENCE_DATA) + "/reference/spmv.tsv");
  std::map<std::string, Answer> answers;
  for (std::string line, id; std::getline(file, line);) {
    std::istringstream words(line);
    Answer a;
    if (words >> id >> a.rows >> a.cols >> a.nnz >> a.symmetry >> a.longest_row >> a.sum_y >> a.norm_y >>
        a.max_y >> a.sum_z >> a.norm_z)
      answers[id] = a;
  }
  return answers;
}

/// The size line, found without the reader.
std::pair<std::uint64_t, std::uint64_t> declared_size(const std::string& path) {
  OpenInput input = open_input(path, "");
  std::istringstream text{std::string(input.text->peek(std::size_t{1} << 16))};
  std::string line;
  while (std::getline(text, line) && line.starts_with('%')) continue;
  std::pair<std::uint64_t, std::uint64_t> size;
  std::istringstream(line) >> size.first >> size.second;
  return size;
}

void compare(const Answer& answer, const SparseMatrix& matrix) {
  EXPECT_EQ(matrix.num_nonzeros(), answer.nnz);
  EXPECT_EQ(matrix.symmetric, answer.symmetry == "symmetric");
  std::uint64_t longest = 0;
  std::vector<double> y(matrix.num_rows), z(matrix.num_cols);
  const auto x = [](std::uint64_t k) { return static_cast<double>(k * 7919 % 1009) / 1009 - 0.5; };
  for (std::uint64_t i = 0; i < matrix.num_rows; ++i)
    longest = std::max<std::uint64_t>(longest, matrix.row_offsets[i + 1] - matrix.row_offsets[i]);
  for (const auto& [row, column, value] : elements(matrix)) {
    y[row] += value * x(column);
    z[column] += value * x(row);
  }
  EXPECT_EQ(longest, answer.longest_row);
  const auto check = [](const std::vector<double>& v, double sum, double norm) {
    double own_sum = 0, squares = 0;
    for (const double value : v) own_sum += value, squares += value * value;
    EXPECT_NEAR(std::sqrt(squares), norm, 1e-12 * norm);
    EXPECT_NEAR(own_sum, sum, 1e-12 * norm * std::sqrt(static_cast<double>(v.size())));
  };
  check(y, answer.sum_y, answer.norm_y);
  check(z, answer.sum_z, answer.norm_z);
}

TEST(MatrixReader, RealMatrices) {
  const std::string folder = std::string(TESSERA_REFERENCE_DATA) + "/matrices";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no folder " << folder;
  const std::map<std::string, Answer> answers = reference_answers();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    if (!name.ends_with(".mtx") && !name.ends_with(".mtx.gz")) continue;
    SCOPED_TRACE(name);
    EXPECT_TRUE(is_matrix_file(path));
    if (name == "skew_fp64.mtx") {  // it holds an infinity
      EXPECT_THROW(read_matrix(path), InputError);
      continue;
    }
    const SparseMatrix matrix = read_matrix(path);
    EXPECT_EQ(std::pair(matrix.num_rows, matrix.num_cols), declared_size(path));
    for (std::uint64_t i = 0; i < matrix.num_rows; ++i)
      for (EdgeOffset k = matrix.row_offsets[i] + 1; k < matrix.row_offsets[i + 1]; ++k)
        ASSERT_LT(matrix.col_indices[k - 1], matrix.col_indices[k]) << "row " << i;
    const auto answer = answers.find(name.substr(0, name.find(".mtx")));
    if (answer != answers.end()) compare(answer->second, matrix);
  }
}

}  // namespace
}  // namespace tessera::test
