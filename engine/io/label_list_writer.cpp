#include "engine/io/label_list_writer.hpp"

#include <algorithm>

#include "engine/io/csv_text.hpp"
#include "engine/io/label_text.hpp"
#include "engine/io/number_text.hpp"
#include "engine/io/piece_stream.hpp"

namespace tessera {

void write_label_list(const LabelTable& labels, std::optional<AtomicFile>& file, Communicator& comm) {
  constexpr std::uint64_t kLabelsPerPiece = 1 << 16;
  std::uint64_t next = 0;
  const auto produce = [&](std::string& piece) {
    const std::uint64_t end = std::min(labels.size(), next + kLabelsPerPiece);
    for (; next < end; ++next) {
      const auto id = static_cast<VertexId>(labels.first_id + next);
      if (has_integer_labels(labels)) {
        append_number(piece, integer_label(labels, id));
      } else {
        append_field(piece, string_label(labels, id), '\t');
      }
      piece.push_back('\n');
    }
  };
  concatenate_pieces(comm, produce, [&](std::string_view text) { file->write(text); });
}

}  // namespace tessera
