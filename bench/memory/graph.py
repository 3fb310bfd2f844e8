"""Measures a graph of small kernels in CuPy. Arguments: kernels, elements, runs, rounds."""
import json
import statistics
import sys
import time

import cupy as cp

kernels, elements, runs, rounds = map(int, sys.argv[1:])

saxpy = cp.RawKernel(r"""
extern "C" __global__ void saxpy(float a, const float *x, long long nx, float *y, long long ny) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ny) y[i] += a * x[i];
}
""", "saxpy")

x = cp.zeros(elements, cp.float32)
y = cp.zeros(elements, cp.float32)
stream = cp.cuda.Stream(non_blocking=True)


def launches():
    for _ in range(kernels):
        saxpy(((elements + 255) // 256,), (256,), (cp.float32(2), x, cp.int64(elements), y, cp.int64(elements)))


with stream:
    launches()
    stream.synchronize()
    stream.begin_capture()
    launches()
    graph = stream.end_capture()


def per_run(f, runs):
    took = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        for _ in range(runs):
            f()
        stream.synchronize()
        took.append((time.perf_counter() - begin) / runs)
    return statistics.median(took[1:])


with stream:
    print(json.dumps({
        "launches": per_run(launches, 4),
        "replay": per_run(lambda: graph.launch(stream), runs),
        "latency": per_run(lambda: graph.launch(stream), 1),
    }))
