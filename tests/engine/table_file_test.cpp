// Where measured tables are kept, and what is said of files that are none.
#include "engine/table_file.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera {
namespace {

/// The variables that say where caches are; as before afterwards.
class TableFile : public testing::Test {
 protected:
  TableFile() : cache_(value_of("XDG_CACHE_HOME")), home_(value_of("HOME")) {}
  ~TableFile() override {
    set("XDG_CACHE_HOME", cache_);
    set("HOME", home_);
  }
  static void set(const char* name, const std::optional<std::string>& value) {
    if (value)
      setenv(name, value->c_str(), 1);
    else
      unsetenv(name);
  }

 private:
  static std::optional<std::string> value_of(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  std::optional<std::string> cache_, home_;
};

TEST_F(TableFile, IsInTheCacheFolder) {
  set("HOME", "/home/ann");
  set("XDG_CACHE_HOME", "/var/ann");
  EXPECT_EQ(table_path("cpu"), "/var/ann/tessera/cpu.table.json");
  set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(table_path("cpu"), "/home/ann/.cache/tessera/cpu.table.json");
  set("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(table_path("cpu"), "/home/ann/.cache/tessera/cpu.table.json");
  set("HOME", "");
  EXPECT_THROW(table_path("cpu"), ResourceError);
}

TEST_F(TableFile, IsReadByRankZeroForAll) {
  const test::TemporaryFolder folder;
  set("XDG_CACHE_HOME", folder.file(""));
  std::filesystem::create_directory(folder.file("tessera"));
  test::write_file_bytes(table_path("gpu-a"), "measured");
  std::filesystem::create_directory(table_path("gpu-d"));
  test::run_ranks(3, [&](Communicator& comm) {
    const TableText fallback{"built in", ""};
    const TableText found = read_table(comm.is_root() ? "gpu-a" : "gpu-b", fallback, comm);
    EXPECT_EQ(found.text, "measured");
    EXPECT_EQ(found.path, table_path("gpu-a"));
    for (const char* absent : {"gpu-c", "gpu-d", ""}) {
      const TableText other = read_table(absent, fallback, comm);
      EXPECT_EQ(other.text, "built in");
      EXPECT_EQ(other.path, "");
    }
  });
}

TEST(NameForFiles, HoldsLettersDigitsAndDashes) {
  EXPECT_EQ(name_for_files("NVIDIA H200 (141GB)/x"), "NVIDIA-H200--141GB--x");
  EXPECT_EQ(name_for_files("../a\xC3\xA4"), "---a--");
}

TEST(JsonComplaint, SaysWhatIsWrongInWordsOfOurs) {
  const auto complaint = [](const auto& read) -> std::string {
    try {
      read();
    } catch (const std::exception& error) {
      return json_complaint(error);
    }
    return "";
  };
  using nlohmann::json;
  EXPECT_EQ(complaint([] { const json broken = json::parse("{\"a\": }"); }), "no JSON at byte 7");
  EXPECT_EQ(complaint([] { (void)json("x").get<double>(); }), "a value of another kind than expected");
  EXPECT_EQ(complaint([] { (void)json::object().at("rate"); }), "key 'rate' not found");
  EXPECT_EQ(complaint([] { throw InputError("as it is"); }), "as it is");
}

TEST(Today, IsADay) {
  const std::string day = today();
  ASSERT_EQ(day.size(), 10u);
  for (std::size_t i = 0; i < day.size(); ++i)
    EXPECT_TRUE(i == 4 || i == 7 ? day[i] == '-' : std::isdigit(static_cast<unsigned char>(day[i])) != 0)
        << day;
}

}  // namespace
}  // namespace tessera
