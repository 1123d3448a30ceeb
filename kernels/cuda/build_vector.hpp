// An array of what a build uses, in the memory of the host or of a device.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/base/buffer.hpp"

namespace tessera::cuda {

/// A move-only array, uninitialised.
template <class Memory, class T>
class BuildVector {
 public:
  BuildVector() = default;
  explicit BuildVector(std::uint64_t size)
      : data_(size == 0 ? nullptr : static_cast<T*>(Memory::allocate(checked_mul(size, sizeof(T))))),
        size_(size),
        room_(size) {}
  BuildVector(BuildVector&& other) noexcept { swap(other); }
  BuildVector& operator=(BuildVector&& other) noexcept {
    BuildVector(std::move(other)).swap(*this);
    return *this;
  }
  ~BuildVector() {
    if (data_ != nullptr) Memory::deallocate(data_, num_bytes());
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Keeps the first `size` elements; the memory behind stays allocated.
  void truncate(std::uint64_t size) { size_ = size; }
  void swap(BuildVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }
  /// Of the memory behind data().
  std::size_t num_bytes() const { return room_ * sizeof(T); }
  T* release() {
    size_ = room_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  T* data_ = nullptr;
  std::uint64_t size_ = 0, room_ = 0;
};

}  // namespace tessera::cuda
