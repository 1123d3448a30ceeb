// Marks what the program is doing for profilers (NVTX); nothing where CUDA is not built in.
#pragma once

namespace tessera {

/// From construction to destruction, on this thread.
class ProfileRange {
 public:
  explicit ProfileRange(const char* name);
  ~ProfileRange();
  ProfileRange(const ProfileRange&) = delete;
  ProfileRange& operator=(const ProfileRange&) = delete;
};

}  // namespace tessera
