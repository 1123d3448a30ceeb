// Blocks of whole lines: every line once, in order, for every size of block and cut of the file.
#include "engine/io/block_source.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/input_files.hpp"

namespace tessera::test {
namespace {

std::string all_of(BlockSource& source, std::vector<std::uint64_t>* lines_before = nullptr) {
  std::string text;
  TextBlock block;
  while (source.next(block)) {
    if (block.size == 0) continue;
    EXPECT_EQ(block.text().back(), '\n');
    if (lines_before != nullptr) lines_before->push_back(source.lines_before(block));
    text += block.text();
  }
  return text;
}

std::string any_text() {
  std::string text;
  for (const int c : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4)))
    text += c == 0 ? '\n' : static_cast<char>('a' + c);
  return text;
}

std::string with_last_newline(std::string text) {
  return text.empty() || text.back() == '\n' ? text : text + "\n";
}

RC_GTEST_PROP(FileBlockSource, SlicesOfAFileHoldEachLineOnce, ()) {
  const std::string text = any_text();
  const InputText made(text);
  const InputFile file(made.path());
  const auto first = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
  const auto middle = *rc::gen::inRange<std::size_t>(first, text.size() + 1);
  const auto block = *rc::gen::inRange<std::size_t>(1, 9);
  FileBlockSource one(file, first, first, middle, block), two(file, first, middle, text.size(), block);
  RC_ASSERT(all_of(one) + all_of(two) == with_last_newline(text.substr(first)));
}

RC_GTEST_PROP(StreamBlockSource, GivesTheStreamInOrder, ()) {
  const std::string text = any_text();
  const InputText made(text);
  InputFile file(made.path());
  FileSource stream(file);
  const auto skip = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
  StreamBlockSource source(stream, skip, 0, *rc::gen::inRange<std::size_t>(1, 9));
  RC_ASSERT(all_of(source) == with_last_newline(text.substr(skip)));
}

TEST(BlockSource, CountsTheLinesInFrontOfABlock) {
  const InputText made("one\ntwo\nthree\nfour\n");
  InputFile file(made.path());
  FileSource stream(file);
  FileBlockSource from_file(file, 4, 4, 19, 5);
  StreamBlockSource from_stream(stream, 4, 1, 5);
  std::vector<std::uint64_t> file_lines, stream_lines;
  EXPECT_EQ(all_of(from_file, &file_lines), "two\nthree\nfour\n");
  EXPECT_EQ(all_of(from_stream, &stream_lines), "two\nthree\nfour\n");
  EXPECT_EQ(file_lines, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(stream_lines.front(), 1u);
}

}  // namespace
}  // namespace tessera::test
