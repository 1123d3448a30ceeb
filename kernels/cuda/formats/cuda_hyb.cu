#include "kernels/formats/hyb.hpp"

namespace tessera {

template <class S>
void multiply_on_device(const Hyb<S>& a, const S* x, S* y) {
  multiply_on_device(a.ell, x, y);
  add_on_device(a.coo, x, y);
}

template void multiply_on_device(const Hyb<float>&, const float*, float*);
template void multiply_on_device(const Hyb<double>&, const double*, double*);

}  // namespace tessera
