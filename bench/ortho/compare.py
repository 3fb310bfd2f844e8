"""Compares quern geo ortho with orthority on the same frames.

    compare.py [--images 20] [--width 5472] [--height 3648] [--device DEVICE] [--keep FOLDER] [--only quern|orthority] QUERN

QUERN is the program. The frames are generated: RGB images of a textured, hilly ground with the distortion of a drone's camera,
60 m apart, and a surface model with 0.25 m pixels. It needs numpy, rasterio and, unless --only quern is given, orthority (pip install
orthority); nothing is downloaded. Each program makes all images at the same resolution, bilinear, compressed with Deflate. Times of
orthority and of Quern with and without the test of what is hidden are printed, and how much the pixels differ where both have data.
"""

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import rasterio
from rasterio.transform import from_origin

warnings.filterwarnings("ignore", category=rasterio.errors.NotGeoreferencedWarning)

X0, Y0, SIZE = 500000.0, 5300000.0, 1024.0


def hills(x, y):
    return 300 + 12 * np.sin((x - X0) / 61) * np.cos((y - Y0) / 47)


def surface(name, step=0.25):
    n = int(SIZE / step)
    x = X0 + (np.arange(n) + 0.5) * step
    y = Y0 + SIZE - (np.arange(n) + 0.5) * step
    with rasterio.open(name, "w", driver="GTiff", width=n, height=n, count=1, dtype="float32", crs="EPSG:32633", tiled=True, compress="deflate",
                       predictor=3, transform=from_origin(X0, Y0 + SIZE, step, step)) as out:
        out.write(hills(x[None, :], y[:, None]).astype("float32"), 1)


def frame(name, i, width, height):
    v, u = np.mgrid[0:height, 0:width].astype("float32")
    r = np.random.default_rng(i)
    # The pixels need not show the scene: both programs resample the same ones.
    smooth = 120 + 60 * np.sin(u / 37 + i) * np.cos(v / 29) + 30 * np.sin((u + 2 * v) / 11)
    pixels = np.stack([np.clip(smooth + 8 * b + r.integers(0, 12, smooth.shape), 0, 255) for b in range(3)]).astype("uint8")
    with rasterio.open(name, "w", driver="GTiff", width=width, height=height, count=3, dtype="uint8", photometric="rgb", interleave="pixel",
                       tiled=True, blockxsize=512, blockysize=512, compress="deflate", predictor=2) as out:
        out.write(pixels)


def frames(folder, count, width, height):
    camera = {"projection_type": "brown", "width": width, "height": height, "focal_x": 0.85, "focal_y": 0.85, "c_x": 0.002, "c_y": -0.001,
              "k1": -0.02, "k2": 0.01, "k3": 0.0, "p1": 0.0002, "p2": -0.0001}
    with open(os.path.join(folder, "cameras.json"), "w") as f:
        json.dump({"lens": camera}, f)
    rows = ["filename,x,y,z,omega,phi,kappa,camera"]
    for i in range(count):
        rows.append("frame%02d.tif,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,lens" % (
            i, X0 + 400 + 60 * (i % 5), Y0 + 400 + 60 * (i // 5), 420, 3 - i % 6, i % 5 - 2, 17 * i % 360))
    with open(os.path.join(folder, "poses.csv"), "w") as f:
        f.write("\n".join(rows) + "\n")
    names = [os.path.join(folder, "frame%02d.tif" % i) for i in range(count)]
    with multiprocessing.Pool() as pool:
        pool.starmap(frame, [(name, i, width, height) for i, name in enumerate(names)])
    return names


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.time()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.time() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def difference(a, b):
    """The share of pixels that both have, and the greatest and mean difference there."""
    with rasterio.open(a) as p, rasterio.open(b) as q:
        left, top = max(p.bounds.left, q.bounds.left), min(p.bounds.top, q.bounds.top)
        right, bottom = min(p.bounds.right, q.bounds.right), max(p.bounds.bottom, q.bounds.bottom)
        w = [d.window(left, bottom, right, top).round_offsets().round_lengths() for d in (p, q)]
        n = int(min(x.width for x in w)), int(min(x.height for x in w))
        w = [rasterio.windows.Window(x.col_off, x.row_off, *n) for x in w]
        one, two = p.read([1, 2, 3], window=w[0]).astype(int), q.read([1, 2, 3], window=w[1]).astype(int)
        both = (p.dataset_mask(window=w[0]) > 0) & (q.dataset_mask(window=w[1]) > 0)
        d = np.abs(one - two)[:, both]
        return both.mean(), d.max(), d.mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("quern")
    parser.add_argument("--images", type=int, default=20)
    parser.add_argument("--width", type=int, default=5472)
    parser.add_argument("--height", type=int, default=3648)
    parser.add_argument("--resolution", type=float, default=0.025)
    parser.add_argument("--device", default="")
    parser.add_argument("--keep")
    parser.add_argument("--only", choices=["quern", "orthority"])
    a = parser.parse_args()
    folder = a.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    dem = os.path.join(folder, "dem.tif")
    surface(dem)
    names = frames(folder, a.images, a.width, a.height)
    res = str(a.resolution)
    mpx = a.images * a.width * a.height / 1e6
    results = {}
    for name in ("quern", "quern --see_through", "orthority"):
        program = name.split()[0]
        if a.only and program != a.only:
            continue
        out = os.path.join(folder, name.replace(" --", "_"))
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        if program == "quern":
            command = [a.quern, "geo", "ortho", "-dem", dem, "-cameras", os.path.join(folder, "cameras.json"), "-exterior", os.path.join(folder, "poses.csv"),
                       "-tr", res, res, "-tap", "-r", "bilinear", "-q", *name.split()[1:], *(["--device", a.device] if a.device else []), *names, out]
        else:
            command = ["oty", "frame", "--dem", dem, "--int-param", os.path.join(folder, "cameras.json"), "--ext-param", os.path.join(folder, "poses.csv"),
                       "--crs", "EPSG:32633", "--res", res, "--aligned-pixels", "--interp", "bilinear", "--dem-interp", "bilinear", "--compress", "deflate",
                       "--write-mask", "--no-build-ovw", "--overwrite", "--out-dir", out, *names]
        seconds, cpu = run(command)
        results[name] = out
        files = sorted(os.path.join(out, f) for f in os.listdir(out) if f.endswith(".tif"))
        with rasterio.open(files[0]) as f:
            size = f.width, f.height
        print("%-20s %8.2f s (CPU %.2f s)  %7.1f Mpx/s of images  %d files, the first of %d x %d pixels, %d MiB" % (
            name, seconds, cpu, mpx / seconds, len(files), *size, sum(os.path.getsize(f) for f in files) >> 20), flush=True)
    if len(results) == 3:
        one, two = [os.path.join(results[n], "frame00_ORTHO.tif") for n in ("quern --see_through", "orthority")]
        print("both have %.1f %% of the pixels; they differ by %d at most and %.3f on average" % ((lambda d: (100 * d[0], d[1], d[2]))(difference(one, two))))
    if not a.keep:
        shutil.rmtree(folder)


main()
