#include "tools/bar_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/io/utf8.hpp"
#include "kernels/base/error.hpp"

namespace tessera::cli {
namespace {

// Lengths are SVG user units, which viewers show as pixels.
constexpr double kTitleSize = 15, kTextSize = 12, kValueSize = 10;
constexpr double kMargin = 12, kLeastBarPitch = 26, kWideBarPitch = 48, kLeastPlotWidth = 180,
                 kLeastPlotHeight = 260;
constexpr double kSwatch = 11, kLegendPitch = 18;
constexpr double kLevelNameWidth = 90;       ///< a longer name is written aslant
constexpr std::size_t kMostLevelNames = 10;  ///< with more names, any that its bars cannot hold turns all
constexpr double kSlantDegrees = 35, kSlantSine = 0.574, kSlantCosine = 0.819;

/// Okabe and Ito's colours, told apart with any kind of colour blindness; black is left to the text.
constexpr std::array<std::string_view, 7> kColours{"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                   "#56b4e9", "#cc79a7", "#f0e442"};

struct Axis {
  double step = 0;
  int count = 0;     ///< ticks above 0
  int decimals = 0;  ///< of `step`
  double top() const { return step * count; }
};

struct Layout {
  double pitch = 0, group = 0;  ///< from bar to bar, from name to name
  double left = 0, top = 0, plot_width = 0, plot_height = 0;
  double names_height = 0, legend_width = 0, chart_width = 0;
  bool slanted = false;
  double right() const { return left + plot_width; }
  double bottom() const { return top + plot_height; }
  double centre(std::size_t name) const { return left + (static_cast<double>(name) + 0.5) * group; }
};

std::string xml_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const Utf8Character character = first_utf8_character(text);
    const std::uint32_t c = character.code_point;
    if (!character.valid || c < 0x20 || c == 0xFFFE || c == 0xFFFF)
      safe += "\xEF\xBF\xBD";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else if (c == '\'')
      safe += "&apos;";
    else
      safe += text.substr(0, character.num_bytes);
    text.remove_prefix(character.num_bytes);
  }
  return safe;
}

/// A guess on the wide side: the viewer chooses the font. East Asian characters fill a square.
double text_width(std::string_view text, double size) {
  double width = 0;
  while (!text.empty()) {
    const Utf8Character character = first_utf8_character(text);
    width += character.valid && character.code_point < 0x1100 ? 0.63 : 1.0;
    text.remove_prefix(character.num_bytes);
  }
  return width * size;
}

double widest(const std::vector<std::string>& texts, double size) {
  double width = 0;
  for (const auto& text : texts) width = std::max(width, text_width(text, size));
  return width;
}

struct Decimal {
  std::string digits;  ///< "1.23"
  int exponent = 0;
};

Decimal three_digits(double value) {
  const std::string text = fmt::format("{:.2e}", value);
  const std::size_t end = text.find('e');
  Decimal decimal{text.substr(0, end), 0};
  const std::size_t first = text[end + 1] == '+' ? end + 2 : end + 1;
  std::from_chars(text.data() + first, text.data() + text.size(), decimal.exponent);
  return decimal;
}

std::string value_text(double value) {
  if (std::isnan(value)) return "n/a";
  if (value == 0) return "0";
  const auto [digits, exponent] = three_digits(value);
  if (exponent < -3 || exponent > 5) return fmt::format("{}e{}", digits, exponent);
  const double unit = std::pow(10.0, exponent - 2);
  // The digits are settled before the places are: 9.996 is 10.0, not 10.00, and 123456 is 123000.
  const double rounded = exponent > 2 ? std::round(value / unit) * unit : value;
  return fmt::format("{:.{}f}", rounded, std::max(0, 2 - exponent));
}

std::string tick_text(const Axis& axis, int tick) {
  if (tick == 0) return "0";
  if (axis.step >= 1e-4 && axis.top() < 1e6) return fmt::format("{:.{}f}", axis.step * tick, axis.decimals);
  auto [digits, exponent] = three_digits(axis.step * tick);
  digits.erase(digits.find_last_not_of(".0") + 1);
  return fmt::format("{}e{}", digits, exponent);
}

double largest_value(const BarChart& chart) {
  double largest = 0;
  for (const auto& series : chart.series)
    for (const double value : series.values)
      if (value > largest) largest = value;
  return largest;
}

/// The smallest round step that needs at most 7 ticks above 0. Round steps grow at most twofold, so the next
/// smaller one would need at most twice as many: there are always 4 or more.
Axis value_axis(double largest) {
  if (largest < 1e-300) largest = 1;
  const int exponent = static_cast<int>(std::floor(std::log10(largest / 7)));
  Axis axis;
  for (const double digit : {1.0, 2.0, 2.5, 5.0, 10.0}) {
    const int decimals = -exponent + (digit == 2.5 ? 1 : 0) - (digit == 10 ? 1 : 0);
    const double step = digit * std::pow(10.0, exponent);
    // The slack forgives that 0.1 * 7 is not 0.7.
    axis = {step, static_cast<int>(std::ceil(largest / step - 1e-9)), std::max(0, decimals)};
    if (axis.count <= 7) break;
  }
  return axis;
}

void check(const BarChart& chart) {
  for (const auto& series : chart.series) {
    if (series.values.size() != chart.names.size())
      throw InternalError(fmt::format("bar chart: series \"{}\" has {} values, expected {}, one a name",
                                      series.name, series.values.size(), chart.names.size()));
    for (const double value : series.values)
      if (value < 0 || value > 1e300)
        throw InternalError(fmt::format("bar chart: series \"{}\" has the value {}, expected 0 to 1e300",
                                        series.name, value));
  }
}

double bar_pitch(const BarChart& chart) {
  double pitch = kLeastBarPitch;
  for (const auto& series : chart.series)
    for (const double value : series.values)
      pitch = std::max(pitch, text_width(value_text(value), kValueSize) + 4);
  return pitch;
}

void place_names(const BarChart& chart, Layout& layout) {
  const auto num_bars = static_cast<double>(std::max<std::size_t>(1, chart.series.size()));
  const double longest = widest(chart.names, kTextSize);
  layout.pitch = bar_pitch(chart);
  layout.group = layout.pitch * (num_bars + 0.5);
  layout.slanted =
      longest + 6 > layout.group && (longest > kLevelNameWidth || chart.names.size() > kMostLevelNames);
  const auto num_names = static_cast<double>(std::max<std::size_t>(1, chart.names.size()));
  const double for_name = layout.slanted ? 0 : longest + 6;
  layout.group = std::max({layout.group, for_name, kLeastPlotWidth / num_names});
  const double room = layout.group / (num_bars + 0.5);
  layout.pitch = std::max(layout.pitch, std::min(room, kWideBarPitch));
  layout.names_height = kTextSize + 6 + (layout.slanted ? longest * kSlantSine : 0);
}

Layout lay_out(const BarChart& chart, const Axis& axis) {
  Layout layout;
  place_names(chart, layout);
  double ticks_width = 0;
  for (int tick = 0; tick <= axis.count; ++tick)
    ticks_width = std::max(ticks_width, text_width(tick_text(axis, tick), kTextSize));
  layout.left = kMargin + kTextSize + 8 + ticks_width + 8;
  for (std::size_t i = 0; layout.slanted && i < chart.names.size(); ++i) {
    const double reach = text_width(chart.names[i], kTextSize) * kSlantCosine + kMargin;
    layout.left = std::max(layout.left, reach - (static_cast<double>(i) + 0.5) * layout.group);
  }
  if (chart.series.size() > 1) {
    for (const auto& series : chart.series)
      layout.legend_width = std::max(layout.legend_width, text_width(series.name, kTextSize));
    layout.legend_width += kSwatch + 6 + kMargin;
  }
  layout.top = kMargin + kTitleSize + 10 + kValueSize + 6;
  layout.plot_width = std::max(kLeastPlotWidth, layout.group * static_cast<double>(chart.names.size()));
  const double legend_height = kLegendPitch * static_cast<double>(chart.series.size());
  layout.plot_height = std::max({kLeastPlotHeight, text_width(chart.value_label, kTextSize), legend_height});
  const double title_width = text_width(chart.title, kTitleSize) + 2 * kMargin;
  layout.chart_width = std::max(title_width, layout.right() + layout.legend_width + kMargin);
  return layout;
}

struct Svg {
  std::string out;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  }
  void line(double x1, double y1, double x2, double y2, std::string_view colour) {
    add("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
        colour);
  }
  void text(double x, double y, double size, std::string_view attributes, std::string_view content) {
    add("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{}\" {}>{}</text>\n", x, y, size, attributes,
        xml_text(content));
  }
  /// A round of colours that came before is told apart by paler bars with the same outline.
  void bar(std::string_view kind, double x, double y, double width, double height, std::size_t series) {
    const double opacity = 1.0 / static_cast<double>(1 + series / kColours.size());
    const std::string_view colour = kColours[series % kColours.size()];
    add("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
        "fill-opacity=\"{:.2f}\" stroke=\"{}\"/>\n",
        kind, x, y, width, height, colour, opacity, colour);
  }
};

