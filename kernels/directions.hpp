// Which elements a matrix has of those that lie somewhere.
#pragma once

namespace tessera {

/// The same, or turned round (row r is column r there), or both of these, each element once. Both are made of
/// square patterns alone.
enum class Directions { as_they_lie, turned, both };

/// What has these elements turned round.
constexpr Directions turned_round(Directions directions) {
  return directions == Directions::as_they_lie ? Directions::turned
         : directions == Directions::turned    ? Directions::as_they_lie
                                               : Directions::both;
}

}  // namespace tessera
