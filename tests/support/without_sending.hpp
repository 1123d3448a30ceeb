// Ranks that may agree on numbers and gather vectors, but not send each other edges.
#pragma once
#include "kernels/base/error.hpp"
#include "partition/communicator.hpp"

namespace tessera::test {

class WithoutSending : public Communicator {
 public:
  explicit WithoutSending(Communicator& comm) : comm_(comm) {}
  int rank() const override { return comm_.rank(); }
  int size() const override { return comm_.size(); }
  void barrier() override { comm_.barrier(); }
  void all_sum(std::span<std::int64_t> values) override { comm_.all_sum(values); }
  void all_sum(std::span<std::uint64_t> values) override { comm_.all_sum(values); }
  void all_max(std::span<double> values) override { comm_.all_max(values); }
  void all_max(std::span<std::uint64_t> values) override { comm_.all_max(values); }
  void broadcast(std::string& bytes, int root) override { comm_.broadcast(bytes, root); }
  void all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all,
                        std::span<const std::uint64_t> byte_counts) override {
    comm_.all_gather_bytes(mine, all, byte_counts);
  }
  Buffer<std::byte> all_to_all_bytes(std::span<const std::byte>, std::span<const std::uint64_t>,
                                     std::vector<std::uint64_t>&) override {
    throw InternalError("edges are sent to other ranks");
  }
  void send(std::span<const std::byte>, int) override { throw InternalError("bytes are sent to a rank"); }
  std::string receive(int) override { throw InternalError("bytes are received from a rank"); }

 private:
  Communicator& comm_;
};

}  // namespace tessera::test
