// Bar charts as SVG: read back from the text alone, by a small reader of elements written here.
#include "tools/bar_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "kernels/base/error.hpp"

namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Element {
  std::string tag;
  std::map<std::string, std::string> attributes;
  std::string content;  ///< the text up to the next tag, references resolved
  double number(const std::string& name) const { return std::stod(attributes.at(name)); }
};

std::string resolved(std::string_view text) {
  const std::map<std::string, char, std::less<>> references{
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  std::string plain;
  while (!text.empty()) {
    const char c = text[0];
    if (c == '<' || c == '>' || c == '"' || c == '\'') throw std::runtime_error("a bare mark");
    const std::size_t length = c == '&' ? text.find(';') + 1 : 1;
    if (length == 0) throw std::runtime_error("a bare &");
    const auto reference = references.find(text.substr(1, length > 1 ? length - 2 : 0));
    if (c == '&' && reference == references.end()) throw std::runtime_error("an unknown reference");
    plain += c == '&' ? reference->second : c;
    text.remove_prefix(length);
  }
  return plain;
}

/// The inside of a start tag: a name and NAME="VALUE" for each attribute, none twice.
Element start_tag(std::string_view inside) {
  Element element;
  element.tag = inside.substr(0, inside.find(' '));
  inside.remove_prefix(element.tag.size());
  while (!inside.empty()) {
    const std::size_t equals = inside.find("=\"");
    const std::size_t end = equals == inside.npos ? inside.npos : inside.find('"', equals + 2);
    if (inside[0] != ' ' || end == inside.npos) throw std::runtime_error("an attribute without a value");
    const std::string name(inside.substr(1, equals - 1));
    const std::string value = resolved(inside.substr(equals + 2, end - equals - 2));
    if (!element.attributes.emplace(name, value).second) throw std::runtime_error("an attribute twice");
    inside.remove_prefix(end + 1);
  }
  return element;
}

/// All elements in order. Throws when tags do not balance or there is not one root.
std::vector<Element> elements_of(std::string_view svg) {
  std::vector<Element> elements;
  std::vector<std::string> open;
  svg.remove_prefix(svg.find("?>") + 2);
  for (std::size_t start = svg.find('<'); start != svg.npos; start = svg.find('<', start + 1)) {
    const std::size_t end = svg.find('>', start);
    if (end == svg.npos) throw std::runtime_error("a tag without an end");
    std::string_view inside = svg.substr(start + 1, end - start - 1);
    const std::string content = resolved(svg.substr(end + 1, svg.find('<', end) - end - 1));
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) throw std::runtime_error("tags do not balance");
      open.pop_back();
      continue;
    }
    if (open.empty() && !elements.empty()) throw std::runtime_error("a second root");
    const bool closed = inside.ends_with('/');
    if (closed) inside.remove_suffix(1);
    elements.push_back(start_tag(inside));
    elements.back().content = content;
    if (!closed) open.push_back(elements.back().tag);
  }
  if (!open.empty() || elements.empty()) throw std::runtime_error("tags do not balance");
  return elements;
}

std::vector<Element> of_class(const std::string& svg, const std::string& tag, const std::string& name) {
  std::vector<Element> found;
  for (const auto& element : elements_of(svg)) {
    const auto it = element.attributes.find("class");
    if (element.tag == tag && it != element.attributes.end() && it->second == name) found.push_back(element);
  }
  return found;
}

std::vector<std::string> texts(const std::string& svg, const std::string& name) {
  std::vector<std::string> found;
  for (const auto& element : of_class(svg, "text", name)) found.push_back(element.content);
  return found;
}

BarChart one_series(std::vector<double> values) {
  BarChart chart{"Speed", "GFLOPS", {}, {{"run", std::move(values)}}};
  for (std::size_t i = 0; i < chart.series[0].values.size(); ++i) chart.names.push_back(std::to_string(i));
  return chart;
}

/// From the tick of 0 to the highest tick, in the units of the picture and of the axis.
struct Ticks {
  double height = 0, top = 0;
  std::size_t count = 0;  ///< with 0
};
Ticks ticks_of(const std::string& svg) {
  const auto ticks = of_class(svg, "text", "tick");
  return {ticks.front().number("y") - ticks.back().number("y"), std::stod(ticks.back().content),
          ticks.size()};
}

