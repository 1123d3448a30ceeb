// Whether all ranks have the same input file: each reads its part of its own machine's copy, and parts of two
// editions would make a graph that nobody has.
#pragma once
#include "engine/io/input_file.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Compares length, first and last bytes, and samples between them; reads at most some 400 KiB. Copies that
/// differ elsewhere only pass. Throws the same InputError on every rank. Collective.
void check_same_file(const InputFile& file, Communicator& comm);

}  // namespace tessera
