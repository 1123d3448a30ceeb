// The rows of a CSR matrix in windows (run_windows.hpp), in device memory, as runs of steps go through them.
// Host code.
#pragma once
#include <optional>
#include <span>

#include "kernels/base/buffer.hpp"
#include "kernels/csr_view.hpp"
#include "kernels/cuda/run_windows.hpp"

namespace tessera::cuda {

/// In device memory, but for the numbers.
struct RunWindows {
  const RunWindow* windows = nullptr;  ///< num_windows and one more
  unsigned num_windows = 0;
  WindowSizes most;
  const VertexId* inputs = nullptr;       ///< columns in ascending order, of a window from first_element on
  const std::uint16_t* places = nullptr;  ///< of an element's column among its window's inputs
  const WindowRow* rows = nullptr;        ///< of the matrix
  const WindowChunk* chunks = nullptr;    ///< of a window from first_chunk on
};

class RunWindowRows {
 public:
  /// Nothing where windows do not fit (windows_fit). The matrix lies on the device, its offsets are also
  /// given as they are on the host.
  template <class S>
  static std::optional<RunWindowRows> of(const CsrView<S>& a, std::span<const EdgeOffset> row_offsets,
                                         unsigned num_blocks, std::size_t room_bytes);
  RunWindows view() const;

 private:
  RunWindowRows(const EdgeOffset* row_offsets, const VertexId* col_indices, std::uint32_t num_words,
                std::span<const RunWindow> counted);

  WindowSizes most_;
  Buffer<RunWindow> windows_;
  Buffer<VertexId> inputs_;
  Buffer<std::uint16_t> places_;
  Buffer<WindowRow> rows_;
  Buffer<WindowChunk> chunks_;
};

}  // namespace tessera::cuda
