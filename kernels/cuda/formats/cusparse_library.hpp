// The vendor's library, loaded when it is first asked for: the program runs without it.
#pragma once
#include <cusparse.h>

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
};

/// Throws ResourceError with the loader's words when the library is not there.
const CusparseLibrary& cusparse();

/// Throws ResourceError "cuSPARSE: CALL: reason".
void check_cusparse(cusparseStatus_t status, const char* call);

}  // namespace tessera::cuda
