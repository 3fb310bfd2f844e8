"""Prints the sweep of quern bench algo for CuPy, as CSV with the same columns.

    python3 peers_sweep.py [elements] > cupy.csv

It measures the same calls for the powers of two from 2^10 to the given number, 2^28 by default.
Time of the host counts: a figure is the shortest of five samples of at least 20 ms, each between
two events. The bytes are those of docs/algorithms.md.
"""
import math
import sys

import cupy

start, end = cupy.cuda.Event(), cupy.cuda.Event()


def sample(run, times):
    start.record()
    for _ in range(times):
        run()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end) / 1e3 / times


def seconds(run):
    sample(run, 1)  # compiles kernels, fills the pool
    one = sample(run, 1)
    if one > 0.5:
        return one
    times = 1 + int(0.02 / max(one, 1e-6))
    return min([one] + [sample(run, times) for _ in range(5)])


def cases(n):
    """Yields the name, the call, the bytes that it moves, and its operations."""
    x = cupy.random.random(n, dtype="float32")
    y = cupy.empty_like(x)
    yield "copy", lambda: cupy.copyto(y, x), 8 * n, 0
    yield "reduce", lambda: cupy.sum(x), 4 * n, 0
    yield "scan", lambda: cupy.cumsum(x, out=y), 8 * n, 0
    coins = cupy.random.randint(0, 2, n, dtype="int32")
    yield "select", lambda: coins[coins != 0], 6 * n, 0
    yield "histogram", lambda: cupy.histogram(x, bins=256, range=(0, 1)), 4 * n, 0
    keys = cupy.random.randint(0, 1 << 32, n, dtype="uint32")
    yield "sort", lambda: cupy.sort(keys), 36 * n, 0
    points = cupy.random.random(2 * n, dtype="float32").view("complex64")
    yield "fft", lambda: cupy.fft.fft(points), 16 * n * (1 + (n > 8192) + (n > 1 << 24)), 5 * n * math.log2(n)
    side = math.isqrt(n)
    a, b, c = (v[: side * side].reshape(side, side) for v in (x, points.view("float32"), y))
    yield "gemm", lambda: cupy.matmul(a, b, out=c), 12 * side**2, 2 * side**3


most = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 28
print("algorithm,elements,seconds,gb_per_second,copy_gb_per_second,tflops,peak_tflops")
n = 1 << 10
while n <= most:
    copy = 0
    try:
        for name, run, moved, operations in cases(n):
            took = seconds(run)
            rate = moved / took / 1e9
            if name == "copy":
                copy = rate
            print(f"{name},{n},{took:.6g},{rate:.6g},{copy:.6g},{operations / took / 1e12:.6g},0", flush=True)
    except cupy.cuda.memory.OutOfMemoryError as error:
        print(n, error, file=sys.stderr)
    cupy.get_default_memory_pool().free_all_blocks()
    cupy.fft.config.get_plan_cache().clear()
    n *= 2
