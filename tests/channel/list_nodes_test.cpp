// Tests where the nodes of lists come from, and that none is deleted too early.
#include "nearfar/channel/list_nodes.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nearfar/channel/channel_memory.hpp"

namespace nearfar::testing {
namespace {

struct counted_node {
  counted_node() { ++living; }
  counted_node(const counted_node&) = delete;
  counted_node& operator=(const counted_node&) = delete;
  ~counted_node() {
    --living;
    is_there = false;
  }
  bool is_there = true;
  static inline int living = 0;
};

TEST(hazards, keep_what_is_held_and_nothing_else) {
  process_memory memory;
  using nodes_type = list_nodes::hazard<process_memory, counted_node>;
  {
    nodes_type nodes(memory);
    const std::uint64_t held = nodes.obtain();
    const auto give_back_many = [&] {
      nodes_type::guard other(nodes);
      for (std::size_t i = 0; i < 2 * nodes_type::scan_after; ++i) other.give_back(nodes.obtain());
    };
    {
      nodes_type::guard looks(nodes);
      looks.hold(1, held);
      {
        nodes_type::guard other(nodes);
        other.give_back(held);
      }
      give_back_many();
      EXPECT_TRUE(nodes[held].is_there);
      EXPECT_LE(counted_node::living, static_cast<int>(nodes_type::scan_after));
      looks.hold(1, 0);
      give_back_many();
      EXPECT_LT(counted_node::living, static_cast<int>(nodes_type::scan_after));
    }
    const std::uint64_t unseen = nodes.obtain();
    const int before = counted_node::living;
    nodes.give_back(unseen);
    EXPECT_EQ(counted_node::living, before - 1);
  }
  EXPECT_EQ(counted_node::living, 0);
}

}  // namespace
}  // namespace nearfar::testing
