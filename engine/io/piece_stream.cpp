#include "engine/io/piece_stream.hpp"

#include <new>
#include <span>
#include <string_view>

#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

// Requests of rank 0, and the first byte of an answer.
constexpr char kNext = 'n', kStop = 's', kPiece = 'p', kError = 'e';

void send_text(Communicator& comm, std::string_view text, int to) {
  comm.send(std::as_bytes(std::span(text)), to);
}

/// A failing producer answers with its error: 'e', the category in decimal, ' ', the message.
std::string make_answer(const PieceProducer& produce) {
  std::string answer(1, kPiece);
  const auto error = [](ErrorCategory category, const char* message) {
    return kError + std::to_string(static_cast<int>(category)) + ' ' + message;
  };
  try {
    produce(answer);
  } catch (const Error& e) {
    answer = error(e.category(), e.what());
  } catch (const std::bad_alloc&) {
    answer = error(ErrorCategory::resource, "out of memory");
  } catch (const std::exception& e) {
    answer = error(ErrorCategory::internal, e.what());
  }
  return answer;
}

/// Ends after an answer without content: rank 0 asks no further.
void serve_pieces(Communicator& comm, const PieceProducer& produce) {
  bool ended = false;
  while (!ended) {
    const std::string answer = make_answer(produce);  // made ahead: rank 0 need not wait for it
    if (comm.receive(0).front() == kStop) return;
    ended = answer.front() == kError || answer.size() == 1;
    send_text(comm, answer, 0);
  }
}

}  // namespace

std::string PieceReader::next(int rank) {
  std::string piece;
  if (ended_[rank]) return piece;
  if (rank == 0) {
    own_(piece);
    ended_[0] = piece.empty();
    return piece;
  }
  send_text(comm_, std::string_view(&kNext, 1), rank);
  piece = comm_.receive(rank);
  if (piece.front() == kError) {
    ended_[rank] = true;
    std::size_t digits = 0;
    const int category = std::stoi(piece.substr(1), &digits);
    throw Error(static_cast<ErrorCategory>(category), piece.substr(digits + 2));
  }
  piece.erase(0, 1);
  ended_[rank] = piece.empty();
  return piece;
}

void PieceReader::stop_all() {
  for (int rank = 1; rank < comm_.size(); ++rank)
    if (!ended_[rank]) send_text(comm_, std::string_view(&kStop, 1), rank);
}

void stream_pieces(Communicator& comm, const PieceProducer& produce,
                   const std::function<void(PieceReader&)>& consume) {
  run_together(comm, [&] {
    if (!comm.is_root()) return serve_pieces(comm, produce);
    PieceReader reader(comm, produce);
    try {
      consume(reader);
    } catch (...) {
      reader.stop_all();
      throw;
    }
    reader.stop_all();
  });
}

void concatenate_pieces(Communicator& comm, const PieceProducer& produce,
                        const std::function<void(std::string_view)>& write) {
  stream_pieces(comm, produce, [&](PieceReader& pieces) {
    for (int rank = 0; rank < pieces.num_ranks(); ++rank)
      for (std::string piece = pieces.next(rank); !piece.empty(); piece = pieces.next(rank)) write(piece);
  });
}

}  // namespace tessera
