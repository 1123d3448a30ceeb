// What kernels/devices.hpp says, for CUDA.
#pragma once
#include <string>

namespace tessera::cuda {

int num_devices();
void use_device(int index);
std::string device_problem();
std::string device_uuid(int index);
std::string device_name();

}  // namespace tessera::cuda
