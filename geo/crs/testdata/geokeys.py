"""Writes and reads GeoTIFF files with rasterio, as the judge of GeoKeys.

    geokeys.py write FOLDER  reads EPSG codes as JSON from stdin, and writes files of one pixel: named by the code, and defined without a
                             code. It prints, for each, its name, text, base system and points: longitude, latitude, x, y.
    geokeys.py read          reads names of files and texts of systems as JSON from stdin, and prints how far points are apart.
"""

import json
import os
import re
import sys

import numpy as np
import pyproj
import rasterio
from rasterio.transform import from_origin

AUTHORITY = re.compile(r',\s*AUTHORITY\["[^"]*","[^"]*"\]')


def points(area, system):
    to = pyproj.Transformer.from_crs(system.geodetic_crs, system, always_xy=True)
    east = area.east if area.east > area.west else area.east + 360
    lon = [area.west + f * (east - area.west) for f in (0.5, 0.3, 0.8)]
    lat = [area.south + f * (area.north - area.south) for f in (0.5, 0.7, 0.4)]
    return [[a, b, *to.transform(a, b)] for a, b in zip(lon, lat)]


def write(folder):
    out = []
    for code in json.load(sys.stdin):
        system = pyproj.CRS.from_epsg(code)
        try:
            text = system.to_wkt("WKT1_GDAL")
        except pyproj.exceptions.CRSError:
            continue
        for kind in ("coded", "defined"):
            name = os.path.join(folder, "%s%d.tif" % (kind, code))
            own = text if kind == "coded" else AUTHORITY.sub("", text)
            try:
                with rasterio.open(name, "w", driver="GTiff", width=1, height=1, count=1, dtype="uint8", crs=rasterio.crs.CRS.from_wkt(own), transform=from_origin(0, 0, 1, 1)) as f:
                    f.write(np.zeros((1, 1, 1), "uint8"))
                got = points(system.area_of_use, pyproj.CRS.from_wkt(own))
            except (rasterio.errors.CRSError, pyproj.exceptions.ProjError):
                continue
            if all(np.isfinite(p).all() for p in got):
                out.append({"name": name, "kind": kind, "code": code, "text": own, "base": system.geodetic_crs.to_epsg(), "points": got})
    json.dump(out, sys.stdout)


def read():
    out = []
    for job in json.load(sys.stdin):
        with rasterio.open(job["name"]) as f:
            read = pyproj.CRS.from_wkt(f.crs.to_wkt()) if f.crs else None
        worst = -1.0
        if read is not None:
            to = pyproj.Transformer.from_crs(read.geodetic_crs, read, always_xy=True)
            own = pyproj.CRS.from_wkt(job["text"])
            unit = own.geodetic_crs.axis_info[0].unit_conversion_factor / read.geodetic_crs.axis_info[0].unit_conversion_factor
            worst = max(np.hypot(*np.subtract(to.transform(p[0] * unit, p[1] * unit), p[2:])) for p in job["points"])
            same = read.ellipsoid.semi_major_metre == own.ellipsoid.semi_major_metre
            if not np.isfinite(worst) or not same:
                worst = -1.0
        out.append(float(worst))
    json.dump(out, sys.stdout)


write(sys.argv[2]) if sys.argv[1] == "write" else read()
