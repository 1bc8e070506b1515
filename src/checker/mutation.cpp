#include "nearfar/checker/mutation.hpp"

#include <set>

#include "execution.hpp"
#include "searches.hpp"

namespace nearfar::checker {

std::string_view name(change how) noexcept {
  switch (how) {
    case change::dropped:
      return "dropped";
    case change::postponed:
      return "postponed";
    case change::split:
      return "split into read and write";
    case change::blind:
      return "replaced by a put";
    case change::relaxed:
      return "relaxed";
    case change::hasty:
      return "without a last look";
    case change::fewer:
      return "of one instead of all";
    case change::unaware:
      return "without progress";
  }
  return "?";
}

site site::of(const std::source_location& where) {
  std::string file = where.file_name();
  if (const auto place = file.rfind("include/"); place != std::string::npos) file.erase(0, place + 8);
  return {std::move(file), where.line(), where.column()};
}

std::string mutation::text() const {
  return operation + " at " + where.file + ":" + std::to_string(where.line) + " " + std::string(name(how));
}

std::vector<mutation> mutations_of(const program& what, const options& how, std::string_view within,
                                   std::uint64_t runs) {
  options recording = how;
  recording.by = search::random;
  recording.most_executions = runs;
  recording.broken.reset();
  engine::stack_pool stacks;
  execution run(what, recording, stacks);
  std::set<mutation> sites;
  run.note_sites(&sites);
  report ignored;
  search_randomly(run, recording, budget(recording), ignored);
  std::vector<mutation> result;
  for (const mutation& one : sites)
    if (one.where.file.find(within) != std::string::npos) result.push_back(one);
  return result;
}

}  // namespace nearfar::checker
