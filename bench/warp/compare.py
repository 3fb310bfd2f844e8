"""Compares quern geo warp with gdalwarp on the same cores: bilinear and exact.

    compare.py QUERN [SIZE [COMPRESSION]]

QUERN is the program; SIZE is the width and height of a generated RGB image in pixels (8192); COMPRESSION is that
of source and result: NONE (the default), DEFLATE or ZSTD, with predictor 2. It needs rasterio, in whose library gdalwarp runs (geo/warp/testdata/judge.py). Each runs three times, in turn;
the medians of wall and CPU seconds and the share of pixels that differ are printed.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import rasterio
from rasterio.transform import from_origin
from rasterio.windows import Window

JUDGE = os.path.join(os.path.dirname(__file__), "..", "..", "geo", "warp", "testdata", "judge.py")


def generate(name, size, compression):
    r = np.random.default_rng(1)
    with rasterio.open(name, "w", driver="GTiff", width=size, height=size, count=3, dtype="uint8", crs="EPSG:32633",
                       transform=from_origin(500000, 5300000, 10, 10), tiled=True, blockxsize=512, blockysize=512,
                       interleave="pixel", photometric="rgb", BIGTIFF="YES", compress=compression,
                       predictor=1 if compression == "NONE" else 2, NUM_THREADS="ALL_CPUS") as out:
        x = np.arange(size)
        for y in range(0, size, 512):
            rows = min(512, size - y)
            smooth = 120 + 100 * np.sin(x / 50)[None, :] * np.cos(np.arange(y, y + rows) / 70)[:, None]
            out.write(np.stack([np.clip(smooth + 20 * r.random((rows, size)) * (b + 1), 0, 255) for b in range(3)]).astype("uint8"),
                      window=Window(0, y, size, rows))


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.time()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.time() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    quern = sys.argv[1]
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 8192
    compression = sys.argv[3] if len(sys.argv) > 3 else "NONE"
    storage = ["-co", "COMPRESS=" + compression] + ([] if compression == "NONE" else ["-co", "PREDICTOR=2"])
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "source.tif")
        generate(source, size, compression)
        results = [os.path.join(folder, n) for n in ("gdal.tif", "quern.tif")]
        common = ["-t_srs", "EPSG:3857", "-r", "bilinear", "-et", "0", "-overwrite", "-multi", "-wo", "NUM_THREADS=ALL_CPUS"]
        commands = [
            [sys.executable, JUDGE, "time", *common, *storage, "-wm", "1000", "-oo", "NUM_THREADS=ALL_CPUS", "-co", "NUM_THREADS=ALL_CPUS",
             "-co", "TILED=YES", "-co", "BLOCKXSIZE=512", "-co", "BLOCKYSIZE=512", source, results[0]],
            [quern, "geo", "warp", *common[:-2], "-q", *storage, source, results[1]],
        ]
        times = [[], []]
        for _ in range(3):
            for i, c in enumerate(commands):
                times[i].append(run(c))
        for name, t in zip(("gdalwarp", "quern"), times):
            size = os.path.getsize(results[name == "quern"])
            print("%-9s %.2f s, %.2f CPU s, %.1f MB" % (name, *(statistics.median(v) for v in zip(*t)), size / 1e6))
        different = total = 0
        with rasterio.open(results[0]) as a, rasterio.open(results[1]) as b:
            print("%d x %d pixels, %d x %d" % (a.width, a.height, b.width, b.height), "equal places" if a.transform.almost_equals(b.transform, 1e-6) else "different places")
            for y in range(0, min(a.height, b.height), 1024):
                w = Window(0, y, min(a.width, b.width), min(1024, a.height - y, b.height - y))
                x, z = a.read(window=w), b.read(window=w)
                different += int((x != z).sum())
                total += x.size
        print("%d of %d samples differ" % (different, total))


main()
