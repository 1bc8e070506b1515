/// \file
/// Algorithms that work on data where they are: over segmented ranges segment by segment at the speed of
/// pointers, each thread on the data it placed; over other random access ranges by the same static schedule
/// as everything else; over weaker ones as the standard's.
///
/// All are function objects, so that they are never found in place of the standard's by accident. Each takes
/// an optional `execution`, `team` or policy of the standard first, and where it writes an optional
/// `store_choice` or `store_kind` last. Ranges of proxies, as of `std::vector<bool>`, are worked on by one
/// thread. Ranges may be segmented in different ways, or some of them not at all. The first segmented range,
/// outputs before inputs, decides which thread does what: segments in a static schedule if it has at least as
/// many as there are threads, else elements. An output may be an input too, element for element; any other
/// overlap is an error that is not noticed.
///
/// Names and the order of arguments are the standard's. A range may be a pair of an iterator and a sentinel;
/// if their distance is not known at once, it takes a walk of one thread.
///
/// Functions and projections that a caller gives, which may be pointers to members, are copied for each
/// thread and called for any elements in any order, by several threads at once; those that cannot be copied
/// are shared by the threads. What they throw comes out as from `team::run`; outputs are then partly written.
/// Costs: one parallel loop each, a microsecond or more with more than one thread, for which sorts, scans and
/// searches have few elements done by the caller alone (`execution::alone_below`). See also scan.hpp and
/// sort.hpp.
///
/// Source: M. H. Austern, "Segmented iterators and hierarchical algorithms", in Generic Programming, Lecture
/// Notes in Computer Science 1766, Springer, 2000; H. Stengel, diploma thesis,
/// Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.5.
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
