"""Writes the scene of the benchmark: generate.py FILE [SIZE]

An RGB image of SIZE x SIZE pixels (8192) of 10 m in UTM zone 33N, with structure of all sizes as a photograph has, as a
Cloud Optimized GeoTIFF compressed with Deflate. It needs rasterio.
"""

import sys

import numpy as np
import rasterio
from rasterio.shutil import copy
from rasterio.transform import from_origin


def texture(r, size):
    """Noise of all octaves: amplitudes fall with the square root of the frequency."""
    out = np.zeros((size, size), "float32")
    cell = 512
    while cell >= 1:
        n = size // cell
        low = r.random((n + 1, n + 1), dtype="float32") - 0.5
        at = np.arange(size, dtype="float32") / cell
        i, f = at.astype(int), at % 1
        rows = low[i] * (1 - f)[:, None] + low[np.minimum(i + 1, n)] * f[:, None]
        out += (rows[:, i] * (1 - f) + rows[:, np.minimum(i + 1, n)] * f) * (cell / 512) ** 0.6
        cell //= 2
    return out


def main():
    name, size = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8192
    r = np.random.default_rng(1)
    base = texture(r, size)
    profile = dict(driver="GTiff", width=size, height=size, count=3, dtype="uint8", crs="EPSG:32633",
                   transform=from_origin(500000, 5300000, 10, 10), photometric="rgb", interleave="pixel")
    with rasterio.MemoryFile() as memory:
        with memory.open(**profile) as out:
            for band in range(3):
                out.write(np.clip(120 + 150 * base + 30 * texture(r, size), 0, 255).astype("uint8"), band + 1)
        with memory.open() as whole:
            copy(whole, name, driver="COG", compress="DEFLATE", predictor=2, overview_resampling="AVERAGE", num_threads="ALL_CPUS")


main()
