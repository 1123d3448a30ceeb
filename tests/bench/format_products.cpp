// Single products of format_bench: graphs, unstructured matrices, ELLPACK-R's rivals, synthetic densities.
#include "engine/format_choice.hpp"
#include "engine/matrix_product.hpp"
#include "kernels/base/error.hpp"
#include "tests/bench/format_bench.hpp"
#include "tests/bench/stand_in_tables.hpp"

namespace tessera::bench {
namespace {

struct ProductGroup {
  std::string figures;
  std::vector<StandIn> stand_ins;
  std::vector<std::string> formats;  // empty: all there are
};

ProductGroup group_of(const std::string& name) {
  if (name == "power-law")
    return {"Yang et al. 2011: 2; Webbase also Matam and Kothapalli 2011: 4-7", power_law_stand_ins(), {}};
  if (name == "unstructured")
    return {"Yang et al. 2011: 7; Matam and Kothapalli 2011: 4-7", unstructured_stand_ins(), {}};
  if (name == "ellpack")
    return {"Vazquez et al. 2011: 4",
            ellpack_stand_ins(),
            {"csr-scalar", "csr-vector", "csr-half-warp", "ell", "hyb", "ellpack-r", "sell", "csr-ell"}};
  if (name == "densities")
    return {"Matam and Kothapalli 2011: 2",
            density_stand_ins(),
            {"ell", "ellpack-r", "sell", "csr-ell", "csr-vector", "hyb"}};
  throw OptionError("unknown group \"" + name + "\"");
}

template <class S>
std::vector<std::string> formats_of(const FormatBench<S>& bench, const ProductGroup& group) {
  if (!group.formats.empty()) return group.formats;
  std::vector<std::string> names;
  for (const ProductForm& form : product_forms(bench.on_device())) names.push_back(form.name);
  return names;
}

template <class S>
void measure_matrix(FormatBench<S>& bench, const ProductGroup& group, Json& line,
                    const SparseMatrix& matrix) {
  const CsrView<double> view = matrix.product_view();
  add_sizes(line, matrix);
  const MatrixFacts facts = matrix_facts(view);
  line["by_facts"] = choose_form(facts, bench.on_device(), sizeof(S) == sizeof(double));
  add_formats<S>(
      bench, line, formats_of(bench, group),
      [&](const std::string& format) { return make_product<S>(format, view, bench.backend); }, matrix,
      likely_forms(facts, bench.on_device()));
  print_line(line);
}

}  // namespace

template <class S>
void measure_products(FormatBench<S>& bench, const std::string& group_name) {
  const ProductGroup group = group_of(group_name);
  for (const StandIn& stand_in : group.stand_ins)
    guarded(bench, stand_in.name, [&] {
      Json line = new_line(bench, group_name, group.figures);
      name_stand_in(line, stand_in, bench.settings.shrink);
      measure_matrix(bench, group, line, generate(scaled(stand_in, bench.settings.shrink)));
    });
  if (group_name != "unstructured") return;
  for (const std::string& path : bench.settings.files)
    guarded(bench, path, [&] {
      Json line = new_line(bench, group_name, group.figures);
      name_file(line, path);
      measure_matrix(bench, group, line, read_matrix(path));
    });
}

template void measure_products(FormatBench<float>&, const std::string&);
template void measure_products(FormatBench<double>&, const std::string&);

}  // namespace tessera::bench
