#include "engine/io/open_input.hpp"

#include <algorithm>

#include "engine/io/decompression.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

namespace {

constexpr std::size_t kMaxLayers = 4;
constexpr std::size_t kMagicBytes = 512;

struct Layers {
  FileSource* raw = nullptr;
  std::unique_ptr<PeekSource> text;
  std::string names;
};

/// Takes compressions off until an archive, or text, comes to light.
Layers take_off_compressions(InputFile& file) {
  Layers layers;
  auto raw = std::make_unique<FileSource>(file);
  layers.raw = raw.get();
  layers.text = std::make_unique<PeekSource>(std::move(raw));
  for (std::size_t depth = 0; depth < kMaxLayers; ++depth) {
    const auto layer = find_layer(layers.text->peek(kMagicBytes));
    if (!layer || is_archive(*layer)) return layers;
    layers.names += (layers.names.empty() ? "" : ", ") + std::string(layer_name(*layer));
    layers.text = std::make_unique<PeekSource>(decompress(*layer, std::move(layers.text), file.name()));
  }
  throw InputError(file.name() + ": compressed more than four times over");
}

/// Replaces the archive `layers.text` by a file in it, whose name is added to that of the input.
void open_member(Layers& layers, const std::string& wanted, OpenInput& input) {
  std::string member = wanted;
  std::unique_ptr<ByteSource> source;
  if (input.file->is_regular()) {
    const std::vector<std::string> members = archive_members(std::move(layers.text), input.name);
    member = choose_member(members, wanted, input.name);
    Layers again = take_off_compressions(*input.file);
    layers.raw = again.raw;
    const auto num_older = std::count(members.begin(), members.end(), member) - 1;
    source = open_archive_member(std::move(again.text), input.name, member, num_older);
  } else if (member.empty()) {
    throw InputError(input.name +
                     ": an archive on a stream can be read once only; name the file in it (--member)");
  } else {
    source = open_streamed_member(std::move(layers.text), input.name, member);
  }
  layers.text = std::make_unique<PeekSource>(std::move(source));
  input.name += "(" + member + ")";
  if (const auto layer = find_layer(layers.text->peek(kMagicBytes)))
    throw InputError(input.name + ": " + (is_archive(*layer) ? "is itself a " : "is itself compressed by ") +
                     layer_name(*layer) + ", which is not looked into; unpack the archive and give the file");
}

}  // namespace

OpenInput open_input(const std::string& path, const std::string& archive_member) {
  OpenInput input;
  input.file = std::make_unique<InputFile>(path);
  input.name = input.file->name();
  Layers layers = take_off_compressions(*input.file);
  if (const auto layer = find_layer(layers.text->peek(kMagicBytes))) {
    layers.names += (layers.names.empty() ? "" : ", ") + std::string(layer_name(*layer));
    open_member(layers, archive_member, input);
  } else if (!archive_member.empty()) {
    refuse_member(input.name, archive_member);
  }
  input.raw = layers.raw;
  input.text = std::move(layers.text);
  if (!layers.names.empty()) input.compression = layers.names;
  return input;
}

void refuse_member(const std::string& name, const std::string& archive_member) {
  throw InputError(name + ": is no archive, so it has no member " + archive_member);
}

TextHead read_head(OpenInput& input) {
  constexpr std::size_t kFirst = std::size_t{1} << 16, kLast = std::size_t{32} << 20;
  TextHead head;
  head.name = input.name;
  head.total_bytes = input.is_plain() ? input.file->size_bytes() : 0;
  for (std::size_t size = kFirst;; size *= 2) {
    const std::string_view text = input.text->peek(size);
    head.complete = text.size() < size;
    head.text.assign(text);
    if (head.complete || size >= kLast || shows_two_data_lines(head)) return head;
  }
}

TextHead read_whole(const std::string& path) {
  OpenInput input = open_input(path, "");
  TextHead whole;
  whole.name = input.name;
  whole.complete = true;
  if (input.is_plain()) whole.text.reserve(input.file->size_bytes());
  std::string block(std::size_t{1} << 18, '\0');
  while (const std::size_t got = read_fully(*input.text, block)) whole.text.append(block, 0, got);
  input.file->check_unchanged();
  whole.total_bytes = whole.text.size();
  return whole;
}

}  // namespace tessera
