#include "engine/io/atomic_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "kernels/base/error.hpp"
#include "tests/engine/file_size_limit.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera {
namespace {

using test::file_bytes;
using test::FileSizeLimit;
using test::TemporaryFolder;
using test::write_file_bytes;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "no error";
}

void write_and_commit(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

mode_t permissions_of(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(AtomicFile, ReplacesTheFileOnlyOnCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.tsv");
  write_file_bytes(path, "old");

  AtomicFile file(path);
  file.write("new");
  EXPECT_EQ(file_bytes(path), "old");
  file.commit();

  EXPECT_EQ(file_bytes(path), "new");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(AtomicFile, LeavesNothingBehindWithoutCommit) {
  const TemporaryFolder folder;
  { AtomicFile(folder.file("out.tsv")).write("never finished"); }

  EXPECT_EQ(folder.num_files(), 0u);
}

TEST(AtomicFile, HoldsWritesOfEverySizeInOrder) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.bin");
  std::string expected;
  AtomicFile file(path);
  for (std::size_t size : {1u, 100u, 1u << 19, (1u << 20) - 1, 1u << 20, 3u << 20, 7u}) {
    const std::string bytes(size, static_cast<char>('a' + expected.size() % 26));
    file.write(bytes);
    expected += bytes;
  }
  file.write_at(5, "HEADER");
  expected.replace(5, 6, "HEADER");
  file.commit();

  EXPECT_TRUE(file_bytes(path) == expected);
}

TEST(AtomicFile, KeepsPermissionsOfAnExistingFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.tsv");
  write_file_bytes(path, "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);

  write_and_commit(path, "new");

  EXPECT_EQ(permissions_of(path), 0640u);
}

TEST(AtomicFile, GivesNewFilesThePermissionsOfTheUmask) {
  const TemporaryFolder folder;
  const mode_t old_mask = ::umask(027);
  write_and_commit(folder.file("out.tsv"), "new");
  ::umask(old_mask);

  EXPECT_EQ(permissions_of(folder.file("out.tsv")), 0640u);
}

TEST(AtomicFile, ReplacesWhatASymbolicLinkLeadsTo) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("elsewhere"));
  write_file_bytes(folder.file("elsewhere/real"), "old");
  std::filesystem::create_symlink("elsewhere/real", folder.file("link"));

  write_and_commit(folder.file("link"), "new");

  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(file_bytes(folder.file("elsewhere/real")), "new");
}

TEST(AtomicFile, TakesTheLongestNameThatTheFileSystemTakes) {
  const TemporaryFolder folder;
  const std::string path = folder.file(std::string(255, 'n'));
  write_and_commit(path, "text");

  EXPECT_EQ(file_bytes(path), "text");
}

TEST(AtomicFile, NamesPathAndReasonWhenItCannotOpen) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("nowhere", folder.file("dangling"));
  const auto open = [&](const std::string& path) { return error_of([&] { AtomicFile file(path); }); };

  EXPECT_THAT(open(folder.file("missing/out.tsv")),
              HasSubstr("missing/out.tsv\": No such file or directory"));
  EXPECT_THAT(open(folder.file("")), HasSubstr("Is a directory"));
  EXPECT_THAT(open(folder.file("dangling")), HasSubstr("symbolic link to a file that does not exist"));
  EXPECT_THAT(open(""), HasSubstr("the name is empty"));
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(AtomicFile, ReportsAFullDeviceAtTheLatestOnCommit) {
  EXPECT_THAT(error_of([] { write_and_commit("/dev/full", "x"); }),
              HasSubstr("\"/dev/full\": No space left on device"));
  EXPECT_THAT(error_of([] { AtomicFile("/dev/full").write(std::string(5 << 20, 'x')); }),
              HasSubstr("No space left"));
}

TEST(AtomicFile, SaysWhenTheReaderClosedThePipe) {
  const TemporaryFolder folder;
  const std::string path = folder.file("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  AtomicFile file(path);
  ::close(reader);

  EXPECT_THAT(error_of([&] {
                file.write("x");
                file.commit();
              }),
              HasSubstr("the reader closed the pipe"));
  std::signal(SIGPIPE, old_handler);
}

TEST(AtomicFile, KeepsTheOldFileWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.tsv");
  write_file_bytes(path, "old");
  const std::string message = error_of([&] {
    const FileSizeLimit limit(1 << 16);
    write_and_commit(path, std::string(1 << 17, 'x'));
  });

  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_EQ(file_bytes(path), "old");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(AtomicFile, TwoThatBelongTogetherAreBothReplacedOrNeither) {
  const TemporaryFolder folder;
  const auto write_both = [&](std::size_t second_size) {
    AtomicFile first(folder.file("first")), second(folder.file("second"));
    first.write("first");
    second.write(std::string(second_size, 'x'));
    const FileSizeLimit limit(1 << 16);
    AtomicFile::commit_both(first, second);
  };

  EXPECT_THAT(error_of([&] { write_both(1 << 17); }), HasSubstr("File too large"));
  EXPECT_EQ(folder.num_files(), 0u);
  write_both(3);
  EXPECT_EQ(file_bytes(folder.file("first")), "first");
  EXPECT_EQ(file_bytes(folder.file("second")), "xxx");
}

TEST(AtomicFile, RemovesWhatBelongsToTheOldFileOnlyOnCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out"), companion = folder.file("out.labels");
  write_file_bytes(path, "old");
  write_file_bytes(companion, "of old");
  const auto write = [&](std::size_t size) {
    AtomicFile file(path);
    file.write(std::string(size, 'x'));
    const FileSizeLimit limit(1 << 16);
    file.commit_without(companion);
  };

  EXPECT_THAT(error_of([&] { write(1 << 17); }), HasSubstr("File too large"));
  EXPECT_EQ(file_bytes(companion), "of old");
  write(3);
  EXPECT_EQ(file_bytes(path), "xxx");
  EXPECT_EQ(folder.num_files(), 1u);
  std::filesystem::create_directory(companion);  // not a list
  write(4);
  EXPECT_EQ(file_bytes(path), "xxxx");
  EXPECT_EQ(folder.num_files(), 2u);
}

TEST(AtomicFile, ACompanionThatCannotGoKeepsTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out"), companion = folder.file("out.labels");
  write_file_bytes(path, "old");
  write_file_bytes(companion, "of old");
  AtomicFile file(path);
  file.write("new");
  std::filesystem::remove(path);
  std::filesystem::create_directories(path + "/in the way");  // the new file cannot take its name
  EXPECT_THROW(file.commit_without(companion), ResourceError);
  EXPECT_EQ(file_bytes(companion), "of old");
}

TEST(AtomicFile, WritesToStandardOutputAndLeavesItOpen) {
  const TemporaryFolder folder;
  const int saved = ::dup(STDOUT_FILENO);
  const int redirected = ::open(folder.file("captured").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::dup2(redirected, STDOUT_FILENO), STDOUT_FILENO);
  ::close(redirected);
  write_and_commit("-", "first ");
  write_and_commit("/dev/stdout", "second");
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);

  EXPECT_EQ(file_bytes(folder.file("captured")), "first second");
}

TEST(CheckWritable, AgreesWithWritingAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  write_file_bytes(folder.file("old"), "old");
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);

  for (const std::string& path : {folder.file("new"), folder.file("old"), folder.file("fifo"),
                                  std::string("-"), std::string("/dev/full"), std::string("/dev/stdout")})
    EXPECT_NO_THROW(check_writable(path)) << path;
  EXPECT_THROW(check_writable(folder.file("missing/out")), ResourceError);
  EXPECT_THROW(check_writable(folder.file("")), ResourceError);
  EXPECT_THROW(check_writable(folder.file("old/out")), ResourceError);
  EXPECT_EQ(folder.num_files(), 2u);
  EXPECT_EQ(file_bytes(folder.file("old")), "old");
}

TEST(CheckWritable, RefusesAFileItsOwnerProtected) {
  if (::geteuid() == 0) GTEST_SKIP() << "the administrator may write everything";
  const TemporaryFolder folder;
  write_file_bytes(folder.file("old"), "old");
  ASSERT_EQ(::chmod(folder.file("old").c_str(), 0444), 0);

  EXPECT_THROW(check_writable(folder.file("old")), ResourceError);
}

}  // namespace
}  // namespace tessera
