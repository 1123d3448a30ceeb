// See thread_ranks.hpp. Every collective: each rank shows where its data is, all meet, each reads what it
// needs of the others, all meet again before the data may change.
#include "tests/support/thread_ranks.hpp"

#include <omp.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "kernels/base/error.hpp"

namespace tessera::test {
namespace {

/// What one rank shows to the others during a collective.
struct Shown {
  const void* data = nullptr;
  const std::uint64_t* offsets = nullptr;
  std::uint64_t size = 0;
};

class Group {
 public:
  explicit Group(int num_ranks) : size(num_ranks), shown(num_ranks), left_(num_ranks) {}

  void meet() {
    std::unique_lock lock(mutex_);
    const std::uint64_t generation = generation_;
    if (++arrived_ == size) {
      arrived_ = 0;
      ++generation_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return generation_ != generation || num_left_ > 0; });
    if (generation_ == generation) throw InternalError("another rank left the group");
  }

  void post(int from, int to, std::string message) {
    const std::lock_guard lock(mutex_);
    mail_[{from, to}].push_back(std::move(message));
    changed_.notify_all();
  }

  std::string take(int from, int to) {
    std::unique_lock lock(mutex_);
    auto& queue = mail_[{from, to}];
    changed_.wait(lock, [&] { return !queue.empty() || left_[from] || first_error_; });
    if (queue.empty()) throw InternalError("another rank left the group");
    std::string message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

  /// A rank has ended, with an error or without; whoever waits for it wakes up.
  void leave(int rank, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (error && !first_error_) first_error_ = error;
    left_[rank] = true;
    ++num_left_;
    changed_.notify_all();
  }
  std::exception_ptr first_error() const { return first_error_; }

  const int size;
  std::vector<Shown> shown;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  std::uint64_t generation_ = 0;
  std::vector<bool> left_;
  int num_left_ = 0;
  std::exception_ptr first_error_;
  std::map<std::pair<int, int>, std::deque<std::string>> mail_;
};

class ThreadRank : public Communicator {
 public:
  ThreadRank(Group& group, int rank) : group_(group), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return group_.size; }
  void barrier() override { group_.meet(); }
  void all_sum(std::span<std::int64_t> values) override { reduce(values, std::plus<>()); }
  void all_sum(std::span<std::uint64_t> values) override { reduce(values, std::plus<>()); }
  void all_max(std::span<double> values) override { reduce(values, larger); }
  void all_max(std::span<std::uint64_t> values) override { reduce(values, larger); }

  void broadcast(std::string& bytes, int root) override {
    collective({bytes.data(), nullptr, bytes.size()}, [&] {
      const Shown& from = group_.shown[root];
      if (rank_ != root) bytes.assign(static_cast<const char*>(from.data), from.size);
    });
  }

  void all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all,
                        std::span<const std::uint64_t> byte_counts) override {
    require(static_cast<int>(byte_counts.size()) == size() && byte_counts[rank_] == mine.size(),
            "all_gather: counts do not match");
    const std::vector<std::byte> copy(mine.begin(), mine.end());  // `mine` may lie inside `all`
    collective({copy.data(), nullptr, copy.size()}, [&] {
      std::uint64_t position = 0;
      for (int r = 0; r < size(); ++r) {
        require(group_.shown[r].size == byte_counts[r], "all_gather: ranks disagree about counts");
        require(position + byte_counts[r] <= all.size(), "all_gather: no room");
        if (byte_counts[r] != 0) std::memcpy(all.data() + position, group_.shown[r].data, byte_counts[r]);
        position += byte_counts[r];
      }
    });
  }

  Buffer<std::byte> all_to_all_bytes(std::span<const std::byte> send,
                                     std::span<const std::uint64_t> send_offsets,
                                     std::vector<std::uint64_t>& received_offsets) override {
    require(static_cast<int>(send_offsets.size()) == size() + 1 && send_offsets.back() <= send.size(),
            "all_to_all: offsets do not match");
    Buffer<std::byte> received;
    received_offsets.assign(size() + 1, 0);
    collective({send.data(), send_offsets.data(), send.size()}, [&] {
      for (int r = 0; r < size(); ++r) {
        const std::uint64_t* offsets = group_.shown[r].offsets;
        received_offsets[r + 1] = received_offsets[r] + (offsets[rank_ + 1] - offsets[rank_]);
      }
      received = Buffer<std::byte>(received_offsets.back());
      for (int r = 0; r < size(); ++r) {
        const std::uint64_t count = received_offsets[r + 1] - received_offsets[r];
        if (count == 0) continue;
        std::memcpy(received.data() + received_offsets[r],
                    static_cast<const std::byte*>(group_.shown[r].data) + group_.shown[r].offsets[rank_],
                    count);
      }
    });
    return received;
  }

  void send(std::span<const std::byte> bytes, int to) override {
    group_.post(rank_, to, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  std::string receive(int from) override { return group_.take(from, rank_); }

 private:
  template <class Read>
  void collective(Shown mine, Read read) {
    group_.shown[rank_] = mine;
    group_.meet();
    read();
    group_.meet();
  }

  static constexpr auto larger = [](auto a, auto b) { return a < b ? b : a; };

  template <class T, class Combine>
  void reduce(std::span<T> values, Combine combine) {
    std::vector<T> result;
    collective({values.data(), nullptr, values.size()}, [&] {
      const auto* first = static_cast<const T*>(group_.shown[0].data);
      result.assign(first, first + values.size());
      for (int r = 0; r < size(); ++r) {
        require(group_.shown[r].size == values.size(), "reduction: ranks disagree about the size");
        const auto* other = static_cast<const T*>(group_.shown[r].data);
        for (std::size_t i = 0; r > 0 && i < values.size(); ++i) result[i] = combine(result[i], other[i]);
      }
    });
    std::copy(result.begin(), result.end(), values.begin());
  }

  Group& group_;
  int rank_;
};

}  // namespace

void run_ranks(int num_ranks, const std::function<void(Communicator&)>& body) {
  require(num_ranks > 0, "run_ranks: no ranks");
  Group group(num_ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_ranks; ++rank)
    threads.emplace_back([&, rank] {
      std::exception_ptr error;
      omp_set_num_threads(1);
      try {
        ThreadRank comm(group, rank);
        body(comm);
      } catch (...) {
        error = std::current_exception();
      }
      group.leave(rank, error);
    });
  for (std::thread& thread : threads) thread.join();
  if (group.first_error()) std::rethrow_exception(group.first_error());
}

}  // namespace tessera::test