TEST(BarChart, BarsAreInProportionToTheirValuesAndStandOnTheAxis) {
  const std::vector<double> values{12.5, 3.0, 0.0, 7.25};
  const std::string svg = bar_chart_svg(one_series(values));
  const auto bars = of_class(svg, "rect", "bar");
  const Ticks ticks = ticks_of(svg);
  ASSERT_EQ(bars.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(bars[i].number("height"), values[i] / ticks.top * ticks.height, 0.02);
    EXPECT_NEAR(bars[i].number("y") + bars[i].number("height"),
                bars[0].number("y") + bars[0].number("height"), 0.02);
  }
  for (std::size_t i = 1; i < bars.size(); ++i)
    EXPECT_GE(bars[i].number("x"), bars[i - 1].number("x") + bars[i - 1].number("width"));
  EXPECT_THAT(texts(svg, "value"), ElementsAre("12.5", "3.00", "0", "7.25"));
  EXPECT_THAT(texts(svg, "name"), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(texts(svg, "title"), ElementsAre("Speed"));
  EXPECT_THAT(texts(svg, "label"), ElementsAre("GFLOPS"));
}

TEST(BarChart, ValuesHaveThreeDigits) {
  const std::string svg = bar_chart_svg(
      one_series({9.996, 99.96, 999.6, 0.99951, 1234, 123456, 1234567, 0.00123456, 0.000123456, -0.0}));
  EXPECT_THAT(texts(svg, "value"), ElementsAre("10.0", "100", "1000", "1.00", "1230", "123000", "1.23e6",
                                               "0.00123", "1.23e-4", "0"));
}

TEST(BarChart, ValueAboveItsBar) {
  const std::string svg = bar_chart_svg(one_series({5, 1}));
  const auto bars = of_class(svg, "rect", "bar"), values = of_class(svg, "text", "value");
  for (std::size_t i = 0; i < bars.size(); ++i) {
    EXPECT_LT(values[i].number("y"), bars[i].number("y"));
    EXPECT_NEAR(values[i].number("x"), bars[i].number("x") + bars[i].number("width") / 2, 0.02);
  }
}

TEST(BarChart, TicksAreRoundAndCoverTheLargestValue) {
  for (double largest = 1.3e-9; largest < 1e12; largest *= 1.17) {
    const std::string svg = bar_chart_svg(one_series({largest / 3, largest}));
    const Ticks ticks = ticks_of(svg);
    EXPECT_GE(ticks.count - 1, 4u) << largest;
    EXPECT_LE(ticks.count, 8u) << largest;
    EXPECT_GE(ticks.top * (1 + 1e-9), largest);
    EXPECT_LE(ticks.top, 1.34 * largest);
    const auto shown = texts(svg, "tick");
    const double step = std::stod(shown[1]);
    const double digits = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
    EXPECT_LT(
        std::min({std::abs(digits - 1), std::abs(digits - 2), std::abs(digits - 2.5), std::abs(digits - 5)}),
        1e-9)
        << shown[1];
    for (std::size_t k = 0; k < shown.size(); ++k)
      EXPECT_NEAR(std::stod(shown[k]), step * static_cast<double>(k), 1e-9 * ticks.top);
  }
}

TEST(BarChart, TicksAreWrittenAlike) {
  EXPECT_THAT(texts(bar_chart_svg(one_series({0.7})), "tick"),
              ElementsAre("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"));
  EXPECT_THAT(texts(bar_chart_svg(one_series({9})), "tick"), ElementsAre("0", "2", "4", "6", "8", "10"));
  EXPECT_THAT(texts(bar_chart_svg(one_series({1.6})), "tick"),
              ElementsAre("0", "0.25", "0.50", "0.75", "1.00", "1.25", "1.50", "1.75"));
  EXPECT_THAT(texts(bar_chart_svg(one_series({15e6})), "tick"),
              ElementsAre("0", "2.5e6", "5e6", "7.5e6", "1e7", "1.25e7", "1.5e7"));
}

TEST(BarChart, NoBarWhereThereIsNoValue) {
  const std::string svg = bar_chart_svg(one_series({2, kNone, 1}));
  EXPECT_EQ(of_class(svg, "rect", "bar").size(), 2u);
  EXPECT_THAT(texts(svg, "value"), ElementsAre("2.00", "n/a", "1.00"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(texts(bar_chart_svg(one_series({kNone})), "value"), ElementsAre("n/a"));
}

TEST(BarChart, TextIsEscaped) {
  const std::string marks = "a & b < c > d \" e ' f";
  const BarChart chart{marks, marks, {marks}, {{marks, {1}}, {marks, {2}}}};
  const std::string svg = bar_chart_svg(chart);
  for (const char* part : {"title", "label", "name"})
    EXPECT_THAT(texts(svg, part), ElementsAre(marks)) << part;
  EXPECT_THAT(texts(svg, "legend"), ElementsAre(marks, marks));
  EXPECT_THAT(svg, HasSubstr("a &amp; b &lt; c &gt; d &quot; e &apos; f"));
}

TEST(BarChart, BytesThatXmlHasNoPlaceForAreReplaced) {
  auto chart = one_series({1});
  chart.names = {"\x01 \xFF \xC3\xA9 \xEF\xBF\xBE \xE6\xB1\x89"};
  EXPECT_THAT(texts(bar_chart_svg(chart), "name"),
              ElementsAre("\xEF\xBF\xBD \xEF\xBF\xBD \xC3\xA9 \xEF\xBF\xBD \xE6\xB1\x89"));
}

TEST(BarChart, SmallChartsAreValid) {
  for (const BarChart& chart : {BarChart{}, one_series({}), one_series({0, 0}), one_series({kNone, kNone}),
                                one_series({5e-324}), one_series({1e300}), BarChart{"t", "v", {"a", "b"}, {}},
                                BarChart{"", "", {""}, {{"", {1}}, {"", {0}}}}}) {
    const std::string svg = bar_chart_svg(chart);
    EXPECT_EQ(elements_of(svg).front().tag, "svg");
    EXPECT_GE(ticks_of(svg).count, 5u);
    EXPECT_GT(ticks_of(svg).top, 0);
    for (const char* word : {"nan", "inf"}) EXPECT_THAT(svg, Not(HasSubstr(word)));
    for (const auto& bar : of_class(svg, "rect", "bar")) EXPECT_GE(bar.number("height"), 0);
  }
}

TEST(BarChart, SeriesStandSideBySideInTheirColours) {
  const BarChart chart{"t", "v", {"csr", "ell"}, {{"old", {1, 2}}, {"new", {4, kNone}}, {"best", {8, 3}}}};
  const std::string svg = bar_chart_svg(chart);
  const auto bars = of_class(svg, "rect", "bar"), swatches = of_class(svg, "rect", "swatch");
  ASSERT_EQ(bars.size(), 5u);  // old csr, old ell, new csr, best csr, best ell
  ASSERT_EQ(swatches.size(), 3u);
  EXPECT_THAT(texts(svg, "legend"), ElementsAre("old", "new", "best"));
  const std::vector<std::size_t> series{0, 0, 1, 2, 2};
  for (std::size_t i = 0; i < bars.size(); ++i)
    EXPECT_EQ(bars[i].attributes.at("fill"), swatches[series[i]].attributes.at("fill"));
  const std::vector<std::size_t> from_the_left{0, 2, 3, 1, 4};
  for (std::size_t k = 1; k < from_the_left.size(); ++k) {
    const Element &a = bars[from_the_left[k - 1]], &b = bars[from_the_left[k]];
    EXPECT_GE(b.number("x"), a.number("x") + a.number("width"));
  }
  EXPECT_NEAR(bars[3].number("height") / bars[0].number("height"), 8.0, 0.01);
}

TEST(BarChart, OneSeriesHasNoLegend) {
  const std::string svg = bar_chart_svg(one_series({1, 2}));
  EXPECT_THAT(of_class(svg, "rect", "swatch"), testing::IsEmpty());
  EXPECT_THAT(texts(svg, "legend"), testing::IsEmpty());
}

TEST(BarChart, EvenManySeriesDifferInLook) {
  BarChart chart{"t", "v", {"a"}, {}};
  for (int i = 0; i < 20; ++i) chart.series.push_back({std::to_string(i), {1.0 + i}});
  std::map<std::string, int> looks;
  for (const auto& swatch : of_class(bar_chart_svg(chart), "rect", "swatch"))
    ++looks[swatch.attributes.at("fill") + swatch.attributes.at("fill-opacity")];
  EXPECT_EQ(looks.size(), 20u);
}

TEST(BarChart, LongOrManyNamesAreAslant) {
  const auto aslant = [](const BarChart& chart) {
    return of_class(bar_chart_svg(chart), "text", "name").front().attributes.contains("transform");
  };
  auto chart = one_series({1, 2});
  EXPECT_FALSE(aslant(chart));
  chart.names[1] = "a name of a great many letters";
  EXPECT_TRUE(aslant(chart));
  chart = one_series(std::vector<double>(30, 1.0));
  for (auto& name : chart.names) name.insert(0, "format ");
  EXPECT_TRUE(aslant(chart));
}

TEST(BarChart, EverythingLiesInThePicture) {
  const auto width = [](const std::string& svg) { return elements_of(svg).front().number("width"); };
  auto chart = one_series(std::vector<double>(40, 3.0));
  const std::string svg = bar_chart_svg(chart);
  EXPECT_GT(width(svg), width(bar_chart_svg(one_series(std::vector<double>(20, 3.0)))) + 400);
  const Element root = elements_of(svg).front();
  EXPECT_EQ(root.attributes.at("viewBox"),
            "0 0 " + root.attributes.at("width") + " " + root.attributes.at("height"));
  const auto bars = of_class(svg, "rect", "bar");
  EXPECT_LT(bars.back().number("x") + bars.back().number("width"), root.number("width"));
  EXPECT_LT(bars.back().number("y") + bars.back().number("height"), root.number("height"));
}

TEST(BarChart, NeedsNothingFromOutside) {
  const std::string svg = bar_chart_svg(one_series({1}));
  for (const char* word : {"<style", "<script", "href", "url(", "@import"})
    EXPECT_THAT(svg, Not(HasSubstr(word)));
  EXPECT_EQ(elements_of(svg)[0].attributes.at("xmlns"), "http://www.w3.org/2000/svg");
  EXPECT_THAT(of_class(svg, "rect", "background").at(0).attributes.at("fill"), "#ffffff");
}

TEST(BarChart, RefusesWhatItCannotShow) {
  auto chart = one_series({1, 2});
  chart.series.push_back({"short", {1}});
  EXPECT_THROW(bar_chart_svg(chart), InternalError);
  EXPECT_THROW(bar_chart_svg(one_series({1, -1})), InternalError);
  EXPECT_THROW(bar_chart_svg(one_series({std::numeric_limits<double>::infinity()})), InternalError);
}

}  // namespace
}  // namespace tessera::cli
