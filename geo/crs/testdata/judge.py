"""The judge of package crs: PROJ, through pyproj.

    judge.py version
    judge.py projections        golden values of projections, which testdata/projections.json keeps
    judge.py transforms         golden values of transforms between EPSG codes
    judge.py transform          reads lines of JSON {"from", "to", "points"}, writes lines of points
    judge.py texts CODE...      WKT1, WKT2, PROJJSON and PROJ strings of codes
"""
import json
import random
import sys
import warnings

import pyproj

PROJECTIONS = {
    # name: (PROJ's string, half the width of the area in degrees of longitude, latitudes from, to, center)
    "utm33": ("+proj=utm +zone=33 +ellps=WGS84", 4, -79, 84, 15),
    "tm wide": ("+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +ellps=airy", 40, -80, 85, -2),
    "tm sphere": ("+proj=tmerc +lon_0=10 +R=6371000", 30, -80, 80, 10),
    "merc": ("+proj=merc +lon_0=110 +k=0.997 +x_0=3900000 +y_0=900000 +ellps=bessel", 179, -85, 85, 110),
    "merc ts": ("+proj=merc +lat_ts=42 +lon_0=51 +ellps=krass", 179, -85, 85, 51),
    "webmerc": ("+proj=webmerc +datum=WGS84", 179, -85.06, 85.06, 0),
    "lcc2": ("+proj=lcc +lat_0=46.5 +lon_0=3 +lat_1=49 +lat_2=44 +x_0=700000 +y_0=6600000 +ellps=GRS80", 170, -60, 89.9, 3),
    "lcc1": ("+proj=lcc +lat_1=18 +lat_0=18 +lon_0=-77 +k_0=0.99995 +x_0=250000 +y_0=150000 +ellps=clrk66", 100, -40, 80, -77),
    "lcc south": ("+proj=lcc +lat_1=-36 +lat_2=-38 +lat_0=-37 +lon_0=145 +x_0=2500000 +y_0=2500000 +ellps=GRS80", 100, -89, 40, 145),
    "aea": ("+proj=aea +lat_0=23 +lon_0=-96 +lat_1=29.5 +lat_2=45.5 +ellps=GRS80", 170, -60, 89.9, -96),
    "aea south": ("+proj=aea +lat_0=0 +lon_0=132 +lat_1=-18 +lat_2=-36 +ellps=GRS80", 90, -85, 40, 132),
    "stere north": ("+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +ellps=WGS84", 180, 0, 89.99, -45),
    "stere south": ("+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=0 +ellps=WGS84", 180, -89.99, 0, 0),
    "ups": ("+proj=stere +lat_0=90 +lon_0=0 +k=0.994 +x_0=2000000 +y_0=2000000 +ellps=WGS84", 180, 40, 89.99, 0),
    "sterea": ("+proj=sterea +lat_0=52.1561605555556 +lon_0=5.38763888888889 +k=0.9999079 +x_0=155000 +y_0=463000 +ellps=bessel", 60, 0, 85, 5.39),
    "stere": ("+proj=stere +lat_0=47.25 +lon_0=25 +k=0.9997 +ellps=krass", 80, -20, 89, 25),
    "stere equator": ("+proj=stere +lat_0=0 +lon_0=25 +ellps=GRS80", 80, -80, 80, 25),
    "laea": ("+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80", 90, -30, 89, 10),
    "laea north": ("+proj=laea +lat_0=90 +lon_0=0 +ellps=WGS84", 180, -60, 89.99, 0),
    "laea south": ("+proj=laea +lat_0=-90 +lon_0=0 +ellps=WGS84", 180, -89.99, 60, 0),
    "laea equator": ("+proj=laea +lat_0=0 +lon_0=20 +ellps=WGS84", 90, -80, 80, 20),
    "cea": ("+proj=cea +lat_ts=30 +lon_0=0 +ellps=WGS84", 179, -89, 89, 0),
    "eqc": ("+proj=eqc +lat_ts=30 +lon_0=5 +R=6371007", 179, -89, 89, 5),
    "sinu": ("+proj=sinu +lon_0=7 +ellps=WGS84", 179, -89, 89, 7),
    "moll": ("+proj=moll +lon_0=-30 +ellps=WGS84", 179, -89.5, 89.5, -30),
    "eqearth": ("+proj=eqearth +lon_0=150 +ellps=WGS84", 179, -89, 89, 150),
    "krovak": ("+proj=krovak +ellps=bessel", 20, 30, 56, 20),
    "cass": ("+proj=cass +lat_0=5 +lon_0=100 +x_0=1000 +y_0=-2000 +ellps=evrst30", 4, -20, 60, 100),
    "cass sphere": ("+proj=cass +lat_0=40 +lon_0=10 +R=6371000", 80, -80, 89, 10),
    "nzmg": ("+proj=nzmg +ellps=intl", 5, -46.5, -34.5, 173),
    "poly": ("+proj=poly +lat_0=0 +lon_0=-54 +x_0=5000000 +y_0=10000000 +ellps=GRS80", 60, -70, 70, -54),
    "bonne": ("+proj=bonne +lat_1=40 +lon_0=10 +ellps=bessel", 120, -80, 89, 10),
    "aeqd": ("+proj=aeqd +lat_0=8.5 +lon_0=21.5 +x_0=5621452 +y_0=5990638 +ellps=WGS84", 100, -50, 60, 21.5),
    "aeqd north": ("+proj=aeqd +lat_0=90 +lon_0=10 +ellps=WGS84", 180, -60, 89.9, 10),
    "aeqd sphere": ("+proj=aeqd +lat_0=-30 +lon_0=10 +R=6371000", 120, -80, 30, 10),
    "ortho": ("+proj=ortho +lat_0=40 +lon_0=10 +ellps=WGS84", 70, 0, 85, 10),
    "eqdc": ("+proj=eqdc +lat_0=39 +lon_0=-96 +lat_1=33 +lat_2=45 +ellps=GRS80", 150, -50, 89, -96),
    "lcca": ("+proj=lcca +lat_0=34.65 +lon_0=37.35 +k_0=0.9996256 +x_0=300000 +y_0=300000 +ellps=clrk80ign", 20, 10, 60, 37),
    "omerc a": ("+proj=omerc +no_uoff +lat_0=4 +lonc=102.25 +alpha=323.0257905 +gamma=323.130102361111 +k=0.99984 +x_0=804670.24 +ellps=WGS84", 10, -5, 12, 102),
    "omerc b": ("+proj=omerc +lat_0=57 +lonc=-133.6666666666667 +alpha=323.1301023611111 +gamma=323.1301023611111 +k=0.9999 +x_0=5000000 +y_0=-5000000 +ellps=GRS80", 10, 50, 62, -133),
    "omerc 90": ("+proj=omerc +lat_0=46.9524055555556 +lonc=7.43958333333333 +alpha=90 +gamma=90 +k=1 +x_0=2600000 +y_0=1200000 +ellps=bessel", 5, 44, 50, 7),
    "geocentric": ("+proj=cart +ellps=GRS80", 180, -90, 90, 0),
}


