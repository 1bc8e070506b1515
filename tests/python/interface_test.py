"""The Python package on two ranks or more of a real MPI library."""

import copy
import ctypes
import functools
import gc
import os
import pathlib
import pickle
import re
import signal
import sys
import threading
import time
import traceback
import unittest
import unittest.mock

import numpy as np
from mpi4py import MPI

import nearfar
from nearfar import _library

SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
COMM = MPI.COMM_WORLD


def interrupted(name):
    """In this block Ctrl-C comes to each call of a library function once the function has done its work."""
    library = _library.load()
    original = getattr(library, f"nearfar_{name}")

    def run(*given):
        status = original(*given)
        signal.raise_signal(signal.SIGINT)
        return status

    return unittest.mock.patch.object(library, f"nearfar_{name}", unittest.mock.Mock(side_effect=run))


def interrupt_at_call_of(name):
    """A profiler for one block: Ctrl-C comes when a function of this name begins."""

    def profile(frame, event, _):
        if event == "call" and frame.f_code.co_name == name:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    return profile


class OnAllRanks(unittest.TestCase):
    """A failure on one rank ends all ranks, as the others would wait for it for ever."""

    def run(self, result=None):
        result = super().run(result)
        if result.errors or result.failures:
            for _, text in result.errors + result.failures:
                print(f"rank {COMM.rank}: {text}", file=sys.stderr, flush=True)
            COMM.Abort(1)
        return result

    def setUp(self):
        self.world = nearfar.World(COMM)
        self.addCleanup(self.world.close)


class Declarations(unittest.TestCase):
    def test_every_function_of_the_header_is_called_as_it_is_declared(self):
        declared = re.findall(r"^NEARFAR_API nearfar_status\s+nearfar_(\w+)\(([^;]*)\);", (SOURCE / "include/nearfar.h").read_text(), re.MULTILINE)
        # Commas separate arguments, except those of the callback function.
        counts = {name: len(re.sub(r"void \(\*visit\)\([^)]*\)", "visit", arguments).split(",")) for name, arguments in declared}
        del counts["world_from_comm"], counts["fortran_has_bytes"]  # functions that only C, and only Fortran calls
        self.assertGreater(len(counts), 40)
        self.assertEqual(counts, {name: len(arguments) for name, arguments in _library.FUNCTIONS.items()})

    def test_statuses_are_those_of_the_header(self):
        declared = dict(re.findall(r"^  NEARFAR_(\w+) = (-?\d+)", (SOURCE / "include/nearfar.h").read_text(), re.MULTILINE))
        for name in ("SUCCESS", "BUSY", "TIMED_OUT", "EMPTY", "FULL", "CLOSED", "NOT_FOUND", "EXISTS"):
            self.assertEqual(getattr(_library, name), int(declared[name]))
        names = {code: kind.__name__.replace("Error", "").upper() for code, kind in _library.ERRORS.items()}
        for name, code in declared.items():
            if name.startswith("ERROR_") and name != "ERROR_INTERNAL":
                self.assertEqual(names[int(code)], name[len("ERROR_"):].replace("_", ""))


