"""Prints the time in nanoseconds of allocating from a pool with a free block, and of
freeing the block."""
import json
import time

import cupy

SIZE = 4 << 20
TIMES = 200_000


def measure(take):
    """Returns the best of several runs of allocating and freeing, without the loop overhead."""
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter_ns()
        for _ in range(TIMES):
            pass
        middle = time.perf_counter_ns()
        for _ in range(TIMES):
            taken = take(SIZE)
            del taken
        best = min(best, time.perf_counter_ns() - middle - (middle - begin))
    return best / TIMES


pool = cupy.cuda.MemoryPool()
figures = {"cupy pool": measure(pool.malloc)}
try:
    figures["cupy async pool"] = measure(cupy.cuda.MemoryAsyncPool().malloc)
except Exception:
    pass
try:
    import torch

    torch.zeros(1, device="cuda")
    figures["torch empty"] = measure(lambda n: torch.empty(n, dtype=torch.uint8, device="cuda"))
except ImportError:
    pass
print(json.dumps(figures))
