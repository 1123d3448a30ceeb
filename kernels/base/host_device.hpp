// TESSERA_HD marks functions that the host and the device compile alike. The only cross-compiler macro.
#pragma once
#ifdef __CUDACC__
#define TESSERA_HD __host__ __device__
#else
#define TESSERA_HD
#endif
