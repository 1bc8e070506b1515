"""Two threads that pass numbers through a channel, without MPI.

    python3 channel.py
"""

# [imports]
import threading

import numpy as np

import nearfar
# [end]


# [channel]
def sum_of_squares(last):
    """Return 1 + 4 + ... + last * last. One thread squares, another adds up."""
    squares = nearfar.Channel(np.int64, capacity=16)

    def square():
        with squares:  # closes the channel at the end
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
