#include "apps/nearfar/figures/stengel_claims.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nearfar::command {

// Of its own, as all sources of the command may be compiled as one.
namespace stengel_says {
namespace {

constexpr const char* mflops = "mflops";
constexpr const char* mlups = "mlups";

/// The figures' lengths and threads on a machine.
struct scale {
  explicit scale(const figure_machine& on)
      : in_cache(on.quick ? 100 : 1000),
        in_memory(on.quick ? 100'000 : 10'000'000),
        many_segments(on.quick ? 2187 : 177'147),
        own_domain(on.domain),
        other_domain((on.domain + 1) % on.domains),
        most_threads(on.threads.back()) {
    constexpr int of_thesis = 4;
    for (const int threads : on.threads)
      if (threads <= of_thesis) chunk_threads = threads;
  }

  std::int64_t in_cache;
  std::int64_t in_memory;
  std::int64_t many_segments;
  int own_domain;
  int other_domain;
  int most_threads;
  int chunk_threads = 1;  ///< of figure 2.7
};

std::string counted(int threads) { return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"); }

quantity at(const char* figure, std::string curve, const char* axis, std::int64_t position,
            const char* column = mflops) {
  return {{.analysis = figure, .object = std::move(curve), .at = {{axis, position}}}, column};
}
quantity at_length(const char* figure, std::string curve, std::int64_t length) {
  return at(figure, std::move(curve), "length", length);
}

loop_claim says(const char* figure, const char* text, evidence of, bool needs_domains = false) {
  return {{.analysis = figure, .text = fmt::format("{}: {}", figure, text), .of = {std::move(of)}},
          needs_domains};
}

/// A rate as a share of another.
evidence share(const quantity& one, const quantity& other, double low, double high) {
  return {{low < one / other, one / other < high}, "{:.2f} ({:.0f} of {:.0f})", {one / other, one, other}};
}

constexpr double alike = 1.1;
evidence alike_by(const quantity& one, const quantity& other, double by = alike) {
  return share(one, other, 1 / by, by);
}

std::vector<loop_claim> of_stores(const scale& on) {
  const auto with = [](const char* stores, std::int64_t length) {
    return at_length("1.8", fmt::format("{} stores", stores), length);
  };
  return {says("1.7", "in cache the triad is many times as fast as in memory (3 times at least)",
               share(at_length("1.7", "array, 1 thread", on.in_cache),
                     at_length("1.7", "array, 1 thread", on.in_memory), 3, any_high)),
          says("1.8", "in memory streaming stores gain a fifth (5 to 50 %)",
               share(with("streaming", on.in_memory), with("regular", on.in_memory), 1.05, 1.5)),
          says("1.8", "in cache streaming stores cost half of the speed (30 % at least)",
               share(with("streaming", on.in_cache), with("regular", on.in_cache), 0, 0.7))};
}

std::vector<loop_claim> of_placement(const scale& on) {
  const auto by = [&on](int threads, const char* initialisation) {
    const std::string how = threads == 1 ? "" : fmt::format(", {} initialisation", initialisation);
    return at_length("2.4", counted(threads) + how, on.in_memory);
  };
  const auto objects = [&on](const char* from, int threads) {
    return at_length("3.2", fmt::format("{}, {}", from, counted(threads)), on.in_memory);
  };
  const auto chunk_of = [&on](const char* container, std::int64_t size) {
    return at("2.7", fmt::format("{}, {}", container, counted(on.chunk_threads)), "chunk", size);
  };
  const auto chunk = [&chunk_of](std::int64_t size) { return chunk_of("array", size); };
  constexpr std::int64_t page = 512;  // elements
  const auto memory_of = [&on](const char* whose, int domain) {
    return at_length("2.2", fmt::format("memory of {} domain ({})", whose, domain), on.in_memory);
  };
  return {says("2.2", "in nonlocal memory the triad is 30 % slower (15 to 45)",
               share(memory_of("another", on.other_domain), memory_of("its own", on.own_domain), 0.55, 0.85),
               true),
          says("2.4", "parallel initialisation almost doubles the speed of two threads (1.5 to 2.2)",
               share(by(2, "parallel"), by(2, "serial"), 1.5, 2.2), true),
          says("2.7", "chunks below a page cost much (a fifth at least)", share(chunk(64), chunk(0), 0, 0.8),
               true),
          says("2.7", "chunks of some pages cost nothing (a tenth at most)",
               share(chunk(4096), chunk(0), 1 / alike, any_high), true),
          says("2.7", "unaligned new[] costs chunks of a page a tenth (5 to 15 %)",
               share(chunk_of("array.unaligned", page), chunk(page), 0.85, 0.95), true),
          says("3.2", "with standard new[] two threads gain a fifth (at most a half)",
               share(objects("standard new[]", 2), objects("standard new[]", 1), 1, 1.5), true),
          says("3.2", "with numa_new two threads double the speed (1.7 to 2.3)",
               share(objects("numa_new", 2), objects("numa_new", 1), 1.7, 2.3), true)};
}

std::vector<loop_claim> of_containers(const scale& on) {
  const auto vector_of = [&on](const char* figure, const char* container, int threads = 1) {
    return at_length(figure, fmt::format("{}, {}", container, counted(threads)), on.in_memory);
  };
  const auto in_cache = [&on](const char* figure, const char* container) {
    return at_length(figure, fmt::format("{}, 1 thread", container), on.in_cache);
  };
  const std::string apart = fmt::format("segments 64 bytes apart, {}", counted(on.most_threads));
  const auto cut = [&apart](std::int64_t segments) { return at("3.8", apart, "segments", segments); };
  return {says("3.3", "on one thread std::vector is as fast with either allocator",
               alike_by(vector_of("3.3", "vector-numa"), vector_of("3.3", "vector"))),
          says("3.3", "with numa_allocator two threads double the speed (1.7 to 2.3)",
               share(vector_of("3.3", "vector-numa", 2), vector_of("3.3", "vector-numa"), 1.7, 2.3), true),
          says("3.3", "std::vector with numa_allocator has about 70 % of the array's speed (60 to 80)",
               share(vector_of("3.3", "vector-numa"), vector_of("3.3", "array"), 0.6, 0.8)),
          says("3.3", "in cache an iterator before the loop doubles the speed of an index (1.7 to 2.3)",
               share(in_cache("3.3", "vector.iterator"), in_cache("3.3", "vector"), 1.7, 2.3)),
          says("3.3", "in memory an iterator before the loop gains a fifth on an index (10 to 30 %)",
               share(vector_of("3.3", "vector.iterator"), vector_of("3.3", "vector"), 1.1, 1.3)),
          says("3.4", "numa_vector is about 30 % faster than std::vector with numa_allocator (15 % at least)",
               share(vector_of("3.4", "numa_vector"), vector_of("3.4", "vector-numa"), 1.15, any_high)),
          says("3.4", "numa_vector is as fast as the array",
               alike_by(vector_of("3.4", "numa_vector"), vector_of("3.4", "array"))),
          says("3.7", "the segmented array is as fast as the array, by segments",
               alike_by(vector_of("3.7", "segmented"), vector_of("3.7", "array"))),
          says("3.7", "its iterator reaches 40 % of the array's speed (30 to 60)",
               share(vector_of("3.7", "padded-iterator"), vector_of("3.7", "array"), 0.3, 0.6)),
          says("3.7", "in cache its iterator doubles the speed of an index, as vector's in 3.2 (1.7 to 2.3)",
               share(in_cache("3.7", "padded-iterator"), in_cache("3.7", "padded.index"), 1.7, 2.3)),
          says("3.8", "many short segments are slower than a few long ones (a tenth at least)",
               share(cut(on.many_segments), cut(1), 0, 1 / alike))};
}

std::vector<loop_claim> of_relaxation(const scale& on) {
  const auto with = [](const char* figure, const char* container, int threads) {
    return at(figure, container, "ranks", threads, mlups);
  };
  const char* const by_row = "array, region for each row";
  std::vector<loop_claim> all{
      says("4.2", "vertically, two threads gain 80 % (60 to 95)",
           share(with("4.2", by_row, 2), with("4.2", by_row, 1), 1.6, 1.95), true),
      says("4.2", "one region for all rows is no slower than a region for each row",
           share(with("4.2", "array", on.most_threads), with("4.2", by_row, on.most_threads), 1 / alike,
                 any_high)),
      says("4.3", "horizontally, two threads double the speed (1.8 at least)",
           share(with("4.3", "array", 2), with("4.3", "array", 1), 1.8, any_high), true),
      says("4.3", "rows that one thread allocates cost horizontal sweeps a fifth (10 to 30 %)",
           share(with("4.3", "array, rows of one thread", on.most_threads),
                 with("4.3", "array", on.most_threads), 0.7, 0.9),
           true)};
  for (const char* figure : {"4.2", "4.3"}) {
    std::vector<quantity> containers;
    for (const char* each : {"array", "vector", "vector-numa", "numa_vector", "segmented"})
      containers.push_back(with(figure, each, on.most_threads));
    const quantity least = smallest(containers);
    const quantity most = largest(containers);
    all.push_back(says(figure, "all containers are about as fast (within a third)",
                       share(least, most, 0.75, any_high)));
  }
  return all;
}

}  // namespace
}  // namespace stengel_says

std::vector<loop_claim> stengel2007_claims(const figure_machine& on) {
  using namespace stengel_says;
  const scale of(on);
  std::vector<loop_claim> all;
  for (const auto& part : {of_stores, of_placement, of_containers, of_relaxation})
    for (loop_claim& each : part(of)) all.push_back(std::move(each));
  return all;
}

}  // namespace nearfar::command
