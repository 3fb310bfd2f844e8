"""Measures CuPy, numba-cuda and NVRTC-compiled CUDA C on the benchmarks of
bench/gpu: the same sizes, the same checks, the same statistics.

    python3 peers.py -o peers.json

Needs NumPy and CuPy; numba-cuda is measured if it can be imported.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import cupy as cp

# numba-cuda uses names that NumPy 2.4 removed.
for old, new in {"row_stack": "vstack", "in1d": "isin", "trapz": "trapezoid"}.items():
    if not hasattr(np, old) and hasattr(np, new):
        setattr(np, old, getattr(np, new))

try:
    os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
    from numba import cuda, float32

    NUMBA_ERROR = None
except Exception as e:  # imports fail with many exception types
    NUMBA_ERROR = f"{type(e).__name__}: {e}"

RADIUS = 8
WARM_UP = 3
BATCH = 500
BATCHES = 40


class Bench:
    def __init__(self, sizes):
        self.sizes = sizes
        self.results = []
        self.rng = cp.random.default_rng()
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.cu")
        with open(source) as f:
            self.module = cp.RawModule(code=f.read(), backend="nvrtc")

    def random(self, n):
        return self.rng.random(n, dtype=cp.float32) * 2 - 1

    def report(self, benchmark, tool, unit, value=0.0, error=""):
        r = {"benchmark": benchmark, "tool": tool, "unit": unit, "value": value}
        if error:
            r["error"] = error
            print(f"{tool}, {benchmark}: {error}", flush=True)
        self.results.append(r)

    def compare(self, benchmark, tool, unit, amount, reset, launch, check):
        """Checks one launch, then records amount divided by the median time of many."""
        try:
            reset()
            launch()
            cp.cuda.Device().synchronize()
            check()
            seconds = self.time(launch)
        except Exception as e:
            self.report(benchmark, tool, unit, error=f"{type(e).__name__}: {e}")
            return
        self.report(benchmark, tool, unit, amount / seconds)

    def time(self, launch):
        for _ in range(WARM_UP):
            launch()
        samples = []
        start, end = cp.cuda.Event(), cp.cuda.Event()
        for _ in range(self.sizes["repeat"]):
            start.record()
            launch()
            end.record()
            end.synchronize()
            samples.append(cp.cuda.get_elapsed_time(start, end) / 1e3)
        return statistics.median(samples)

    # Launches

    def launch(self):
        x, y = cp.zeros(1, cp.float32), cp.zeros(1, cp.float32)
        empty = self.module.get_function("empty")
        args = (np.float32(1), np.int64(2), x, y)
        launchers = {"CuPy": (lambda: empty((1,), (32,), args), cp.cuda.Stream.null.synchronize)}
        if NUMBA_ERROR is None:
            @cuda.jit
            def nothing(a, n, x, y):
                pass

            nx, ny = cuda.as_cuda_array(x), cuda.as_cuda_array(y)
            configured = nothing[1, 32]
            configured(1.0, 2, nx, ny)
            launchers["numba-cuda"] = (lambda: configured(1.0, 2, nx, ny), cuda.synchronize)
        else:
            self.report("launch", "numba-cuda", "us", error=NUMBA_ERROR)
        for tool, (submit, wait) in launchers.items():
            submits, waits = [], []
            submit()
            wait()
            for _ in range(BATCHES):
                begin = time.perf_counter()
                for _ in range(BATCH):
                    submit()
                submits.append((time.perf_counter() - begin) / BATCH)
                wait()
                for _ in range(10):
                    begin = time.perf_counter()
                    submit()
                    wait()
                    waits.append(time.perf_counter() - begin)
            self.report("launch", tool, "us", statistics.median(submits) * 1e6)
            self.report("launch and wait", tool, "us", statistics.median(waits) * 1e6)

    def start(self):
        """Runs small programs, each in a separate process; see gpu/start.go."""
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers_start.py")
        for tool, name in (("CuPy", "cupy"), ("numba-cuda", "numba")):
            samples = {}
            for round in range(4):
                begin = time.perf_counter()
                run = subprocess.run([sys.executable, program, name], capture_output=True, text=True)
                took = time.perf_counter() - begin
                if run.returncode != 0:
                    self.report("small program", tool, "us", error=run.stderr.strip().splitlines()[-1])
                    break
                if round == 0:
                    continue  # warms up the caches
                for part, micros in json.loads(run.stdout).items():
                    samples.setdefault(part, []).append(micros)
                samples.setdefault("its process", []).append(took * 1e6)
            for part, values in samples.items():
                if part != "import":
                    self.report(part, tool, "us", statistics.median(values))

    # saxpy

    def saxpy(self):
        n = self.sizes["vector"]
        a = np.float32(1.5)
        x, y0 = self.random(n), self.random(n)
        y = cp.empty_like(y0)

        def reset():
            y[:] = y0

        def check():
            # In parts, because float64 needs twice the memory.
            for lo in range(0, n, 1 << 25):
                part = slice(lo, lo + (1 << 25))
                want = float(a) * x[part].astype(cp.float64) + y0[part]
                worst = float(cp.max(cp.abs(y[part] - want)))
                assert worst <= 1e-6, f"off by {worst}"

        def enter(tool, launch):
            self.compare("saxpy", tool, "GB/s", 12 * n / 1e9, reset, launch, check)

        kernel = self.module.get_function("saxpy")
        grid = ((n + 255) // 256,)
        args = (a, np.int32(n), x, y)
        enter("NVRTC", lambda: kernel(grid, (256,), args))

        element = cp.ElementwiseKernel("float32 a, float32 x", "float32 y", "y += a * x", "saxpy_element")
        enter("CuPy", lambda: element(a, x, y))

        if NUMBA_ERROR is None:
            @cuda.jit
            def numba_saxpy(a, x, y):
                i = cuda.grid(1)
                if i < y.shape[0]:
                    y[i] += a * x[i]

            nx, ny = cuda.as_cuda_array(x), cuda.as_cuda_array(y)
            configured = numba_saxpy[grid[0], 256]
            enter("numba-cuda", lambda: configured(a, nx, ny))
        else:
            self.report("saxpy", "numba-cuda", "GB/s", error=NUMBA_ERROR)

    # Products

    def matmul(self):
        m = n = k = self.sizes["matrix"]
        a, b = self.random(m * k).reshape(m, k), self.random(k * n).reshape(k, n)
        c = cp.empty((m, n), cp.float32)
        rows = [0, 1, m // 3, m // 2, m - 1]
        want = a[rows].astype(cp.float64) @ b.astype(cp.float64)

        def reset():
            c.fill(cp.nan)

        def check():
            assert not bool(cp.isnan(c).any()), "an element is NaN or was not written"
            worst = float(cp.max(cp.abs(c[rows] - want)))
            assert worst <= 1e-6 * k, f"off by {worst}"

        amount = 2 * m * n * k / 1e12
        args = (np.int32(m), np.int32(n), np.int32(k), a, b, c)

        def nvrtc(benchmark, name, tile):
            kernel = self.module.get_function(name)
            grid = ((n + tile - 1) // tile, (m + tile - 1) // tile)
            self.compare(benchmark, "NVRTC", "TFLOP/s", amount, reset,
                         lambda: kernel(grid, (16, 16), args), check)

        nvrtc("matmul 16x16", "tile_matmul", 16)
        nvrtc("matmul 128x128x16", "register_matmul", 128)

        if NUMBA_ERROR is not None:
            self.report("matmul 16x16", "numba-cuda", "TFLOP/s", error=NUMBA_ERROR)
            return

        @cuda.jit
        def numba_tile(m, n, k, a, b, c):
            tile_a = cuda.shared.array((16, 16), float32)
            tile_b = cuda.shared.array((16, 16), float32)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            row = cuda.blockIdx.y * 16 + ty
            column = cuda.blockIdx.x * 16 + tx
            total = float32(0)
            for k0 in range(0, k, 16):
                tile_a[ty, tx] = float32(0)
                tile_b[ty, tx] = float32(0)
                if row < m and k0 + tx < k:
                    tile_a[ty, tx] = a[row, k0 + tx]
                if k0 + ty < k and column < n:
                    tile_b[ty, tx] = b[k0 + ty, column]
                cuda.syncthreads()
                for i in range(16):
                    total += tile_a[ty, i] * tile_b[i, tx]
                cuda.syncthreads()
            if row < m and column < n:
                c[row, column] = total

        @cuda.jit
        def numba_register(m, n, k, a, b, c):
            tile_a = cuda.shared.array((16, 132), float32)
            tile_b = cuda.shared.array((16, 128), float32)
            sums = cuda.local.array((8, 8), float32)
            va = cuda.local.array(8, float32)
            vb = cuda.local.array(8, float32)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            thread = ty * 16 + tx
            row0, column0 = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
            for i in range(8):
                for j in range(8):
                    sums[i, j] = float32(0)
            for k0 in range(0, k, 16):
                for i in range(8):
                    e = thread + i * 256
                    tile_a[e % 16, e // 16] = a[row0 + e // 16, k0 + e % 16]
                    tile_b[e // 128, e % 128] = b[k0 + e // 128, column0 + e % 128]
                cuda.syncthreads()
                for p in range(16):
                    for i in range(8):
                        va[i] = tile_a[p, ty * 8 + i]
                        vb[i] = tile_b[p, tx * 8 + i]
                    for i in range(8):
                        for j in range(8):
                            sums[i, j] += va[i] * vb[j]
                cuda.syncthreads()
            for i in range(8):
                for j in range(8):
                    c[row0 + ty * 8 + i, column0 + tx * 8 + j] = sums[i, j]

        na, nb, nc = (cuda.as_cuda_array(v) for v in (a, b, c))
        for benchmark, kernel, tile in (
            ("matmul 16x16", numba_tile, 16),
            ("matmul 128x128x16", numba_register, 128),
        ):
            configured = kernel[((n + tile - 1) // tile, (m + tile - 1) // tile), (16, 16)]
            self.compare(benchmark, "numba-cuda", "TFLOP/s", amount, reset,
                         lambda: configured(m, n, k, na, nb, nc), check)

    # Blur

    def blur(self):
        w = h = self.sizes["image"]
        image = self.random(w * h).reshape(h, w)
        out = cp.empty_like(image)
        gauss = [math.exp(-k * k / 18) for k in range(RADIUS + 1)]
        weights = np.array([g / (gauss[0] + 2 * sum(gauss[1:])) for g in gauss], np.float32)

        def reset():
            out.fill(cp.nan)

        def check(axis):
            padding = [(0, 0), (0, 0)]
            padding[axis] = (RADIUS, RADIUS)
            padded = cp.pad(image, padding, mode="edge")
            want = cp.zeros(image.shape, cp.float64)
            for k in range(-RADIUS, RADIUS + 1):
                part = [slice(None), slice(None)]
                part[axis] = slice(RADIUS + k, RADIUS + k + image.shape[axis])
                want += float(weights[abs(k)]) * padded[tuple(part)]
            worst = float(cp.max(cp.abs(out - want)))
            assert worst <= 1e-6, f"off by {worst}"

        amount = 8 * w * h / 1e9
        args = (weights.view(np.dtype([("v", np.float32, RADIUS + 1)])), np.int32(w), np.int32(h), image, out)
        for benchmark, name, axis, grid, block in (
            ("blur rows", "blur_rows", 1, ((w + 255) // 256, h), (256, 1)),
            ("blur columns", "blur_columns", 0, ((w + 31) // 32, (h + 63) // 64), (32, 8)),
        ):
            kernel = self.module.get_function(name)
            self.compare(benchmark, "NVRTC", "GB/s", amount, reset,
                         lambda: kernel(grid, block, args), lambda: check(axis))

        from cupyx.scipy import ndimage
        both = cp.asarray(np.concatenate([weights[:0:-1], weights]))
        for benchmark, axis in (("blur rows", 1), ("blur columns", 0)):
            self.compare(benchmark, "CuPy", "GB/s", amount, reset,
                         lambda: ndimage.correlate1d(image, both, axis=axis, output=out, mode="nearest"),
                         lambda: check(axis))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", default="peers.json", help="JSON file to write")
    parser.add_argument("--small", action="store_true", help="small sizes, to try out the program")
    args = parser.parse_args()
    full = {"vector": 1 << 28, "matrix": 4096, "image": 8192, "repeat": 30}
    small = {"vector": 1 << 14, "matrix": 256, "image": 256, "repeat": 3}

    bench = Bench(small if args.small else full)
    for benchmark in (bench.start, bench.launch, bench.saxpy, bench.matmul, bench.blur):
        benchmark()
    properties = cp.cuda.runtime.getDeviceProperties(0)
    device = (f"{properties['name'].decode()}, CUDA {cp.cuda.runtime.runtimeGetVersion()}, "
              f"CuPy {cp.__version__}, NumPy {np.__version__}")
    with open(args.o, "w") as f:
        json.dump({"device": device, "results": bench.results}, f, indent="\t")
        f.write("\n")


if __name__ == "__main__":
    main()
