// Vertical bar charts as SVG text, in the manner of papers' figures on sparse matrix formats: one bar a
// format, one group of bars a format when there are several series.
#pragma once
#include <string>
#include <vector>

namespace tessera::cli {

/// One colour of bars.
struct BarSeries {
  std::string name;            ///< for the legend, which a chart of one series does not have
  std::vector<double> values;  ///< from 0 to 1e300; NaN: no bar, the text "n/a" stands there
};

struct BarChart {
  std::string title, value_label;  ///< value_label: what the vertical axis shows, with its unit
  std::vector<std::string> names;  ///< below the bars, one a group
  std::vector<BarSeries> series;   ///< each with as many values as `names`
};

/// The chart as the text of an SVG file: no external fonts, scripts or style sheets; readable in light and
/// dark viewers (white background). Bars are the <rect> of class "bar", by series and then by name. All
/// strings may hold any bytes: those that XML has no place for become U+FFFD. Throws InternalError when the
/// sizes do not fit or a value is negative or above 1e300.
std::string bar_chart_svg(const BarChart& chart);

}  // namespace tessera::cli
