#include "engine/io/label_list_writer.hpp"

#include <algorithm>
#include <optional>

#include "engine/io/atomic_file.hpp"
#include "engine/io/csv_text.hpp"
#include "engine/io/label_text.hpp"
#include "engine/io/number_text.hpp"
#include "engine/io/piece_stream.hpp"
#include "partition/run_together.hpp"

namespace tessera {

void write_label_list(const LabelTable& labels, const std::string& path, Communicator& comm) {
  std::optional<AtomicFile> file;  // on rank 0
  run_together(comm, [&] {
    if (comm.is_root()) file.emplace(path);
  });
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
  run_together(comm, [&] {
    if (file) file->commit();
  });
}

}  // namespace tessera
