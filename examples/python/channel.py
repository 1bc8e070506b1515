"""Threads that hand numbers to each other, without MPI.

    python3 channel.py
"""

import threading

import numpy as np

import nearfar


# [channel]
def sum_of_squares(last):
    """1 + 4 + ... + last * last, where one thread squares and another sums up."""
    squares = nearfar.Channel(np.int64, capacity=16)

    def square():
        with squares:  # closed at the end
            for number in range(1, last + 1):
                squares.put(number * number)

    producer = threading.Thread(target=square)
    producer.start()
    total = sum(squares)
    producer.join()
    return total
# [end]


if __name__ == "__main__":
    total = sum_of_squares(1000)
    print(total)
    raise SystemExit(0 if total == 1000 * 1001 * 2001 // 6 else 1)
