#include "kernels/devices.hpp"

#include <system_error>

#ifdef TESSERA_HAVE_CUDA
#include "kernels/cuda/cuda_devices.hpp"
#else
#include "kernels/base/error.hpp"
#endif

namespace tessera {

#ifdef TESSERA_HAVE_CUDA
int num_devices() { return cuda::num_devices(); }
void use_device(int index) { cuda::use_device(index); }
std::string device_problem() { return cuda::device_problem(); }
std::string device_uuid(int index) { return cuda::device_uuid(index); }
std::string device_name() { return cuda::device_name(); }
#else
int num_devices() { return 0; }
void use_device(int) { throw InternalError("this build knows no devices"); }
std::string device_problem() { throw InternalError("this build knows no devices"); }
std::string device_uuid(int) { throw InternalError("this build knows no devices"); }
std::string device_name() { throw InternalError("this build knows no devices"); }
#endif

std::future<void> start_device(int index) {
  try {
    return std::async(std::launch::async, [index] {
      if (index >= num_devices()) return;
      use_device(index);
      (void)device_problem();
    });
  } catch (const std::system_error&) {  // no thread is to be had: then it starts when it is asked for
    return {};
  }
}

}  // namespace tessera
