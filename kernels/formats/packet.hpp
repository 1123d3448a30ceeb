// packet (Bell and Garland's PKT): the rows and columns of a square matrix are cut into parts (graph_cut.hpp)
// whose pieces of x and y fit in the shared memory of a device. Elements between rows and columns of one part
// are a packet, with 16-bit rows and columns of the part; all others are one COO.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/formats/coo.hpp"
#include "kernels/formats/graph_cut.hpp"

namespace tessera {

/// Part i has the rows and columns [first_row, ...) of `rows` and the elements from first_element on, both to
/// those of part i + 1.
struct PacketPart {
  std::uint32_t first_row = 0, first_element = 0;
};

/// Row and column of an element in its part.
struct alignas(4) PacketPlace {
  std::uint16_t row = 0, column = 0;
};

/// x and y of so many rows fill the shared memory that any block may have.
template <class S>
inline constexpr std::uint32_t kPacketRows = 48 * 1024 / (2 * sizeof(S));

/// Throws OptionError where rows and columns differ in number.
void check_square(const CsrView<double>& a);
/// Throws OptionError where more than half of the elements are outside of packets.
void check_packets(std::uint64_t num_outside, std::uint64_t num_nonzeros, std::uint64_t num_parts);
/// A part for each row, so that parts have at most about most_rows rows; without METIS where one will do.
std::vector<std::uint32_t> packet_parts(const CsrView<double>& a, std::uint32_t most_rows);

template <class S>
struct Packet {
  using Value = S;
  std::uint64_t num_rows = 0;
  std::uint32_t largest_part = 0;  ///< rows
  Buffer<PacketPart> parts;        ///< and one that only ends the last
  Buffer<VertexId> rows;           ///< part by part, ascending
  Buffer<PacketPlace> places;      ///< rows ascend in a part
  Buffer<S> values;
  Coo<S> rest;

  explicit Packet(const CsrView<double>& a, std::uint32_t most_rows = kPacketRows<S>)
      : Packet(a, most_rows, packet_parts(a, most_rows)) {}
  /// part_of_row: parts of more than most_rows rows are cut further, in their order.
  Packet(const CsrView<double>& a, std::uint32_t most_rows, const std::vector<std::uint32_t>& part_of_row)
      : Packet(a, RowPlaces(a, most_rows, part_of_row)) {}
  std::uint64_t num_parts() const { return parts.size() - 1; }
  std::uint64_t num_stored() const { return values.size() + rest.num_stored(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.parts);
    visit(self.rows);
    visit(self.places);
    visit(self.values);
    Coo<S>::each_buffer(self.rest, visit);
  }

 private:
  struct RowPlaces {
    std::vector<VertexId> rows;
    std::vector<PacketPart> parts;
    std::vector<std::uint32_t> part_of_row;  ///< into parts
    std::vector<std::uint16_t> place_in_part;

    RowPlaces(const CsrView<double>& a, std::uint32_t most_rows, std::vector<std::uint32_t> parts_given)
        : rows(a.num_rows), part_of_row(std::move(parts_given)), place_in_part(a.num_rows) {
      check_square(a);
      require(most_rows > 0 && most_rows <= kPacketRows<S>, "a packet's x and y fit in shared memory");
      std::iota(rows.begin(), rows.end(), VertexId{0});
      std::stable_sort(rows.begin(), rows.end(),
                       [&](VertexId u, VertexId v) { return part_of_row[u] < part_of_row[v]; });
      std::uint32_t given = 0;
      for (std::uint32_t i = 0; i < rows.size(); ++i) {
        const std::uint32_t part = part_of_row[rows[i]];
        if (i == 0 || part != given || i - parts.back().first_row == most_rows) parts.push_back({i, 0});
        given = part;
        place_in_part[rows[i]] = static_cast<std::uint16_t>(i - parts.back().first_row);
        part_of_row[rows[i]] = static_cast<std::uint32_t>(parts.size() - 1);
      }
      parts.push_back({static_cast<std::uint32_t>(rows.size()), 0});
      count_elements(a);
    }
    bool is_inside(std::uint64_t row, VertexId column) const {
      return part_of_row[row] == part_of_row[column];
    }

   private:
    void count_elements(const CsrView<double>& a) {
      std::uint64_t inside = 0;
      for (std::size_t part = 0; part + 1 < parts.size(); ++part) {
        parts[part].first_element = checked_size(inside);
        for (std::uint32_t i = parts[part].first_row; i < parts[part + 1].first_row; ++i)
          for (EdgeOffset k = a.row_offsets[rows[i]]; k < a.row_offsets[rows[i] + 1]; ++k)
            inside += is_inside(rows[i], a.col_indices[k]) ? 1 : 0;
      }
      parts.back().first_element = checked_size(inside);
      check_packets(a.num_nonzeros() - inside, a.num_nonzeros(), parts.size() - 1);
    }
  };

  Packet(const CsrView<double>& a, const RowPlaces& found)
      : num_rows(a.num_rows),
        parts(found.parts.size()),
        rows(found.rows.size()),
        places(found.parts.back().first_element),
        values(places.size()),
        rest(a, [&](std::uint64_t row, EdgeOffset k) {
          return found.is_inside(row, a.col_indices[k]) ? kNoVertex : a.col_indices[k];
        }) {
    std::copy(found.parts.begin(), found.parts.end(), parts.begin());
    std::copy(found.rows.begin(), found.rows.end(), rows.begin());
#pragma omp parallel for schedule(dynamic, 1)
    for (std::uint64_t part = 0; part < num_parts(); ++part) fill(a, found, part);
    for (std::uint64_t part = 0; part < num_parts(); ++part)
      largest_part = std::max(largest_part, parts[part + 1].first_row - parts[part].first_row);
  }

  void fill(const CsrView<double>& a, const RowPlaces& found, std::uint64_t part) {
    std::uint32_t to = parts[part].first_element;
    for (std::uint32_t i = parts[part].first_row; i < parts[part + 1].first_row; ++i)
      for (EdgeOffset k = a.row_offsets[rows[i]]; k < a.row_offsets[rows[i] + 1]; ++k) {
        if (!found.is_inside(rows[i], a.col_indices[k])) continue;
        places[to] = {found.place_in_part[rows[i]], found.place_in_part[a.col_indices[k]]};
        values[to++] = element_value<S>(a, k);
      }
  }
};

template <class S>
void multiply_on_host(const Packet<S>& a, const S* x, S* y) {
#pragma omp parallel for schedule(dynamic, 1)
  for (std::uint64_t part = 0; part < a.num_parts(); ++part) {
    const VertexId* rows = a.rows.data() + a.parts[part].first_row;
    for (const VertexId* row = rows; row < a.rows.data() + a.parts[part + 1].first_row; ++row) y[*row] = 0;
    for (std::uint32_t k = a.parts[part].first_element; k < a.parts[part + 1].first_element; ++k)
      y[rows[a.places[k].row]] += a.values[k] * x[rows[a.places[k].column]];
  }
  add_on_host(a.rest, x, y);
}

// kernels/cuda/formats/cuda_packet.cu
template <class S>
void multiply_on_device(const Packet<S>& a, const S* x, S* y);

}  // namespace tessera
