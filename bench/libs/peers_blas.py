"""Prints the time in seconds of cuBLAS, called through torch, for the operations of
bench/libs/blas.go."""
import json
import sys

import torch

CASES = [
    ("float32", 512, 1), ("float32", 1024, 1), ("float32", 2048, 1), ("float32", 4096, 1), ("float32", 8192, 1),
    ("float32", 64, 4096), ("float64", 1024, 1), ("float64", 4096, 1), ("tf32", 4096, 1), ("float16", 8192, 1),
    ("bfloat16", 1024, 1), ("bfloat16", 4096, 1), ("bfloat16", 8192, 1), ("int8", 4096, 1), ("float8_e4m3fn", 4096, 1), ("float8_e4m3fn", 8192, 1),
]  # cuBLAS does not multiply two matrices of float8_e5m2
ODD = [
    (100, 100, 100), (181, 181, 181), (256, 256, 256), (362, 362, 362), (500, 500, 500), (724, 724, 724), (777, 1333, 555),
    (1000, 1000, 1000), (1023, 1023, 1023), (1024, 1024, 1024), (1025, 1025, 1025), (1234, 2345, 345), (1448, 1448, 1448), (1500, 1500, 1500),
    (2000, 2000, 2000), (2049, 2049, 2049), (2896, 2896, 2896), (3000, 3000, 3000), (3333, 1111, 2222), (4095, 4095, 4095), (5000, 5000, 5000), (8191, 8191, 8191),
    (8192, 64, 8192), (64, 8192, 64), (8192, 8192, 64), (64, 64, 8192), (64, 8192, 8192), (10000, 33, 1000), (17, 4096, 4096), (3000, 3000, 15), (300, 300, 20000),
]
TYPES = {"tf32": torch.float32, "int8": torch.int8}


def seconds(call):
    """Returns the best of seven samples of at least 20 ms each."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def sample(times):
        start.record()
        for _ in range(times):
            call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    sample(3)
    times = 1 + int(0.02 / max(sample(3) / 3, 1e-6))
    return min(sample(times) / times for _ in range(7))


def product(elements, n, batch):
    torch.backends.cuda.matmul.allow_tf32 = elements == "tf32"
    dtype = TYPES.get(elements) or getattr(torch, elements)
    shape = (n, n) if batch == 1 else (batch, n, n)
    a, b = torch.zeros(shape, dtype=dtype, device="cuda"), torch.zeros(shape, dtype=dtype, device="cuda").transpose(-1, -2)
    if elements == "int8":
        return lambda: torch._int_mm(a, b)
    if elements.startswith("float8"):
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
    out = torch.empty(shape, dtype=dtype, device="cuda")
    return lambda: torch.matmul(a, b, out=out)


def report(name, make):
    try:
        print(json.dumps({name: seconds(make())}), flush=True)
    except Exception as error:  # an operation that fails does not hide the others
        print(f"{name}: {error}", file=sys.stderr)


for elements, n, batch in CASES:
    report(f"gemm {elements} {n}, batch {batch}", lambda: product(elements, n, batch))

torch.backends.cuda.matmul.allow_tf32 = False


def odd(m, n, k):
    a, b, out = torch.zeros((m, k), device="cuda"), torch.zeros((k, n), device="cuda"), torch.empty((m, n), device="cuda")
    return lambda: torch.matmul(a, b, out=out)


for m, n, k in ODD:
    report(f"gemm float32 {m}x{n}x{k}", lambda: odd(m, n, k))

N, SIDE = 1 << 26, 1 << 13
x, y = torch.zeros(N, device="cuda"), torch.zeros(N, device="cuda")
a, v = x.view(SIDE, SIDE), torch.zeros(SIDE, device="cuda")
t, w = torch.empty_like(a), torch.empty_like(v)
report("axpy float32", lambda: lambda: y.add_(x, alpha=2))
report("dot float32", lambda: lambda: torch.dot(x, y))
report("nrm2 float32", lambda: lambda: torch.linalg.vector_norm(x))
report("gemv float32", lambda: lambda: torch.mv(a, v, out=w))
report("gemv trans float32", lambda: lambda: torch.mv(a.t(), v, out=w))
report("transpose float32", lambda: lambda: t.copy_(a.t()))