class Worlds(OnAllRanks):
    def test_rank_and_size_are_those_of_the_communicator(self):
        self.assertEqual((self.world.rank, self.world.size), (COMM.rank, COMM.size))
        self.world.progress()

    def test_errors_have_the_texts_of_the_library(self):
        with self.assertRaisesRegex(nearfar.MismatchError, "far_bytes"):
            nearfar.World(COMM, far_bytes=4096 * (1 + COMM.rank))
        with self.assertRaisesRegex(nearfar.TopologyError, "did you mean 'node'"):
            nearfar.World(COMM, topology="nodes:2")
        with self.assertRaisesRegex(nearfar.ArgumentError, "MPI_COMM_NULL"):
            nearfar.World(MPI.COMM_NULL)
        with self.assertRaisesRegex(TypeError, "a communicator of mpi4py, not of int"):
            nearfar.World(7)
        with self.assertRaisesRegex(nearfar.NoMemoryError, "raise nearfar_world_options.far_bytes"):
            self.world.queue(1000, 1_000_000 // COMM.size)
        with self.assertRaisesRegex(ValueError, "no rank 99"):
            self.world.lock(home=99)

    def test_options_reach_the_library(self):
        with nearfar.World(COMM, far_bytes=1 << 16, near_bytes=1 << 16, topology=f"node:{COMM.size} core:1") as world:
            lock = world.lock()
            with lock:
                pass
        self.assertFalse(lock._handle)  # closed with its world
        with self.assertRaisesRegex(nearfar.ArgumentError, "NULL"):
            lock.acquire()
        alone = nearfar.World(MPI.COMM_SELF, stall_limit=0.001)
        with self.assertRaisesRegex(nearfar.StalledError, "has waited"):
            alone.queue(np.int32, 8).get()

    def test_a_world_is_left_alone_after_an_exception(self):
        with self.assertRaises(ZeroDivisionError), nearfar.World(COMM) as world:
            _ = 1 / 0
        self.assertTrue(world._handle)
        world.close()
        world.close()  # a second call does nothing

    def test_numbers_do_not_wrap(self):
        for home in (1 << 32, -1, 0.0, "0"):
            for make in (self.world.lock, self.world.rwlock):
                with self.assertRaises(nearfar.ArgumentError, msg=home):
                    make(home)
        for size in ((1 << 64) + 8, -1, 8.0, None):
            with self.assertRaises(nearfar.ArgumentError, msg=size):
                self.world.queue(8, size)
            with self.assertRaises(nearfar.ArgumentError, msg=size):
                self.world.map(8, 8, size)
            with self.assertRaises(nearfar.ArgumentError, msg=size):
                nearfar.World(COMM, far_bytes=size)
            with self.assertRaises(nearfar.ArgumentError, msg=size):
                nearfar.Channel(8, size)
        self.world.lock(np.int32(1))

    def test_an_argument_that_one_rank_alone_has_wrong_is_an_error_on_all(self):
        padded = np.dtype([("a", "u1"), ("b", "i8")], align=True)
        worlds = [({}, wrong) for wrong in ({"far_bytes": -1}, {"near_bytes": 1 << 64}, {"stall_limit": -1}, {"topology": 7})]
        objects = [
            (self.world.lock, {}, {"home": 1 << 32}),
            (self.world.rwlock, {"home": 1}, {"home": "1"}),
            (self.world.queue, {"kind": 8, "capacity": 8}, {"kind": 8, "capacity": -1}),
            (self.world.queue, {"kind": 8, "capacity": 8}, {"kind": "no dtype", "capacity": 8}),
            (self.world.queue, {"kind": 8, "capacity": 8}, {"kind": 8, "capacity": 8, "algorithm": "fast"}),
            (self.world.map, {"keys": 8, "values": 8, "entries": 8}, {"keys": padded, "values": 8, "entries": 8}),
            (self.world.map, {"keys": 8, "values": 8, "entries": 8}, {"keys": 8, "values": object, "entries": 8}),
        ]
        worlds = [(functools.partial(nearfar.World, COMM), right, wrong) for right, wrong in worlds]
        for make, right, wrong in worlds + objects:
            if COMM.rank == 1:
                with self.assertRaises((nearfar.ArgumentError, TypeError, AttributeError), msg=wrong) as raised:
                    make(**wrong)
                self.assertNotIn("NULL", str(raised.exception))
            else:
                with self.assertRaisesRegex(nearfar.MismatchError, "rank 1 makes no", msg=wrong):
                    make(**right)
        with self.world.lock():
            pass

    def test_an_interrupt_leaves_nothing_that_is_not_closed(self):
        world = nearfar.World(MPI.COMM_SELF)
        with interrupted("lock_create") as made, self.assertRaises(KeyboardInterrupt):
            world.lock()
        made.assert_called_once()
        world.close()

    def test_a_world_with_a_lock_that_is_held_stays_for_all(self):
        world = nearfar.World(COMM)
        lock = world.lock()
        world.queue(8, 8)
        if COMM.rank == 0:
            lock.acquire()
        with self.assertRaises(nearfar.InUseError if COMM.rank else nearfar.HeldError):
            world.close()
        if COMM.rank == 0:
            lock.release()
        world.close()
        self.assertFalse(world._handle)


class Locks(OnAllRanks):
    def test_one_at_a_time(self):
        lock = self.world.lock(home=1)
        window = MPI.Win.Allocate(64, 1, comm=COMM)
        np.frombuffer(window.tomemory(), dtype=np.uint64)[0] = 0
        window.Lock_all()
        window.Sync()
        COMM.Barrier()
        count = np.zeros(1, dtype=np.uint64)
        for _ in range(200):
            with lock:
                window.Get([count, MPI.UINT64_T], 0)
                window.Flush(0)
                count += 1
                window.Put([count, MPI.UINT64_T], 0)
                window.Flush(0)
        self.world.barrier()
        window.Get([count, MPI.UINT64_T], 0)
        window.Flush(0)
        self.assertEqual(int(count[0]), 200 * COMM.size)
        window.Unlock_all()
        window.Free()

    def test_tries_and_misuse(self):
        lock = self.world.lock()
        with self.assertRaisesRegex(nearfar.NotHeldError, "never locked"):
            lock.release()
        with self.assertRaisesRegex(ValueError, "in the past"):
            lock.acquire(timeout=-2)
        if COMM.rank == 0:
            self.assertTrue(lock.acquire())
            with self.assertRaisesRegex(nearfar.HeldError, "not recursive"):
                lock.acquire()
            with self.assertRaisesRegex(nearfar.HeldError, "unlock it first"):
                lock.close()
        self.world.barrier()
        if COMM.rank != 0:
            self.assertFalse(lock.acquire(blocking=False))
            self.assertFalse(lock.acquire(timeout=0))
            self.assertFalse(lock.acquire(timeout=0.001))
        self.world.barrier()
        if COMM.rank == 0:
            lock.release()
        self.world.barrier()
        if COMM.rank == 1:
            self.assertTrue(lock.acquire(timeout=100))
            lock.release()

    def test_an_interrupt_leaves_no_lock_held(self):
        lock = nearfar.World(MPI.COMM_SELF).rwlock()
        for name, block in (("acquire", lock.writing), ("acquire_shared", lock.reading)):
            with interrupted(f"rwlock_{name}") as taken, self.assertRaises(KeyboardInterrupt), block():
                self.fail("inside")
            taken.assert_called_once()
            self.assertTrue(lock.acquire(blocking=False))
            lock.release()
        lock._world.close()

    def test_an_interrupt_at_the_end_of_a_block_leaves_no_lock_held(self):
        world = nearfar.World(MPI.COMM_SELF)
        lock, shared = world.lock(), world.rwlock()
        for at in ("release", "_call", "call"):
            for held, block in ((lock, lock), (shared, shared.writing())):
                with self.assertRaises(KeyboardInterrupt), block:
                    sys.setprofile(interrupt_at_call_of(at))
                self.assertIsNone(sys.getprofile())
                self.assertTrue(held.acquire(blocking=False), at)
                held.release()
        world.close()

    def test_what_is_no_kind_of_values_is_refused(self):
        for kind in (None, True, object, (np.int32, (3,)), 0):
            with self.assertRaises((nearfar.ArgumentError, TypeError), msg=kind):
                nearfar.Channel(kind, capacity=1)
        texts = nearfar.Channel(np.int64(100), capacity=1)
        texts.put(b"of up to 100 bytes")
        self.assertEqual(texts.get(), b"of up to 100 bytes")
        for kind in (np.int64, np.float64):
            with self.assertRaises(nearfar.ArgumentError):
                nearfar.Channel(kind, capacity=1).put(np.array([5]))

    def test_nothing_with_a_handle_is_copied(self):
        world = nearfar.World(MPI.COMM_SELF)
        channel = nearfar.Channel(np.int64, capacity=1)
        for one in (world, world.lock(), world.rwlock(), world.queue(8, capacity=1), world.map(8, 8, 1), channel):
            for made in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, "cannot be copied"):
                    made(one)
        gc.collect()
        channel.put(1)
        self.assertEqual(channel.get(), 1)
        world.close()

    def test_readers_share_and_writers_do_not(self):
        lock = self.world.rwlock()
        with lock.reading():
            self.world.barrier()  # all ranks are in
        self.world.barrier()
        if COMM.rank == 0:
            with lock.writing():
                self.world.barrier()
                self.world.barrier()
        else:
            self.world.barrier()
            self.assertFalse(lock.acquire_shared(blocking=False))
            self.assertFalse(lock.acquire_shared(timeout=0.001))
            self.assertFalse(lock.acquire(timeout=0.001))
            self.world.barrier()
        self.world.barrier()
        self.assertTrue(lock.acquire_shared(timeout=100))
        lock.release_shared()


