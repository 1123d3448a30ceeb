#include "tools/version.hpp"

#include <fmt/format.h>
#include <boost/version.hpp>

#include "tools/commit.hpp"  // written by the build
#ifdef TESSERA_HAVE_MPI
#include <mpi.h>
#endif

namespace tessera::cli {
namespace {

std::string compiler_text() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string mpi_text() {
#if defined(OMPI_MAJOR_VERSION)
  return fmt::format("Open MPI {}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#elif defined(TESSERA_HAVE_MPI)
  return fmt::format("MPI {}.{}", MPI_VERSION, MPI_SUBVERSION);
#else
  return "none";
#endif
}

}  // namespace

nlohmann::ordered_json version_json() {
  return {{"tessera", TESSERA_VERSION},
          {"commit", TESSERA_COMMIT},
          {"compiler", compiler_text()},
          {"mpi", mpi_text()},
          {"openmp", fmt::format("{}", _OPENMP)},
          {"boost", BOOST_LIB_VERSION},
          {"cuda", TESSERA_CUDA},
          {"nccl", TESSERA_NCCL},
          {"cusparse", TESSERA_CUSPARSE},
          {"metis", TESSERA_METIS},
          {"libarchive", TESSERA_LIBARCHIVE}};
}

std::string version_text() {
  const auto version = version_json();
  std::string text = fmt::format("tessera {}\n", version["tessera"].get<std::string>());
  for (const auto& [key, value] : version.items())
    if (key != "tessera") text += fmt::format("  {:<10} {}\n", key, value.get<std::string>());
  return text;
}

}  // namespace tessera::cli
