"""Prints the time in seconds of cuSPARSE, called through CuPy, for the products of
bench/libs/sparse.go."""
import json
import sys

import cupy
import cupyx.scipy.sparse as sparse
import numpy as np


def mix(x):
    """The finalizer of SplitMix64."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def banded(rows, offsets):
    i = np.arange(rows, dtype=np.int64)[:, None]
    j = i + np.array(offsets, dtype=np.int64)[None, :]
    keep = (j >= 0) & (j < rows)
    lengths = keep.sum(1)
    return lengths, j[keep]


def pseudo_random(rows, lengths):
    lengths = np.minimum(lengths, rows)
    row = np.repeat(np.arange(rows, dtype=np.uint64), lengths)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    k = (np.arange(len(row)) - first).astype(np.uint64)
    return lengths, mix((row << np.uint64(32)) | k) % np.uint64(rows)


def each(rows):
    return np.arange(rows, dtype=np.uint64)


def long_rows(rows):
    lengths = np.full(rows, 4, dtype=np.int64)
    lengths[5 :: 1 << 17] = 1 << 20
    return lengths


cube = [(z * 128 + y) * 128 + x for z in (-1, 0, 1) for y in (-1, 0, 1) for x in (-1, 0, 1)]
CASES = {
    "diagonal": (1 << 24, lambda n: banded(n, [0])),
    "stencil of 5 points": (1 << 22, lambda n: banded(n, [-2048, -1, 0, 1, 2048])),
    "stencil of 27 points": (1 << 21, lambda n: banded(n, cube)),
    "band of 65": (1 << 19, lambda n: banded(n, range(-32, 33))),
    "random, 3 per row": (1 << 22, lambda n: pseudo_random(n, np.full(n, 3))),
    "random, 16 per row": (1 << 21, lambda n: pseudo_random(n, np.full(n, 16))),
    "random, 200 per row": (1 << 17, lambda n: pseudo_random(n, np.full(n, 200))),
    "random, 1 to 64 per row": (1 << 20, lambda n: pseudo_random(n, 1 + (mix(each(n)) % np.uint64(64)).astype(np.int64))),
    "power law": (1 << 22, lambda n: pseudo_random(n, 2 + ((1 << 22) // (each(n).astype(np.int64) + 1)))),
    "rows of 2^20 entries": (1 << 20, lambda n: pseudo_random(n, long_rows(n))),
}


def seconds(rows, make):
    """Returns the best of seven samples of at least 20 ms each."""
    lengths, columns = make(rows)
    start = np.zeros(rows + 1, np.int32)
    np.cumsum(lengths, out=start[1:])
    values = np.ones(len(columns), np.float32)
    a = sparse.csr_matrix((cupy.array(values), cupy.array(columns.astype(np.int32)), cupy.array(start)), shape=(rows, rows))
    a.has_canonical_format = True  # cuSPARSE needs no order of the columns
    x = cupy.ones(rows, "float32")
    y = cupy.zeros(rows, "float32")
    from cupyx import cusparse

    begin, end = cupy.cuda.Event(), cupy.cuda.Event()

    def sample(times):
        begin.record()
        for _ in range(times):
            cusparse.spmv(a, x, y)
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end) / 1e3

    sample(3)
    times = 1 + int(0.02 / max(sample(3) / 3, 1e-6))
    return min(sample(times) / times for _ in range(7))


np.seterr(over="ignore")
for name, (rows, make) in CASES.items():
    try:
        print(json.dumps({name: seconds(rows, make)}))
    except Exception as error:  # one matrix that fails does not hide the others
        print(name, error, file=sys.stderr)
    cupy.get_default_memory_pool().free_all_blocks()
