"""A small program in CuPy or numba-cuda: opens the device, uploads two arrays,
launches one kernel that was compiled before, downloads the result. It prints the
microseconds of its phases as JSON; importing the packages is a separate phase.

    python3 peers_start.py cupy|numba
"""

import json
import sys
import time

began = last = time.perf_counter()
micros = {}


def end(part):
    global last
    now = time.perf_counter()
    micros[part] = (now - last) * 1e6
    last = now


N = 1 << 20

SAXPY = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""


def with_cupy():
    global began, last
    import numpy as np
    import cupy as cp

    x, y = np.arange(N, dtype=np.float32), np.ones(N, np.float32)
    end("import")
    cp.cuda.runtime.free(0)
    end("open")
    dx, dy = cp.asarray(x), cp.asarray(y)
    cp.cuda.runtime.deviceSynchronize()
    end("first uploads")
    kernel = cp.RawKernel(SAXPY, "saxpy")
    kernel(((N + 255) // 256,), (256,), (np.float32(2), dx, dy, np.int32(N)))
    cp.cuda.runtime.deviceSynchronize()
    end("first launch")
    out = dy.get()
    end("download")
    assert np.array_equal(out, 2 * x + y)


def with_numba():
    import numpy as np

    for old, new in {"row_stack": "vstack", "in1d": "isin", "trapz": "trapezoid"}.items():
        if not hasattr(np, old) and hasattr(np, new):
            setattr(np, old, getattr(np, new))
    from numba import cuda, float32, void

    x, y = np.arange(N, dtype=np.float32), np.ones(N, np.float32)
    end("import")
    cuda.current_context()
    end("open")
    dx, dy = cuda.to_device(x), cuda.to_device(y)
    cuda.synchronize()
    end("first uploads")

    @cuda.jit(void(float32, float32[:], float32[:]), cache=True)
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] += a * x[i]

    saxpy[(N + 255) // 256, 256](np.float32(2), dx, dy)
    cuda.synchronize()
    end("first launch")
    out = dy.copy_to_host()
    end("download")
    assert np.array_equal(out, 2 * x + y)


if __name__ == "__main__":
    {"cupy": with_cupy, "numba": with_numba}[sys.argv[1]]()
    micros["small program"] = (last - began) * 1e6 - micros["import"]
    print(json.dumps(micros))
