// Buffer<T>: a move-only owner of an uninitialised array, or a read-only window on a mapped file.
// Elements are NOT initialised: large arrays are first touched by the threads that fill them.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/base/types.hpp"

namespace tessera {

/// Untyped host memory, 64-byte aligned (2 MiB and huge pages when large); throws ResourceError with the
/// number of bytes when it cannot be had. Free with the returned deleter.
std::shared_ptr<void> allocate_host(std::size_t num_bytes);

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  /// Host memory for `size` elements, uninitialised.
  explicit Buffer(std::size_t size)
      : owner_(size == 0 ? nullptr : allocate_host(checked_mul(size, sizeof(T)))),
        data_(static_cast<T*>(owner_.get())),
        size_(size) {}
  /// `size` elements at `data`, kept alive by `owner` (a mapping, or memory of another backend).
  Buffer(std::shared_ptr<void> owner, T* data, std::size_t size)
      : owner_(std::move(owner)), data_(data), size_(size) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t size_bytes() const { return size_ * sizeof(T); }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

  void swap(Buffer& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  /// Keeps the first `size` elements; the memory behind stays allocated.
  void truncate(std::size_t size) { size_ = size < size_ ? size : size_; }
  Buffer clone() const {
    Buffer copy(size_);
    if (size_ != 0) std::memcpy(copy.data_, data_, size_bytes());
    return copy;
  }

 private:
  std::shared_ptr<void> owner_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The same memory, which `buffer` outlives and nobody writes.
template <class T>
Buffer<T> unowned(const Buffer<T>& buffer) {
  return Buffer<T>(nullptr, const_cast<T*>(buffer.data()), buffer.size());
}

}  // namespace tessera
