#include "tests/bench/stand_in_tables.hpp"

namespace tessera::bench {
namespace {

/// Rows and columns of a social or web graph; what is frequent among columns is independent of long rows.
StandIn graph(const char* name, std::uint64_t size, std::uint64_t num_nonzeros, std::uint64_t longest,
              double steepness, std::uint64_t scaled_by) {
  constexpr double kSkew = 2;  // the most frequent column has a share of 1 / sqrt(size) of the non-zeros
  return {.name = name,
          .num_rows = size,
          .num_cols = size,
          .num_nonzeros = num_nonzeros,
          .lengths = Lengths::power,
          .longest = longest,
          .steepness = steepness,
          .places = Places::skewed,
          .skew = kSkew,
          .scaled_by = scaled_by};
}

/// Square, columns around the diagonal in runs of `run`.
StandIn mesh(const char* name, std::uint64_t size, std::uint64_t num_nonzeros, double deviation,
             std::uint64_t longest, unsigned run, std::uint64_t scaled_by = 1) {
  constexpr double kReach = 20;  // too wide for diagonals, as most meshes are
  return {.name = name,
          .num_rows = size,
          .num_cols = size,
          .num_nonzeros = num_nonzeros,
          .longest = longest,
          .deviation = deviation,
          .places = Places::band,
          .reach = kReach,
          .run = run,
          .scaled_by = scaled_by};
}

/// Square, columns anywhere.
StandIn loose(const char* name, std::uint64_t size, std::uint64_t num_nonzeros, double deviation,
              std::uint64_t longest) {
  return {.name = name,
          .num_rows = size,
          .num_cols = size,
          .num_nonzeros = num_nonzeros,
          .longest = longest,
          .deviation = deviation};
}

/// Shared by the papers; "Table I" of the ELLPACK-R paper has their deviations and longest rows.
std::vector<StandIn> regular_matrices() {
  StandIn epidemiology = mesh("Epidemiology", 525825, 2100225, 0.08, 4, 1);
  epidemiology.reach = 1;  // a grid in order: few diagonals
  return {loose("Dense", 2000, 4000000, 0, 2000),
          mesh("Protein", 36417, 4344765, 31.86, 204, 3),
          mesh("FEM/Spheres", 83334, 6010480, 19.08, 81, 3),
          mesh("FEM/Cantilever", 62451, 4007383, 14.06, 78, 3),
          mesh("Wind Tunnel", 217918, 11634424, 4.74, 181, 6),
          mesh("FEM/Harbor", 46835, 2374001, 27.78, 145, 3),
          mesh("QCD", 49152, 1916928, 0, 39, 3),
          mesh("FEM/Ship", 140874, 7813404, 11.07, 102, 6),
          loose("Economics", 206500, 1273389, 4.43, 44),
          epidemiology,
          mesh("FEM/Accelerator", 121192, 2624331, 13.79, 81, 1)};
}

}  // namespace

std::vector<StandIn> power_law_stand_ins() {
  return {graph("Webbase", 1000005, 3105536, 4700, 0.76, 1),
          graph("Flickr", 1715255, 22613981, 26367, 0.59, 1),
          graph("LiveJournal", 5204176, 77402652, 15017, 0.49, 3),
          graph("Wikipedia", 1870709, 39953145, 187671, 0.72, 2),
          graph("Youtube", 1138499, 4942297, 28644, 0.72, 1)};
}

std::vector<StandIn> unstructured_stand_ins() {
  std::vector<StandIn> all = regular_matrices();
  StandIn circuit = loose("Circuit", 170998, 958936, 0, 353);
  circuit.lengths = Lengths::power;
  circuit.steepness = 0.4;
  all.push_back(circuit);
  all.push_back({.name = "LP",
                 .num_rows = 4284,
                 .num_cols = 1092610,
                 .num_nonzeros = 11279748,
                 .lengths = Lengths::power,
                 .longest = 56181,
                 .steepness = 0.66});
  return all;
}

std::vector<StandIn> ellpack_stand_ins() {
  std::vector<StandIn> all = {loose("qh1484", 1484, 6110, 1.60, 13),
                              mesh("dw2048", 2048, 10114, 0.61, 8, 1),
                              mesh("rbs480a", 480, 17087, 0.49, 36, 1),
                              loose("gemat12", 4929, 33111, 3.01, 44),
                              mesh("dw8192", 8192, 41746, 0.61, 8, 1),
                              mesh("mhd3200a", 3200, 68026, 5.83, 33, 1),
                              mesh("e20r4000", 4241, 131556, 15.40, 62, 2),
                              mesh("bcsstk24", 3562, 159910, 11.49, 57, 3),
                              loose("wbp128", 16384, 3933095, 34.78, 256),
                              {.name = "wbp256",
                               .num_rows = 65536,
                               .num_cols = 65536,
                               .num_nonzeros = 31413932,
                               .longest = 512,
                               .deviation = 70.53,
                               .scaled_by = 4}};
  for (const StandIn& shared : regular_matrices()) all.push_back(shared);
  return all;
}

std::vector<StandIn> density_stand_ins() {
  struct Density {
    const char* name;
    double short_share, long_share;
  };
  std::vector<StandIn> all;
  for (const std::uint64_t rows : {32768u, 131072u})
    for (const std::uint64_t longest : {64u, 96u, 128u})
      for (const Density& density : {Density{"F1", 0.60, 0.10}, {"F2", 0.38, 0.32}, {"F3", 0.15, 0.55}})
        all.push_back({.name = density.name,
                       .num_rows = rows,
                       .num_cols = rows,
                       .lengths = Lengths::quarters,
                       .longest = longest,
                       .short_share = density.short_share,
                       .long_share = density.long_share});
  return all;
}

std::vector<StandIn> batch_stand_ins() {
  // Deviations and longest rows are guesses from the kind of problem: the paper has no table.
  return {loose("pivtol", 102, 306, 0.5, 6),       loose("tomography", 500, 28726, 20, 200),
          loose("west0989", 989, 3518, 2.5, 12),   loose("G45", 1000, 19980, 4.2, 35),
          loose("GD02_a", 23, 87, 2, 10),          mesh("Si2", 769, 17801, 6, 60, 1),
          mesh("ck656", 656, 3884, 1.5, 8, 1),     mesh("ex25", 848, 24369, 10, 60, 3),
          loose("jgl011", 11, 76, 1.5, 10),        mesh("lock_700", 700, 22175, 12, 60, 6),
          loose("fs_541_1", 541, 4282, 1.5, 11),   loose("mbeacxc", 492, 49920, 100, 484),
          mesh("dwt_918", 918, 7384, 2, 13, 1),    mesh("mcfe", 765, 24382, 15, 81, 1),
          mesh("dwt_607", 607, 5131, 2.2, 14, 1),  mesh("rbsa480", 480, 17088, 0.5, 36, 1),
          mesh("gr_30_30", 900, 7744, 1, 9, 1),    mesh("bcsstk34", 588, 21418, 12, 60, 3),
          mesh("cage8", 1015, 11003, 2.5, 20, 1),  mesh("ex27", 974, 40782, 15, 80, 3),
          mesh("can_838", 838, 10010, 4, 32, 1),   mesh("bcsstm34", 588, 24270, 12, 60, 3),
          loose("USAir97", 332, 4252, 20, 139),    loose("bp_1600", 822, 4841, 5, 60),
          mesh("rotor2", 791, 10685, 8, 60, 1),    mesh("msc00726", 726, 34518, 20, 90, 3),
          mesh("nos3", 960, 15844, 2.5, 18, 2),    loose("G2", 800, 38352, 6.5, 70),
          mesh("dwt_992", 992, 16744, 1.5, 18, 1), mesh("ex2", 441, 26839, 20, 100, 3),
          loose("tols90", 90, 1746, 8, 30),        mesh("bcsstk02", 66, 4356, 0, 66, 3)};
}

}  // namespace tessera::bench