void draw_axis(Svg& svg, const BarChart& chart, const Axis& axis, const Layout& at) {
  for (int tick = 0; tick <= axis.count; ++tick) {
    const double y = at.bottom() - at.plot_height * tick / axis.count;
    if (tick > 0) svg.line(at.left, y, at.right(), y, "#dddddd");
    svg.line(at.left - 4, y, at.left, y, "#333333");
    svg.text(at.left - 7, y + 0.35 * kTextSize, kTextSize, "class=\"tick\" text-anchor=\"end\"",
             tick_text(axis, tick));
  }
  svg.line(at.left, at.top, at.left, at.bottom(), "#333333");
  const double x = kMargin + kTextSize, y = (at.top + at.bottom()) / 2;
  const auto turn =
      fmt::format("class=\"label\" text-anchor=\"middle\" transform=\"rotate(-90 {:.2f} {:.2f})\"", x, y);
  svg.text(x, y, kTextSize, turn, chart.value_label);
}

void draw_bars(Svg& svg, const BarChart& chart, const Axis& axis, const Layout& at) {
  const double middle = (static_cast<double>(chart.series.size()) - 1) / 2;
  const double width = chart.series.size() > 1 ? 0.9 * at.pitch : at.pitch;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    for (std::size_t i = 0; i < chart.names.size(); ++i) {
      const double value = chart.series[s].values[i];
      const double x = at.centre(i) + (static_cast<double>(s) - middle) * at.pitch;
      const double height = std::isnan(value) ? 0 : at.plot_height * std::abs(value / axis.top());
      const double y = at.bottom() - height;
      if (!std::isnan(value)) svg.bar("bar", x - width / 2, y, width, height, s);
      svg.text(x, y - 4, kValueSize, "class=\"value\" text-anchor=\"middle\"", value_text(value));
    }
  }
  svg.line(at.left, at.bottom(), at.right(), at.bottom(), "#333333");
}

