"""Compares quern geo warp with gdalwarp on the same machine: times, sizes and pixels.

    compare.py QUERN [-h | options]

QUERN is the program; Go is not needed. gdalwarp is that of the library in rasterio's wheel (geo/warp/testdata/judge.py), run with
-multi and all cores. A generated RGB image is warped from UTM to Web Mercator, bilinear. Both programs run in turn;
medians are printed. GDAL's seconds are those of the call, without Python's start. Quern has two: of the whole process, and of the
call, which begins when the device is open. The first run of quern, on which a driver compiles its kernels, is printed apart.
"""

import argparse
import json
import os
import re
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

JUDGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "geo", "warp", "testdata", "judge.py")

DEFLATE = ["-co", "COMPRESS=DEFLATE"]
TILES = ["-co", "TILED=YES", "-co", "BLOCKXSIZE=512", "-co", "BLOCKYSIZE=512"]
RAW, PACKED = TILES + ["-co", "COMPRESS=NONE"], TILES + DEFLATE + ["-co", "PREDICTOR=2"]
COG = ["-of", "COG", *DEFLATE, "-co", "BLOCKSIZE=512", "-co", "RESAMPLING=AVERAGE"]

# The compression of the source, the error threshold, and the options of both programs.
CASES = {
    "raw": ("NONE", "0", RAW, RAW),
    "raw-approximate": ("NONE", "0.125", RAW, RAW),
    "deflate": ("DEFLATE", "0", PACKED, PACKED),
    "deflate-approximate": ("DEFLATE", "0.125", PACKED, PACKED),
    "cog": ("DEFLATE", "0", COG + ["-co", "PREDICTOR=YES"], COG + ["-co", "PREDICTOR=2"]),
    "cog-approximate": ("DEFLATE", "0.125", COG + ["-co", "PREDICTOR=YES"], COG + ["-co", "PREDICTOR=2"]),
}


def texture(size, seed):
    """Noise whose amplitude falls with the frequency, as in images of land, from 0 to 1."""
    r = np.random.default_rng(seed)
    f = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None])
    f[0, 0] = 1
    spectrum = (r.normal(size=f.shape) + 1j * r.normal(size=f.shape)) / f ** 1.7
    t = np.fft.irfft2(spectrum, s=(size, size)).astype("float32")
    low, high = np.percentile(t, (0.5, 99.5))
    return np.clip((t - low) / (high - low), 0, 1)