class Queues(OnAllRanks):
    KINDS = [
        (np.float64, [0.5, -1e300, float("inf")]),
        (np.uint8, [0, 255]),
        (np.dtype([("x", "f4"), ("y", "i8"), ("text", "S5")]), [(1.5, -7, b"five"), (0, 0, b"")]),
        (9, [b"", b"\0ends with\0"[:9], b"123456789"]),
        (1022, [b"\xff" * 1022]),
    ]

    def test_values_come_back_as_they_were(self):
        for algorithm in ("ticket", "lock-free"):
            for kind, values in self.KINDS:
                with self.subTest(kind=kind, algorithm=algorithm):
                    queue = self.world.queue(kind, capacity=8, algorithm=algorithm)
                    if COMM.rank == 0:
                        for value in values:
                            queue.put(value)
                        queue.finish()
                        with self.assertRaises(nearfar.Closed):
                            queue.put(values[0])
                    if COMM.rank == 1:
                        got = list(queue)
                        wanted = values if isinstance(kind, int) else list(np.array(values, dtype=kind))
                        self.assertEqual(got, wanted)
                        self.assertEqual([type(one) for one in got], [type(one) for one in wanted])
                    self.world.barrier()
                    queue.close()

    def test_an_interrupt_loses_nothing_that_was_taken(self):
        world = nearfar.World(MPI.COMM_SELF)
        queue = world.queue(np.int64, capacity=2)
        for name, block in (("queue_try_pop", False), ("queue_pop_for", True)):
            queue.put(7)
            queue.put(8)
            with interrupted(name), self.assertRaises(KeyboardInterrupt):
                queue.get(block)
            self.assertEqual([queue.get(block=False), queue.get(block=False)], [7, 8])
        for name, block in (("queue_try_push", False), ("queue_push_for", True)):
            with interrupted(name), self.assertRaises(KeyboardInterrupt):
                queue.put(9, block)
            self.assertEqual(queue.get(block=False), 9)
        world.close()

    def test_full_and_empty(self):
        queue = self.world.queue(np.int32, capacity=4)
        with self.assertRaises(nearfar.Empty):
            queue.get(block=False)
        with self.assertRaisesRegex(nearfar.Empty, "in time"):
            queue.get(timeout=0.001)
        self.world.barrier()
        if COMM.rank == 0:
            with self.assertRaises(nearfar.Full):
                for number in range(1000):
                    queue.put(number, block=False)
            self.assertGreaterEqual(queue.qsize(), 4)
            with self.assertRaisesRegex(nearfar.Full, "in time"):
                queue.put(0, timeout=0.001)
            self.assertEqual(queue.get(), 0)

    def test_what_does_not_fit_is_refused_and_nothing_is_put(self):
        queue = self.world.queue(np.uint8, capacity=4)
        for value in (256, -1, 1.5, [1, 2], "text", None):
            with self.assertRaises(nearfar.ArgumentError, msg=value):
                queue.put(value)
        words = self.world.queue(4, capacity=4)
        for value in (b"12345", "text", 7):
            with self.assertRaises(nearfar.ArgumentError, msg=value):
                words.put(value)
        self.world.barrier()
        for one in (queue, words):
            with self.assertRaises(nearfar.Empty):
                one.get(block=False)
        for kind in (0, -1, "S", object):
            with self.assertRaises(nearfar.ArgumentError, msg=kind):
                self.world.queue(kind, 4)
        with self.assertRaisesRegex(nearfar.ArgumentError, "1 to 1024"):
            self.world.queue(1023, 4)
        with self.assertRaises(nearfar.ArgumentError):
            self.world.queue(8, -1)
        with self.assertRaisesRegex(nearfar.ArgumentError, "'fast'"):
            self.world.queue(8, 4, "fast")


