# GPU support: sets TESSERA_WITH_CUDA. AUTO takes it where nvcc is found, ON insists, OFF never looks.
set(TESSERA_WITH_CUDA OFF)
if(NOT TESSERA_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TESSERA_CUDA: expected AUTO, ON or OFF, found \"${TESSERA_CUDA}\"")
endif()
if(TESSERA_CUDA STREQUAL "OFF")
  return()
endif()

include(CheckLanguage)
if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(TESSERA_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TESSERA_CUDA=ON, but no nvcc was found: install the CUDA Toolkit, put nvcc on the PATH, "
                        "or configure with -DTESSERA_CUDA=AUTO")
  endif()
  message(STATUS "nvcc not found: CPU only")
  return()
endif()

# The GPUs of this machine; without one the H200's generation, with PTX for later ones. The kernels need
# compute capability 8.0.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  RESULT_VARIABLE no_gpu OUTPUT_VARIABLE capabilities ERROR_QUIET)
  if(no_gpu OR NOT capabilities MATCHES "[0-9]")
    set(CMAKE_CUDA_ARCHITECTURES 90)
  elseif(capabilities MATCHES "(^|\n)[1-7]\\.")
    if(TESSERA_CUDA STREQUAL "ON")
      message(FATAL_ERROR "TESSERA_CUDA=ON, but a GPU here is older than compute capability 8.0: configure with "
                          "-DTESSERA_CUDA=OFF, or for another one with -DCMAKE_CUDA_ARCHITECTURES=90")
    endif()
    message(STATUS "a GPU here is older than compute capability 8.0: CPU only")
    return()
  else()
    set(CMAKE_CUDA_ARCHITECTURES native)
  endif()
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
# Debian's CMake 3.25 does not know nvcc's flag for C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
# As for the host (cmake/compile_flags.cmake): no fused multiply-add, so that bits agree.
string(APPEND CMAKE_CUDA_FLAGS " -fmad=false --extended-lambda")
# OpenMP's target has the flag for C++ alone, but host code of .cu files works with all threads, too.
string(APPEND CMAKE_CUDA_FLAGS " -Xcompiler=${OpenMP_CXX_FLAGS}")
set(TESSERA_WITH_CUDA ON)

# The vendor's products, to be compared with: loaded when asked for, so the header is all that is needed here.
set(TESSERA_WITH_CUSPARSE OFF)
find_path(CUSPARSE_INCLUDE_DIR cusparse.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(CUSPARSE_INCLUDE_DIR)
  set(TESSERA_WITH_CUSPARSE ON)
endif()

# NCCL links the GPUs of several ranks; without it they talk through the host.
set(TESSERA_WITH_NCCL OFF)
if(TESSERA_MPI)
  set(nccl_names nccl)
  if(TESSERA_STATIC_DEPENDENCIES)
    list(PREPEND nccl_names libnccl_static.a)
  endif()
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(NCCL_LIBRARY NAMES ${nccl_names} HINTS ${CUDAToolkit_LIBRARY_DIR})
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(TESSERA_WITH_NCCL ON)
    message(STATUS "NCCL ${NCCL_LIBRARY}")
  else()
    message(STATUS "NCCL not found: several GPUs exchange vectors through the host (--exchange mpi)")
  endif()
endif()
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
