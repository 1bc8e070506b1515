#include "bench/results.hpp"

#include <utility>

namespace nearfar::bench {

void to_json(nlohmann::ordered_json& to, const sample& from) {
  to = {{"schema", results_schema},
        {"record", "sample"},
        {"benchmark", from.benchmark},
        {"lock", from.lock},
        {"parameters", from.parameters},
        {"world", from.world},
        {"machine", from.machine},
        {"nodes", from.nodes},
        {"ranks", from.ranks},
        {"repetition", from.repetition},
        {"duration_ns", from.duration.count()},
        {"iterations", from.iterations},
        {"iterations_per_rank", from.iterations_per_rank},
        {"contended", or_null(from.contended)},
        {"local_handovers", or_null(from.local_handovers)},
        {"followed_other_share", or_null(from.followed_other_share)},
        {"ns_per_acquisition", from.ns_per_acquisition()},
        {"sound", from.sound},
        {"verified", from.verified}};
  if (from.scenario) to["scenario"] = *from.scenario;
}

results_file::results_file(std::filesystem::path path, std::string_view schema)
    : file_(std::move(path), '"' + std::string(schema.substr(0, schema.find('/') + 1)),
            "nearfar results of this kind") {}

void results_file::write(const nlohmann::ordered_json& record) { file_.write(record.dump() + '\n'); }

void results_file::commit() { file_.commit(); }

}  // namespace nearfar::bench
