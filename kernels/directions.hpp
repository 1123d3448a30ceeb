// Which elements a matrix has of those that lie somewhere.
#pragma once

namespace tessera {

/// The same ones, or turned round (row r is column r there), or both of these, each element once. Both are
/// made of square patterns alone.
enum class Directions { same, turned, both };

/// What has these elements turned round.
constexpr Directions turned_round(Directions directions) {
  return directions == Directions::same     ? Directions::turned
         : directions == Directions::turned ? Directions::same
                                            : Directions::both;
}

}  // namespace tessera
