/// \file
/// Teams of threads, in which loops over containers are played.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/shared/free_memory.hpp"
#include "apps/nearfar/study/plan.hpp"
#include "apps/nearfar/study/worlds.hpp"

namespace nearfar::command {

/// The containers make the threads themselves, and pin them anew for each repetition.
class team_stage final : public stage {
 public:
  /// `all` must outlive the stage.
  explicit team_stage(const std::vector<configuration>& all)
      : all_(&all), guesses_(all.size(), 1), memory_(free_memory::now()) {}

  [[nodiscard]] bench::world_kind kind() const override { return bench::world_kind::team; }
  [[nodiscard]] std::string machine() const override;
  [[nodiscard]] placement place(const shape& of) override;
  [[nodiscard]] std::string obstacle(const configuration& to) const override;
  [[nodiscard]] std::vector<bench::sample> play(std::size_t index, int repetition) override;

 private:
  const std::vector<configuration>* all_;
  std::vector<std::int64_t> guesses_;  // of the number of iterations, by index
  std::optional<free_memory> memory_;
};

}  // namespace nearfar::command
