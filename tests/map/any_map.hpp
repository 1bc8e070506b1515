/// \file Distributed maps of any policy and world behind one interface of keys and values. Tests are compiled
/// once for all maps.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "nearfar/map/distributed_map.hpp"

namespace nearfar::testing {

/// Operations on one entry, or on all of them.
template <typename K, typename V>
class any_map {
 public:
  any_map() = default;
  any_map(const any_map&) = delete;
  any_map& operator=(const any_map&) = delete;
  virtual ~any_map() = default;

  [[nodiscard]] virtual std::optional<V> find(const K& key) = 0;
  [[nodiscard]] virtual insert_result insert(const K& key, const V& value) = 0;
  [[nodiscard]] virtual update_result update(const K& key, const V& value) = 0;
  [[nodiscard]] virtual std::optional<V> erase(const K& key) = 0;
  virtual void for_each(const std::function<void(const K&, const V&)>& visit) = 0;
  [[nodiscard]] virtual std::size_t size() = 0;
  [[nodiscard]] virtual std::size_t capacity() const = 0;
  [[nodiscard]] virtual int owner(const K& key) const = 0;
};

/// Operations on many entries at once. They are apart, so that a test compiles only the part of a map that it
/// uses.
template <typename K, typename V>
class any_batches {
 public:
  any_batches() = default;
  any_batches(const any_batches&) = delete;
  any_batches& operator=(const any_batches&) = delete;
  virtual ~any_batches() = default;

  virtual void find(std::span<const K> keys, std::span<std::optional<V>> results) = 0;
  virtual void insert(std::span<const K> keys, std::span<const V> values,
                      std::span<insert_result> results) = 0;
  [[nodiscard]] virtual std::size_t size() = 0;
};

template <typename Map, typename K = typename Map::key_type, typename V = typename Map::mapped_type>
class map_by_entries final : public any_map<K, V> {
 public:
  explicit map_by_entries(Map& map) : map_(map) {}

  [[nodiscard]] std::optional<V> find(const K& key) override { return map_.find(key); }
  [[nodiscard]] insert_result insert(const K& key, const V& value) override {
    return map_.insert(key, value);
  }
  [[nodiscard]] update_result update(const K& key, const V& value) override {
    return map_.update(key, value);
  }
  [[nodiscard]] std::optional<V> erase(const K& key) override { return map_.erase(key); }
  void for_each(const std::function<void(const K&, const V&)>& visit) override { map_.for_each(visit); }
  [[nodiscard]] std::size_t size() override { return map_.size(); }
  [[nodiscard]] std::size_t capacity() const override { return map_.capacity(); }
  [[nodiscard]] int owner(const K& key) const override { return map_.owner(key); }

 private:
  Map& map_;
};

template <typename Map, typename K = typename Map::key_type, typename V = typename Map::mapped_type>
class map_by_batches final : public any_batches<K, V> {
 public:
  explicit map_by_batches(Map& map) : map_(map) {}

  void find(std::span<const K> keys, std::span<std::optional<V>> results) override {
    map_.find(keys, results);
  }
  void insert(std::span<const K> keys, std::span<const V> values, std::span<insert_result> results) override {
    map_.insert(keys, values, results);
  }
  [[nodiscard]] std::size_t size() override { return map_.size(); }

 private:
  Map& map_;
};

}  // namespace nearfar::testing
