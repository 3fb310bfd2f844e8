"""Prints the time in seconds of cuFFT, called through CuPy plans, for the transforms of
bench/libs/fft.go."""
import json

import cupy

CASES = [
    ((1 << 8,), 1 << 18, "complex64"),
    ((1 << 10,), 1 << 16, "complex64"),
    ((1 << 12,), 1 << 14, "complex64"),
    ((1 << 16,), 1 << 10, "complex64"),
    ((1 << 20,), 64, "complex64"),
    ((1 << 24,), 4, "complex64"),
    ((1 << 26,), 1, "complex64"),
    ((4096, 4096), 1, "complex64"),
    ((512, 512, 512), 1, "complex64"),
    ((1000,), 1 << 16, "complex64"),
    ((2310,), 1 << 15, "complex64"),
    ((1009,), 1 << 14, "complex64"),
    ((1000000,), 64, "complex64"),
    ((1 << 12,), 1 << 13, "complex128"),
    ((1 << 20,), 32, "complex128"),
]


def seconds(shape, batch, dtype):
    """Returns the best of seven samples of at least 20 ms each."""
    x = cupy.zeros((batch,) + shape, dtype)
    x[...] = cupy.arange(x.size, dtype="int64").reshape(x.shape) % 1001
    y = cupy.empty_like(x)
    kind = cupy.cuda.cufft.CUFFT_C2C if dtype == "complex64" else cupy.cuda.cufft.CUFFT_Z2Z
    points = 1
    for n in shape:
        points *= n
    if len(shape) == 1:
        plan = cupy.cuda.cufft.Plan1d(shape[0], kind, batch)
    else:
        plan = cupy.cuda.cufft.PlanNd(shape, shape, 1, points, shape, 1, points, kind, batch, "C", len(shape) - 1, None)
    start, end = cupy.cuda.Event(), cupy.cuda.Event()

    def sample(times):
        start.record()
        for _ in range(times):
            plan.fft(x, y, cupy.cuda.cufft.CUFFT_FORWARD)
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) / 1e3

    sample(3)
    times = 1 + int(0.02 / max(sample(3) / 3, 1e-6))
    return min(sample(times) / times for _ in range(7))


for shape, batch, dtype in CASES:
    name = "x".join(map(str, shape)) + (" complex128" if dtype == "complex128" else "") + f", batch {batch}"
    try:
        print(json.dumps({name: seconds(shape, batch, dtype)}))
    except Exception as error:  # one plan that fails does not hide the others
        import sys

        print(name, error, file=sys.stderr)
    cupy.get_default_memory_pool().free_all_blocks()