def projections():
    """For each projection: longitude, latitude (degrees), x, y in meters; with heights for geocentric ones."""
    out = {}
    rng = random.Random(7)
    for name, (text, width, south, north, center) in PROJECTIONS.items():
        p = pyproj.Transformer.from_pipeline("+proj=pipeline +step +proj=unitconvert +xy_in=deg +xy_out=rad +step " + text)
        points = []
        while len(points) < 40:
            lon = (center + rng.uniform(-width, width) + 180) % 360 - 180
            lat = rng.uniform(south, north)
            h = rng.uniform(-5000, 9000) if name == "geocentric" else 0
            x, y, z = p.transform(lon, lat, h)
            if abs(x) < 1e9:
                points.append([lon, lat, h, x, y, z])
        out[name] = points
    print(json.dumps(out))


DEGREES = {"subtype": "ellipsoidal", "axis": [
    {"name": "Geodetic latitude", "abbreviation": "Lat", "direction": "north", "unit": "degree"},
    {"name": "Geodetic longitude", "abbreviation": "Lon", "direction": "east", "unit": "degree"}]}


def transform(lines):
    for line in lines:
        task = json.loads(line)
        p = task.get("pipeline")
        try:
            if p:
                t = pyproj.Transformer.from_pipeline(p)
            elif task["from"] == "base":
                to = pyproj.CRS(task["to"])
                base = to.geodetic_crs.to_json_dict()
                base["coordinate_system"] = DEGREES
                t = pyproj.Transformer.from_crs(pyproj.CRS.from_json_dict(base), to, always_xy=False)
            else:
                t = pyproj.Transformer.from_crs(task["from"], task["to"], always_xy=task.get("xy", True), allow_ballpark=False)
            print(json.dumps([list(t.transform(*q)) for q in task["points"]]))
        except Exception as e:
            print(json.dumps({"error": str(e)}))


def texts(codes):
    for code in codes:
        c = pyproj.CRS.from_epsg(int(code))
        row = {"code": int(code), "projjson": c.to_json()}
        for version in "WKT1_GDAL", "WKT1_ESRI", "WKT2_2019", "WKT2_2015":
            try:
                row[version] = c.to_wkt(version)
            except Exception:
                row[version] = ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a PROJ string cannot say
            try:
                row["PROJ"] = c.to_proj4() or ""
            except Exception:
                row["PROJ"] = ""
        print(json.dumps(row))


def main():
    command, *arguments = sys.argv[1:]
    if command == "version":
        print(pyproj.__proj_version__)
    elif command == "projections":
        projections()
    elif command == "transform":
        transform(sys.stdin)
    elif command == "texts":
        texts(arguments)


if __name__ == "__main__":
    main()