void draw_names(Svg& svg, const BarChart& chart, const Layout& at) {
  const double y = at.bottom() + kTextSize + 4;
  for (std::size_t i = 0; i < chart.names.size(); ++i) {
    const double x = at.centre(i);
    const auto look =
        at.slanted ? fmt::format("class=\"name\" text-anchor=\"end\" transform=\"rotate(-{} {:.2f} {:.2f})\"",
                                 kSlantDegrees, x, y)
                   : std::string("class=\"name\" text-anchor=\"middle\"");
    svg.text(x, y, kTextSize, look, chart.names[i]);
  }
}

void draw_legend(Svg& svg, const BarChart& chart, const Layout& at) {
  if (chart.series.size() < 2) return;
  const double x = at.right() + kMargin;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const double y = at.top + kLegendPitch * static_cast<double>(s);
    svg.bar("swatch", x, y, kSwatch, kSwatch, s);
    svg.text(x + kSwatch + 6, y + kSwatch - 1, kTextSize, "class=\"legend\"", chart.series[s].name);
  }
}

}  // namespace

std::string bar_chart_svg(const BarChart& chart) {
  check(chart);
  const Axis axis = value_axis(largest_value(chart));
  const Layout layout = lay_out(chart, axis);
  const double width = std::ceil(layout.chart_width);
  const double height = std::ceil(layout.bottom() + layout.names_height + kMargin);
  Svg svg;
  svg.add("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  svg.add(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" fill=\"#111111\">\n",
      width, height);
  svg.add("<title>{}</title>\n", xml_text(chart.title));
  svg.add("<rect class=\"background\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  svg.text(width / 2, kMargin + kTitleSize, kTitleSize,
           "class=\"title\" text-anchor=\"middle\" font-weight=\"bold\"", chart.title);
  draw_axis(svg, chart, axis, layout);
  draw_bars(svg, chart, axis, layout);
  draw_names(svg, chart, layout);
  draw_legend(svg, chart, layout);
  svg.add("</svg>\n");
  return svg.out;
}

}  // namespace tessera::cli
