#include "engine/io/string_interner.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace tessera {
namespace {

RC_GTEST_PROP(StringInterner, KeysArePositionsInOrderOfFirstAppearance,
              (const std::vector<std::string>& texts)) {
  StringInterner interner;
  std::map<std::string, std::uint64_t> keys;
  for (const std::string& text : texts) {
    const std::uint64_t expected = keys.emplace(text, keys.size()).first->second;
    RC_ASSERT(interner.intern(text) == expected);
  }
  const StringDictionary dictionary = interner.take_dictionary();
  RC_ASSERT(dictionary.size() == keys.size());
  for (const auto& [text, key] : keys) RC_ASSERT(dictionary.text(key) == text);
}

TEST(StringInterner, GrowsAndKeepsKeys) {
  StringInterner interner;
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t i = 0; i < 20000; ++i) ASSERT_EQ(interner.intern("label " + std::to_string(i)), i);
  EXPECT_EQ(interner.take_dictionary().size(), 20000u);
  EXPECT_EQ(interner.intern("anew"), 0u);
}

}  // namespace
}  // namespace tessera
