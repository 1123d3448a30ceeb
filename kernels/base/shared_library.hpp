// Functions of libraries that are loaded when they are first needed.
#pragma once
#include <dlfcn.h>

#include <string>

#include "kernels/base/error.hpp"

namespace tessera {

/// library: of dlopen(); library_name: for the message. Throws ResourceError where it has no such function.
template <class Function>
void find_function(void* library, const std::string& library_name, const char* name, Function& function) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) throw ResourceError(library_name + ": " + name + " is not in the library");
  function = reinterpret_cast<Function>(symbol);
}

}  // namespace tessera
