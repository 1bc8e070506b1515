// nearfar figures: the figures of a publication, measured or simulated anew, and drawn.

#include "apps/nearfar/shared/command.hpp"

#include <CLI/CLI.hpp>

#include "apps/nearfar/figures/papers.hpp"

namespace nearfar::command {

void add_figures(CLI::App& app, int& status) {
  CLI::App* figures =
      app.add_subcommand("figures", "Measure or simulate the figures of a publication, and draw them");
  figures->require_subcommand(1);
  add_stengel2007(*figures, status);
  for (const paper& each : {uffmann2022(), schmid2016(), paznikov2023(), laubert2021()})
    add_paper(*figures, each, status);
}

}  // namespace nearfar::command
