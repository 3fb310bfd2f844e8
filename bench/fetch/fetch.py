"""Measures the cost of jumps over code for one warp: cycles per instruction of code
that runs repeatedly, without jumps and with blocks of 16 instructions that each
jump over 48 others. Needs nvcc and a GPU.

    python3 bench/fetch/fetch.py
"""

import os
import shutil
import subprocess
import sys
import tempfile

ROUNDS, WARM = 60, 10
STRAIGHT = [256, 1024, 4096, 8192]
BLOCKS = [4, 8, 16, 32, 64, 128]
HOT, COLD = 16, 48

STEP = 'asm volatile("{op} %0, %0, %1;" : "+r"(x) : "r"(y));'
ADD, XOR = STEP.format(op="add.u32"), STEP.format(op="xor.b32")
REST = 'asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(y));'


def kernel(name, body):
    return f"""
__global__ void {name}(unsigned long long *out, unsigned y, unsigned never) {{
  unsigned x = y;
  long long begin = 0;
#pragma unroll 1
  for (int i = 0; i < {ROUNDS}; i++) {{
    if (i == {WARM}) begin = clock64();
    {body}
  }}
  out[0] = clock64() - begin;
  out[1] = x;
}}"""


def main():
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(nvcc):
        sys.exit("fetch.py: nvcc is neither in PATH nor in /usr/local/cuda/bin; install the CUDA toolkit")
    source, calls = ["#include <cstdio>"], []

    def add(name, body, instructions, what):
        source.append(kernel(name, body))
        calls.append(f"""  {name}<<<1, 32>>>(out, 3, 0);
  if (cudaError_t e = cudaDeviceSynchronize()) {{ puts(cudaGetErrorString(e)); return 1; }}
  printf("{what}: %.2f cycles an instruction\\n", out[0] / {ROUNDS - WARM}.0 / {instructions});""")

    for n in STRAIGHT:
        add(f"straight{n}", (ADD + XOR) * (n // 2), n, f"{n} instructions in a row")
    for n in BLOCKS:
        body = "".join((ADD + XOR) * (HOT // 2) + f"\n    if (never == {b + 1}) {{ {REST * COLD} }}\n    " for b in range(n))
        add(f"jumps{n}", body, n * HOT, f"{n * HOT} instructions, {n} jumps over {COLD} others, {n * (HOT + COLD) * 16 // 1024} KiB in all")
    source.append("int main() {\n  unsigned long long *out;\n  cudaMallocManaged(&out, 4096);\n" + "\n".join(calls) + "\n}")
    with tempfile.TemporaryDirectory() as folder:
        text, program = os.path.join(folder, "fetch.cu"), os.path.join(folder, "fetch")
        with open(text, "w") as f:
            f.write("\n".join(source))
        subprocess.check_call([nvcc, "-arch=native", "-O1", "-o", program, text])
        subprocess.check_call([program])


if __name__ == "__main__":
    main()
