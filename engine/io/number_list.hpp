// Vectors as text: one number a line, or a dense Matrix Market "array" of one column; # and % comments.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// Throws InputError naming the line for what is no finite number, and when there are not `size` of them.
std::vector<double> read_numbers(const std::string& path, std::uint64_t size);

/// One number a line, in the shortest digits that read back the same; "-" is standard output. A file appears
/// whole or not at all.
void write_numbers(const std::string& path, std::span<const double> numbers);

}  // namespace tessera
