// The GPUs that this process sees. Without CUDA there are none.
#pragma once
#include <future>
#include <string>

namespace tessera {

/// 0 where no driver answers.
int num_devices();
/// Finds the devices and starts this one, which takes 0.2 s, while the caller does other things. Who asks for
/// a device meanwhile waits, and finds what is wrong with it as ever; the result waits before it goes.
std::future<void> start_device(int index = 0);
/// All later work of this process goes to device `index`.
void use_device(int index);
/// Why the device in use cannot run the kernels of this build, with the remedy; empty where it can.
std::string device_problem();
/// Names device `index` among all devices of all machines; it need not have started.
std::string device_uuid(int index);
/// The model of the device in use.
std::string device_name();

}  // namespace tessera
