# The libraries the project stands on; all of them Debian packages (tools/install-packages.sh).
option(TESSERA_LIBARCHIVE "Read bzip2, xz and archives through libarchive, when it is there" ON)
if(TESSERA_STATIC_DEPENDENCIES)
  set(Boost_USE_STATIC_LIBS ON)
  set(ZLIB_USE_STATIC_LIBS ON)
  set(TESSERA_LIBARCHIVE OFF)  # its static form needs a dozen further libraries
  add_link_options(LINKER:--as-needed)  # MPI's C++ bindings, for one, are not everywhere
endif()

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(TBB REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
if(TESSERA_PROGRAM)
  find_package(spdlog REQUIRED)
  find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
endif()
if(TESSERA_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)  # the C++ bindings, which left the standard
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()

# Debian has no static fmt and spdlog; their header-only forms need no library at run time.
add_library(tessera_fmt INTERFACE)
add_library(tessera_spdlog INTERFACE)  # of the program
if(TESSERA_STATIC_DEPENDENCIES)
  target_link_libraries(tessera_fmt INTERFACE fmt::fmt-header-only)
  target_link_libraries(tessera_spdlog INTERFACE spdlog::spdlog_header_only fmt::fmt-header-only)
else()
  target_link_libraries(tessera_fmt INTERFACE fmt::fmt)
  target_link_libraries(tessera_spdlog INTERFACE spdlog::spdlog)
endif()

# Finds a library without a CMake package through pkg-config; its static form when asked for.
function(tessera_find_library name package library)
  pkg_check_modules(${package} REQUIRED IMPORTED_TARGET ${package})
  add_library(${name} INTERFACE)
  if(TESSERA_STATIC_DEPENDENCIES)
    find_library(${library}_STATIC NAMES lib${library}.a REQUIRED)
    target_link_libraries(${name} INTERFACE ${${library}_STATIC})
  else()
    target_link_libraries(${name} INTERFACE PkgConfig::${package})
  endif()
endfunction()
tessera_find_library(tessera_xxhash libxxhash xxhash)

# METIS cuts graphs for the format `packet`. It is loaded when it is asked for (Debian has no static form, and
# the program is to run where it is not), so the header is all that is needed here.
set(TESSERA_WITH_METIS OFF)
find_path(METIS_INCLUDE_DIR metis.h)
if(METIS_INCLUDE_DIR)
  set(TESSERA_WITH_METIS ON)
else()
  message(STATUS "metis.h not found (Debian: libmetis-dev): no graphs are cut for the format packet")
endif()

# gzip goes through zlib in every case, because libarchive checks no CRC of it; libarchive reads the other
# compressions and archives, and without it zstd is left.
add_library(tessera_compression INTERFACE)
target_link_libraries(tessera_compression INTERFACE ZLIB::ZLIB)
if(TESSERA_LIBARCHIVE)
  find_package(LibArchive)
endif()
set(TESSERA_WITH_LIBARCHIVE OFF)
if(TESSERA_LIBARCHIVE AND LibArchive_FOUND)
  set(TESSERA_WITH_LIBARCHIVE ON)
  target_link_libraries(tessera_compression INTERFACE LibArchive::LibArchive)
  target_compile_definitions(tessera_compression INTERFACE TESSERA_HAVE_LIBARCHIVE=1)
else()
  tessera_find_library(tessera_zstd libzstd zstd)
  target_link_libraries(tessera_compression INTERFACE tessera_zstd)
  message(STATUS "without libarchive: gzip and zstd only, no archives")
endif()
