/// \file
/// Parallel algorithms that work on data where it lies. They process segmented ranges segment by segment at
/// the speed of pointers, each thread the data that it placed; other random access ranges by the same static
/// schedule as everything else; and weaker ranges as the standard's algorithms do.
///
/// All except `count` are function objects, so that argument-dependent lookup never finds them instead of the
/// standard's. Each takes an optional `execution`, `team` or policy of the standard as its first argument,
/// and, if it writes, an optional `store_choice` or `store_kind` as its last. One thread processes ranges of
/// proxies, such as `std::vector<bool>`. Ranges may be segmented in different ways, or only some of them. The
/// first segmented range, outputs before inputs, determines which thread does what: segments in a static
/// schedule if it has at least as many as there are threads, else elements. An output may also be an input,
/// element for element; any other overlap is an error that goes unnoticed.
///
/// Names and the order of arguments are the standard's. A range may be given as an iterator and a sentinel;
/// if computing their distance takes a walk, one thread does it.
///
/// Functions and projections of the caller, which may be pointers to members, are copied for each thread and
/// called for any elements in any order, by several threads at once. The threads share those that cannot be
/// copied. Exceptions propagate as from `team::run`; outputs are then partly written. Costs: one parallel
/// loop each, which takes a microsecond or more with more than one thread; sorts, scans and searches of few
/// elements are therefore done by the caller alone (`execution::alone_below`). See also scan.hpp and
/// sort.hpp.
///
/// Source: M. H. Austern, "Segmented iterators and hierarchical algorithms", in Generic Programming, Lecture
/// Notes in Computer Science 1766, Springer, 2000; H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule
/// Nürnberg, 2007, section 3.5.
#pragma once

#include "nearfar/container/any_of.hpp"          // IWYU pragma: export
#include "nearfar/container/count.hpp"           // IWYU pragma: export
#include "nearfar/container/elementwise.hpp"     // IWYU pragma: export
#include "nearfar/container/find.hpp"            // IWYU pragma: export
#include "nearfar/container/for_each_index.hpp"  // IWYU pragma: export
#include "nearfar/container/min_max.hpp"         // IWYU pragma: export
#include "nearfar/container/reduce.hpp"          // IWYU pragma: export
#include "nearfar/container/scan.hpp"            // IWYU pragma: export
#include "nearfar/container/sort.hpp"            // IWYU pragma: export
#include "nearfar/container/stable_sort.hpp"     // IWYU pragma: export