class Maps(OnAllRanks):
    def test_as_a_dict_of_all_ranks(self):
        squares = self.world.map(np.int64, np.float64, entries=1000)
        self.assertEqual(squares.capacity, 1000 * COMM.size)
        for number in range(COMM.rank, 100, COMM.size):
            squares[number] = number * number
        self.world.barrier()
        self.assertEqual(squares.size(), 100)
        self.assertEqual([squares[number] for number in range(100)], [number * number for number in range(100)])
        self.assertIs(type(squares[3]), np.float64)
        self.assertNotIn(100, squares)
        self.assertEqual(squares.get(100, "nothing"), "nothing")
        with self.assertRaises(KeyError):
            squares[-1]
        here = squares.local_items()
        self.assertEqual(COMM.allreduce(len(here)), 100)
        for key, value in here:
            self.assertEqual((value, squares.owner(key)), (key * key, COMM.rank))
        self.world.barrier()
        mine = COMM.rank
        self.assertFalse(squares.insert(mine, 0.0))
        self.assertTrue(squares.replace(mine, 0.5))
        self.assertEqual(squares.pop(mine), 0.5)
        self.assertFalse(squares.replace(mine, 0.5))
        self.assertEqual(squares.pop(mine, None), None)
        with self.assertRaises(KeyError):
            del squares[mine]
        self.assertEqual(squares.size(), 100 - COMM.size)

    def test_an_interrupt_puts_an_entry_back(self):
        world = nearfar.World(MPI.COMM_SELF)
        words = world.map(np.int64, 30, entries=8)
        words[1] = b"one"
        for key in (1, 2):  # a missing entry is not put back
            with interrupted("map_erase") as erased, self.assertRaises(KeyboardInterrupt):
                words.pop(key, None)
            erased.assert_called_once()
        self.assertEqual(words.local_items(), [(1, b"one")])
        world.close()

    def test_bytes(self):
        words = self.world.map(62, 510, entries=16)
        entries = {b"": b"empty", b"a": b"", b"a\0": b"\0" * 510, b"x" * 62: b"long"}
        if COMM.rank == 0:
            for key, value in entries.items():
                words[key] = value
        self.world.barrier()
        self.assertEqual({key: words[key] for key in entries}, entries)
        self.assertNotIn(b"a\0\0", words)

    def test_keys_with_padding_are_refused(self):
        fields = [("a", "u1"), ("b", "i8")]
        for kind in (np.dtype(fields, align=True), np.longdouble, [("inner", np.dtype(fields, align=True), (2,))]):
            with self.assertRaisesRegex(nearfar.ArgumentError, "padding", msg=kind):
                self.world.map(kind, 8, 8)
        packed = self.world.map([*fields, ("c", "f4", (2, 2))], np.dtype(fields, align=True), 8)
        if COMM.rank == 0:
            packed[1, 2, 0.5] = (3, 4)
            self.assertIn((1, 2, 0.5), packed)

    def test_is_not_iterated(self):
        with self.assertRaises(TypeError):
            iter(self.world.map(8, 8, 8))

    def test_full(self):
        numbers = self.world.map(np.int64, np.int64, entries=4)
        with self.assertRaisesRegex(nearfar.Full, "more entries"):
            for number in range(1000):
                numbers[number + 1000 * COMM.rank] = 1


