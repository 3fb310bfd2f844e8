"""Warps TIFF files with GDAL, as the judge of package warp.

    judge.py warp    reads JSON objects, one per line, from stdin, and warps for each: {"sources", "result",
                     "width", "height", "transform", "crs", "resampling", "src_nodata", "dst_nodata", "alpha",
                     "source_alpha", "options"}. Options are those of GDAL's warper. The transform is exact.
    judge.py suggest FILE CRS
                     prints the transform and the size that GDAL suggests

It needs rasterio.
"""

import json
import sys
import warnings

import numpy as np
import rasterio
from rasterio.transform import Affine
from rasterio.warp import Resampling, calculate_default_transform, reproject

warnings.filterwarnings("ignore")


def warp(job):
    with rasterio.open(job["sources"][0]) as first:
        bands = first.count - (1 if job["source_alpha"] else 0)
        profile = {"driver": "GTiff", "dtype": first.dtypes[0], "compress": "none"}
    count = bands + (1 if job["alpha"] else 0)
    profile.update(width=job["width"], height=job["height"], count=count, crs=job["crs"],
                   transform=Affine(*job["transform"]), nodata=job["dst_nodata"])
    with rasterio.open(job["result"], "w", **profile) as out:
        if job["alpha"]:
            out.colorinterp = list(out.colorinterp[:-1]) + [rasterio.enums.ColorInterp.alpha]
        for i, name in enumerate(job["sources"]):
            with rasterio.open(name) as src:
                options = dict(job["options"])
                reproject(
                    rasterio.band(src, list(range(1, bands + 1))),
                    rasterio.band(out, list(range(1, bands + 1))),
                    src_nodata=job["src_nodata"], dst_nodata=job["dst_nodata"],
                    src_alpha=bands + 1 if job["source_alpha"] else 0,
                    dst_alpha=bands + 1 if job["alpha"] else 0,
                    resampling=Resampling[job["resampling"]], init_dest_nodata=i == 0, tolerance=0,
                    num_threads=1, warp_mem_limit=2048, **options)
    print(json.dumps({"result": job["result"]}))


def main():
    if sys.argv[1] == "warp":
        for line in sys.stdin:
            warp(json.loads(line))
    else:
        with rasterio.open(sys.argv[2]) as src:
            t, width, height = calculate_default_transform(src.crs, sys.argv[3], src.width, src.height, *src.bounds)
            print(json.dumps({"transform": list(t)[:6], "width": width, "height": height}))


main()
