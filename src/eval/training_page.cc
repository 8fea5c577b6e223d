#include "src/eval/training_page.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/eval/svg_plot.h"

namespace espalier {
namespace {

constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>Trainings</title>
<style>
:root { color-scheme: light dark; }
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5em; }
.plots { display: grid; gap: 1em;
  grid-template-columns: repeat(auto-fill, minmax(min(30em, 100%), 1fr)); }
svg { width: 100%; height: auto; }
svg text { fill: currentColor; font-size: 12px; }
svg .name { font-weight: bold; font-size: 14px; }
svg .axis { fill: none; stroke: currentColor; opacity: .5; }
svg .curve { fill: none; stroke-width: 1.6; }
svg circle { fill: transparent; stroke-opacity: 0; }
svg circle:hover { stroke-opacity: 1; }
.legend { display: flex; flex-wrap: wrap; gap: .3em 1.5em; padding: 0; }
.legend li { list-style: none; }
.legend svg { width: 2.2em; height: .8em; }
table { border-collapse: collapse; margin: 1em 0; display: block;
  overflow-x: auto; }
th, td { padding: .2em .7em; text-align: right; white-space: nowrap; }
th { border-bottom: 1px solid; }
td:first-child, th:first-child { text-align: left; }
</style>
</head>
<body>
<h1>Trainings</h1>
)";

// A training with its name on the page and its index in the legend.
struct Run {
  std::string name;
  const TrainingCurves* curves = nullptr;
};

std::vector<Run> Runs(const std::vector<TrainingReport>& reports) {
  std::vector<Run> runs;
  for (const TrainingReport& report : reports) {
    for (const TrainingCurves& training : report.trainings) {
      if (training.series.empty()) continue;
      runs.push_back(
          {absl::StrCat(report.path, training.name.empty() ? "" : " ",
                        training.name),
           &training});
    }
  }
  return runs;
}

// In the order in which the trainings list them.
std::vector<std::string> Metrics(const std::vector<Run>& runs) {
  std::vector<std::string> names;
  for (const Run& run : runs) {
    for (const Series& s : run.curves->series) {
      if (std::find(names.begin(), names.end(), s.name) == names.end()) {
        names.push_back(s.name);
      }
    }
  }
  return names;
}

std::string Legend(const std::vector<Run>& runs) {
  std::string html = "<ul class=\"legend\">\n";
  for (size_t i = 0; i < runs.size(); ++i) {
    absl::StrAppend(&html,
                    "<li><svg viewBox=\"0 0 22 8\"><path class=\"curve\" ",
                    CurveStyle(i), " d=\"M0 4H22\"/></svg> ",
                    HtmlText(runs[i].name), "</li>\n");
  }
  return html + "</ul>\n";
}

std::string Plots(const std::vector<Run>& runs,
                  const std::vector<std::string>& metrics) {
  std::string html = "<div class=\"plots\">\n";
  for (const std::string& metric : metrics) {
    std::vector<SvgCurve> curves;
    for (size_t i = 0; i < runs.size(); ++i) {
      for (const Series& s : runs[i].curves->series) {
        if (s.name == metric) curves.push_back({runs[i].name, i, &s});
      }
    }
    const std::string svg = SvgPlot(metric, curves);
    if (!svg.empty()) absl::StrAppend(&html, "<div>\n", svg, "</div>\n");
  }
  return html + "</div>\n";
}

// The first row is the heading.
std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<table>\n";
  for (const auto& row : rows) {
    const char* cell = &row == rows.data() ? "th" : "td";
    html += "<tr>";
    for (const std::string& text : row) {
      absl::StrAppend(&html, "<", cell, ">", HtmlText(text), "</", cell, ">");
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string Figures(const std::vector<Run>& runs,
                    const std::vector<std::string>& metrics) {
  std::vector<std::vector<std::string>> rows = {{"training", "metric", "steps",
                                                 "first", "last", "min",
                                                 "at step", "max", "at step"}};
  for (const std::string& metric : metrics) {
    for (const Run& run : runs) {
      for (const Series& s : run.curves->series) {
        if (s.name != metric) continue;
        const auto f = FiguresOf(s);
        if (!f) continue;
        rows.push_back({run.name, metric, absl::StrCat(s.steps.back()),
                        ShortNumber(f->first), ShortNumber(f->last),
                        ShortNumber(f->min), absl::StrCat(f->min_step),
                        ShortNumber(f->max), absl::StrCat(f->max_step)});
      }
    }
  }
  return Table(rows);
}

}  // namespace

std::string TrainingPage(const std::vector<TrainingReport>& reports) {
  const std::vector<Run> runs = Runs(reports);
  const std::vector<std::string> metrics = Metrics(runs);
  std::string html = kHead;
  for (const TrainingReport& report : reports) {
    if (report.rounds.empty()) continue;
    absl::StrAppend(&html, "<h2>", HtmlText(report.path), "</h2>\n",
                    Table(RoundCells(report.rounds)));
    for (const RoundFigures& r : report.rounds) {
      absl::StrAppend(&html, "<p>round ", r.round, ": ", HtmlText(r.reason),
                      "</p>\n");
    }
  }
  if (!runs.empty()) {
    absl::StrAppend(&html, "<h2>Curves</h2>\n", Legend(runs),
                    Plots(runs, metrics), "<h2>Figures</h2>\n",
                    Figures(runs, metrics));
  }
  for (const TrainingReport& report : reports) {
    for (const std::string& note : report.notes) {
      absl::StrAppend(&html, "<p>note: ", HtmlText(note), "</p>\n");
    }
  }
  return html + "</body>\n</html>\n";
}

}  // namespace espalier