class Channels(unittest.TestCase):
    def test_between_threads(self):
        channel = nearfar.Channel(np.int64, capacity=4)
        threads = [threading.Thread(target=lambda: [channel.put(number) for number in range(1000)]) for _ in range(2)]
        for one in threads:
            one.start()
        self.assertEqual(sum(channel.get() for _ in range(2000)), 2 * sum(range(1000)))
        for one in threads:
            one.join()

    def test_outcomes(self):
        channel = nearfar.Channel(8, capacity=1)
        with self.assertRaises(nearfar.Empty):
            channel.get(block=False)
        with self.assertRaises(nearfar.Empty):
            channel.get(timeout=0.001)
        channel.put(b"one")
        self.assertEqual(channel.qsize(), 1)
        with self.assertRaises(nearfar.Full):
            channel.put(b"two", block=False)
        with self.assertRaises(nearfar.Full):
            channel.put(b"two", timeout=0.001)
        channel.close()
        self.assertTrue(channel.closed)
        with self.assertRaises(nearfar.Closed):
            channel.put(b"three")
        self.assertEqual(list(channel), [b"one"])
        channel.reopen()
        self.assertFalse(channel.closed)
        with self.assertRaisesRegex(ValueError, "in the past"):
            channel.get(timeout=-1)
        for capacity in (0, -1):
            with self.assertRaises(nearfar.ArgumentError):
                nearfar.Channel(8, capacity)

    def test_other_threads_run_while_one_waits_in_the_library(self):
        channel = nearfar.Channel(8, capacity=1)
        other = threading.Thread(target=channel.put, args=(b"come",))
        buffer = ctypes.create_string_buffer(10)
        other.start()
        # A single call waits for ever, unlike get(): with the interpreter lock held no thread could put a value.
        for word in (b"come", b"again"):
            _library.call("channel_receive", channel._handle, buffer, 10, None)
            self.assertEqual(buffer.raw[2 : 2 + len(word)], word)
            other.join()
            other = threading.Thread(target=lambda: (time.sleep(0), channel.put(b"again")))
            other.start()
        channel.get()
        other.join()

    def test_an_interrupt_ends_a_wait(self):
        channel = nearfar.Channel(8, capacity=1)
        library = _library.load()
        original = library.nearfar_channel_receive_for

        def receive(*given):
            self.assertLessEqual(given[-1], 100_000_000)  # or no thread would look for the next value
            signal.raise_signal(signal.SIGINT)
            return original(*given)

        waits = unittest.mock.Mock(side_effect=receive)
        with unittest.mock.patch.object(library, "nearfar_channel_receive_for", waits), self.assertRaises(KeyboardInterrupt):
            channel.get()
        waits.assert_called_once()

    def test_an_interrupt_loses_nothing_that_was_taken(self):
        channel = nearfar.Channel(np.int64, capacity=1)
        for name, block in (("channel_try_receive", False), ("channel_receive_for", True)):
            channel.put(7)
            with interrupted(name), self.assertRaises(KeyboardInterrupt):
                channel.get(block)
            self.assertEqual(channel.get(block=False), 7)
            with self.assertRaises(nearfar.Empty):
                channel.get(block=False)

    def test_an_interrupt_may_come_when_the_value_is_in(self):
        channel = nearfar.Channel(np.int64, capacity=1)
        for name, block in (("channel_try_send", False), ("channel_send_for", True)):
            with interrupted(name), self.assertRaises(KeyboardInterrupt):
                channel.put(7, block)
            self.assertEqual(channel.get(block=False), 7)

    def test_one_that_is_forgotten_is_destroyed(self):
        destroyed = []
        library = _library.load()
        original = library.nearfar_channel_destroy
        library.nearfar_channel_destroy = lambda place: destroyed.append(place) or original(place)
        try:
            nearfar.Channel(8, 1)
            gc.collect()
        finally:
            library.nearfar_channel_destroy = original
        self.assertEqual(len(destroyed), 1)


class Loading(unittest.TestCase):
    def test_another_mpi_library_is_refused(self):
        name, _ = _library._mpi_in_use()
        self.assertTrue(_library.text("mpi_library").startswith(name))
        with self.assertRaisesRegex(ImportError, f"is for elsewhere, but mpi4py uses {name}"):
            _library._expect_same_mpi("elsewhere")

    def test_size_of_options(self):
        self.assertEqual(ctypes.sizeof(_library.WorldOptions), 5 * ctypes.sizeof(ctypes.c_void_p))


if __name__ == "__main__":
    try:
        outcome = unittest.main(exit=False, verbosity=0 if COMM.rank else 1).result
    except BaseException:
        traceback.print_exc()
        COMM.Abort(1)
    if not outcome.testsRun or not outcome.wasSuccessful():
        COMM.Abort(1)
