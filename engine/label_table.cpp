// Looking labels up: ids are in label order, so both directions are an index or a binary search.
#include "engine/label_table.hpp"

#include <algorithm>
#include <charconv>

#include "kernels/base/error.hpp"

namespace tessera {

namespace {

std::string_view string_label(const LabelTable& table, std::uint64_t index) {
  const std::uint64_t begin = table.string_offsets[index];
  return {table.string_bytes.data() + begin, table.string_offsets[index + 1] - begin};
}

VertexId find_string(const LabelTable& table, std::string_view text) {
  std::uint64_t low = 0, high = table.count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (string_label(table, middle) < text)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == table.count || string_label(table, low) != text) return kNoVertex;
  return static_cast<VertexId>(table.first_id + low);
}

}  // namespace

std::string LabelTable::text(VertexId id) const {
  require(id >= first_id && id - first_id < count, "LabelTable::text: the id is not held here");
  const std::uint64_t index = id - first_id;
  if (kind == LabelKind::range) return std::to_string(first_label + id);
  if (kind == LabelKind::integer) return std::to_string(integers[index]);
  return std::string(string_label(*this, index));
}

VertexId LabelTable::find(std::string_view text) const {
  if (kind == LabelKind::string) return find_string(*this, text);
  std::uint64_t value = 0;
  if (!parse_canonical_integer(text, value)) return kNoVertex;
  if (kind == LabelKind::range) {
    if (value < first_label || value - first_label < first_id) return kNoVertex;
    const std::uint64_t id = value - first_label;
    return id - first_id < count ? static_cast<VertexId>(id) : kNoVertex;
  }
  const auto* found = std::lower_bound(integers.begin(), integers.end(), value);
  if (found == integers.end() || *found != value) return kNoVertex;
  return static_cast<VertexId>(first_id + static_cast<std::uint64_t>(found - integers.begin()));
}

bool parse_canonical_integer(std::string_view text, std::uint64_t& value) {
  if (text.empty() || text[0] < '0' || text[0] > '9' || (text[0] == '0' && text.size() > 1)) return false;
  std::uint64_t parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  value = parsed;
  return true;
}

}  // namespace tessera