def generate(name, size, compression):
    """Writes an image: land with fields, whose edges are sharp, and the noise of a sensor."""
    r = np.random.default_rng(1)
    t = texture(min(2048, size), 2)
    n = t.shape[0]
    fields = (np.floor(t * 12) % 3 * 12).astype("float32")
    noise = r.integers(-2, 3, size=(4, n, n), dtype="int8")
    with rasterio.open(name, "w", driver="GTiff", width=size, height=size, count=3, dtype="uint8", crs="EPSG:32633",
                       transform=from_origin(500000, 5300000, 10, 10), tiled=True, blockxsize=512, blockysize=512,
                       interleave="pixel", photometric="rgb", BIGTIFF="YES", compress=compression,
                       predictor=1 if compression == "NONE" else 2, NUM_THREADS="ALL_CPUS") as out:
        columns = np.arange(size) % n
        for y in range(0, size, 512):
            rows = np.arange(y, min(y + 512, size)) % n
            base, field = t[np.ix_(rows, columns)] * 150, fields[np.ix_(rows[::-1], columns)]
            slope = (30 * np.sin(np.arange(size) / 3000) + y / size * 20).astype("float32")
            bands = [base * gain + field * tint + slope + offset + noise[(b + y // 512) % 4][np.ix_(rows, columns)]
                     for b, (gain, tint, offset) in enumerate(((1.0, 1.2, 20), (0.9, 1.0, 35), (0.7, 0.6, 30)))]
            out.write(np.clip(np.stack(bands), 0, 255).astype("uint8"), window=Window(0, y, size, len(rows)))


def run_quern(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.time()
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    wall, after = time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    call = float(re.search(r" MB in ([0-9.]+) s on ", out)[1])
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, call


def run_gdal(command):
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, "GDAL_CACHEMAX": "2048", "GDAL_NUM_THREADS": "ALL_CPUS"})
    wall, cpu = (float(v) for v in out.stdout.split()[-2:])
    return wall, cpu, wall


def differences(a, b):
    """Compares two files: samples, those that differ, and the greatest difference."""
    total = different = most = 0
    with rasterio.open(a) as x, rasterio.open(b) as y:
        if (x.width, x.height, x.count) != (y.width, y.height, y.count) or not x.transform.almost_equals(y.transform, 1e-6):
            return {"error": "%s %s and %s %s" % (x.shape, x.transform.to_gdal(), y.shape, y.transform.to_gdal())}
        for row in range(0, x.height, 1024):
            w = Window(0, row, x.width, min(1024, x.height - row))
            p, q = x.read(window=w).astype("int16"), y.read(window=w)
            d = np.abs(p - q)
            total, different, most = total + d.size, different + int(np.count_nonzero(d)), max(most, int(d.max()))
    return {"samples": total, "different": different, "most": most}


def compare(options, case, sources, folder):
    compression, threshold, gdal_options, quern_options = CASES[case]
    source = sources[compression]
    results = {p: os.path.join(folder, case + "-" + p + ".tif") for p in ("gdalwarp", "quern")}
    common = ["-t_srs", "EPSG:3857", "-r", "bilinear", "-et", threshold, "-overwrite"]
    memory = ["-wm", str(options.wm)]
    device = ["-device", options.device] if options.device else []
    commands = {
        "gdalwarp": [sys.executable, JUDGE, "time", *common, "-ovr", "NONE", "-multi", "-wo", "NUM_THREADS=ALL_CPUS", "-wm", str(options.gdal_wm), "-oo", "NUM_THREADS=ALL_CPUS",
                     "-co", "BIGTIFF=YES", "-co", "NUM_THREADS=ALL_CPUS", *gdal_options, source, results["gdalwarp"]],
        "quern": [options.quern, "geo", "warp", *common, *device, *memory, "-co", "BIGTIFF=YES", *quern_options, source, results["quern"]],
    }
    times = {p: [] for p in commands}
    for i in range(options.runs + 1):
        for program, command in commands.items():
            if i == 0 and program == "gdalwarp":
                continue
            if os.path.exists(results[program]):
                os.remove(results[program])
            t = (run_gdal if program == "gdalwarp" else run_quern)(command)
            if i == 0:
                print("%-20s first run of quern %.2f s" % (case, t[0]))
            else:
                times[program].append(t)
    out = {"case": case, "threshold": threshold}
    for program, t in times.items():
        wall, cpu, call = (statistics.median(v) for v in zip(*t))
        out[program] = {"seconds": round(wall, 3), "cpu_seconds": round(cpu, 3), "call": round(call, 3), "bytes": os.path.getsize(results[program])}
    out["ratio"] = round(out["gdalwarp"]["seconds"] / out["quern"]["seconds"], 2)
    out["call_ratio"] = round(out["gdalwarp"]["call"] / out["quern"]["call"], 2)
    out["size_ratio"] = round(out["quern"]["bytes"] / out["gdalwarp"]["bytes"], 3)
    out["pixels"] = differences(*results.values())
    for name in results.values():
        os.remove(name)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("quern", help="the program")
    parser.add_argument("--size", type=int, default=8192, help="width and height of the source in pixels (8192)")
    parser.add_argument("--cases", default=",".join(CASES), help="some of " + ", ".join(CASES))
    parser.add_argument("--runs", type=int, default=3, help="how often each program runs (3)")
    parser.add_argument("--device", default="", help="of quern")
    parser.add_argument("--wm", type=int, default=0, help="memory of quern in MiB; 0 is its default")
    parser.add_argument("--gdal-wm", type=int, default=1024, help="memory of gdalwarp in MB (1024)")
    parser.add_argument("--folder", help="for images; a temporary one by default")
    parser.add_argument("--json", help="file for the results")
    options = parser.parse_args()
    cases = options.cases.split(",")
    all_results = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        sources = {}
        for compression in {CASES[c][0] for c in cases}:
            sources[compression] = os.path.join(folder, compression + ".tif")
            generate(sources[compression], options.size, compression)
            print("%s: %.1f MB, %d x %d RGB" % (compression, os.path.getsize(sources[compression]) / 1e6, options.size, options.size), flush=True)
        print("GDAL %s, %d cores" % (rasterio.__gdal_version__, len(os.sched_getaffinity(0))))
        for case in cases:
            r = compare(options, case, sources, folder)
            all_results.append(r)
            for program in ("gdalwarp", "quern"):
                print("%-20s %-9s %8.2f s, call %8.2f s, %8.2f CPU s %9.1f MB" % (case, program, r[program]["seconds"], r[program]["call"], r[program]["cpu_seconds"], r[program]["bytes"] / 1e6))
            print("%-20s quern is %.2f times as fast (call %.2f), its result %.3f times as large; pixels: %s" % (case, r["ratio"], r["call_ratio"], r["size_ratio"], r["pixels"]), flush=True)
            if options.json:
                with open(options.json, "w") as f:
                    json.dump(all_results, f, indent=1)


if __name__ == "__main__":
    main()
