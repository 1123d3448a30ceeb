// The vendor's library, loaded when it is first asked for: the program runs without it.
#pragma once
#include <cusparse.h>

#include <cstdint>

namespace tessera::cuda {

/// Its functions that are used here, under their names without "cusparse".
struct CusparseLibrary {
  decltype(&cusparseCreate) create;
  decltype(&cusparseGetErrorString) error_string;
  decltype(&cusparseCreateCsr) create_csr;
  decltype(&cusparseCreateCoo) create_coo;
  decltype(&cusparseCreateSlicedEll) create_sliced_ell;
  decltype(&cusparseDestroySpMat) destroy_matrix;
  decltype(&cusparseCreateDnVec) create_vector;
  decltype(&cusparseDestroyDnVec) destroy_vector;
  decltype(&cusparseDnVecSetValues) set_values;
  decltype(&cusparseSpMV_bufferSize) buffer_size;
  decltype(&cusparseSpMV_preprocess) preprocess;
  decltype(&cusparseSpMV) multiply;
  decltype(&cusparseCsrSetStridedBatch) set_matrix_batch;
  decltype(&cusparseCreateDnMat) create_dense;
  decltype(&cusparseDestroyDnMat) destroy_dense;
  decltype(&cusparseDnMatSetStridedBatch) set_dense_batch;
  decltype(&cusparseDnMatSetValues) set_dense_values;
  decltype(&cusparseSpMM_bufferSize) dense_buffer_size;
  decltype(&cusparseSpMM_preprocess) dense_preprocess;
  decltype(&cusparseSpMM) multiply_dense;
};

/// Throws ResourceError with the loader's words when the library is not there.
const CusparseLibrary& cusparse();

/// Throws ResourceError "cuSPARSE: CALL: reason".
void check_cusparse(cusparseStatus_t status, const char* call);
#define TESSERA_CUSPARSE_CALL(call) ::tessera::cuda::check_cusparse((::tessera::cuda::cusparse().call), #call)

/// One of the process, for its default stream; never given back.
cusparseHandle_t cusparse_handle();
/// Sizes are given to the library as 32-bit numbers: throws ResourceError for one that is larger.
std::int32_t cusparse_int(std::uint64_t size);

}  // namespace tessera::cuda
