// The group of one process, and the gathering of one number a rank.
#include "partition/communicator.hpp"

#include <cstring>
#include <deque>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

class SingleRank : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void barrier() override {}
  void all_sum(std::span<std::int64_t>) override {}
  void all_sum(std::span<std::uint64_t>) override {}
  void all_max(std::span<double>) override {}
  void all_max(std::span<std::uint64_t>) override {}
  void broadcast(std::string&, int root) override {
    require(root == 0, "broadcast: no such rank in a group of one");
  }

  void all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all,
                        std::span<const std::uint64_t> byte_counts) override {
    require(byte_counts.size() == 1 && byte_counts[0] == mine.size() && all.size() >= mine.size(),
            "all_gather: sizes do not match");
    if (!mine.empty() && mine.data() != all.data()) std::memcpy(all.data(), mine.data(), mine.size());
  }

  Buffer<std::byte> all_to_all_bytes(std::span<const std::byte> send,
                                     std::span<const std::uint64_t> send_offsets,
                                     std::vector<std::uint64_t>& received_offsets) override {
    require(send_offsets.size() == 2 && send_offsets[0] <= send_offsets[1] && send_offsets[1] <= send.size(),
            "all_to_all: offsets do not match");
    const std::uint64_t size = send_offsets[1] - send_offsets[0];
    Buffer<std::byte> received(size);
    if (size != 0) std::memcpy(received.data(), send.data() + send_offsets[0], size);
    received_offsets = {0, size};
    return received;
  }

  void send(std::span<const std::byte> bytes, int to) override {
    require(to == 0, "send: no such rank in a group of one");
    mailbox_.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  std::string receive(int from) override {
    require(from == 0 && !mailbox_.empty(), "receive: nothing was sent");
    std::string message = std::move(mailbox_.front());
    mailbox_.pop_front();
    return message;
  }

 private:
  std::deque<std::string> mailbox_;
};

}  // namespace

std::unique_ptr<Communicator> make_single_rank() { return std::make_unique<SingleRank>(); }

std::vector<std::uint64_t> all_gather(Communicator& comm, std::uint64_t value) {
  std::vector<std::uint64_t> all(comm.size());
  const std::vector<std::uint64_t> counts(comm.size(), 1);
  all_gather(comm, std::span<const std::uint64_t>(&value, 1), std::span(all), counts);
  return all;
}

}  // namespace tessera
