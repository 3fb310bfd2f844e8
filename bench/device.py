"""Copies within a GPU by torch, to compare with quern bench device: 2^25 float64 as there.

    device.py

It prints GB/s, read and written, of the shortest and of the median of 100 runs by events,
without the first ones. As there, a kernel that waits is launched before, so that no launch is
part of the time.
"""

import statistics

import torch

N = 1 << 25
a = torch.rand(N, dtype=torch.float64, device="cuda")
c = torch.empty_like(a)
times = []
for run in range(110):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(200000)
    begin.record()
    c.copy_(a)
    end.record()
    end.synchronize()
    if run >= 10:
        times.append(begin.elapsed_time(end))
assert torch.equal(a, c)
for name, ms in ("shortest", min(times)), ("median", statistics.median(times)):
    print("torch copy, %s: %.1f GB/s" % (name, 16 * N / ms / 1e6))
