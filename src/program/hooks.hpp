// Which memory the checker watches. The compiler's hooks call it at each access.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rank.hpp"

namespace nearfar::program {

/// Watches window memory, or no longer.
void watch(const void* begin, std::size_t bytes);
void unwatch(const void* begin, std::size_t bytes);
void forget_watched() noexcept;
[[nodiscard]] bool is_window_memory(const void* at, std::size_t bytes) noexcept;

/// Adds memory that the rank must leave alone until `release_buffers` of the same owner.
void hold_buffer(rank& of, const void* begin, std::size_t bytes, bool is_written, std::uint64_t owner);
void release_buffers(rank& of, std::uint64_t owner) noexcept;

/// The program, or MPI for it, reads or writes its own memory now. A fault if an operation in flight has it,
/// and a race if others may access it.
void access_memory(const void* at, std::size_t bytes, bool is_write, const void* pc);

/// Whether the executions keep the course of the program, to compare it with that of another.
extern bool traces_course;
void note_course(const void* pc);

/// A block of the heap or of the stack ends; a fault if an operation in flight has it.
void end_memory(const void* at, std::size_t bytes, const char* how, const void* pc);

}  // namespace nearfar::program
