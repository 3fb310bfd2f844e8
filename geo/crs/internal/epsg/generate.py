"""Makes epsg.txt.gz, the table that package epsg embeds, from the database of an installed pyproj.

    python3 generate.py >epsg.txt.gz

The numbers are those of the EPSG Geodetic Parameter Dataset of IOGP, whose terms of use permit
extracts that name the source. Units are converted: angles to degrees, lengths to meters. Lines have
fields between tabs; the first one is the kind:

    version   version date
    unit      code type factor name               radians or meters per unit
    ellipsoid code a 1/f name                     1/f is 0 for a sphere
    datum     code ellipsoid meridian name        meridian: its longitude from Greenwich in degrees
    alias     code name                           another name of a datum
    geodetic  code datum axes unit extent name    axes: directions, such as NE for latitude, longitude; ? for others
    projected code base method axes unit extent name parameters...    parameters: code=value
    conversion code projected                      a system with this conversion
    vertical  code datum axes unit name
    compound  code horizontal vertical name
    helmert   code from to accuracy extent name tx ty tz rx ry rz s, then nothing, 7 rates and an epoch, or a pivot;
              position vector convention, meters, seconds of arc, unity, per year
    superseded code                               of a Helmert operation that has a successor
    sibling   code of                             datums that differ by the prime meridian only
    method    code name

extent is west,south,east,north in degrees, several of them joined by spaces.
"""
import gzip
import math
import os
import sqlite3
import sys

import pyproj

db = sqlite3.connect(os.path.join(pyproj.datadir.get_data_dir(), "proj.db"))
lines = []


def query(text, *arguments):
    return db.execute(text, arguments).fetchall()


def emit(*fields):
    lines.append("\t".join("" if f is None else number(f) if isinstance(f, float) else str(f) for f in fields))


def number(f):
    return repr(int(f)) if f == int(f) and abs(f) < 1e15 else repr(f)


UNITS = {code: (kind, factor) for code, kind, factor in query("select code, type, conv_factor from unit_of_measure where auth_name = 'EPSG'")}


def sexagesimal(value):
    """DDD.MMSSsss, which EPSG's unit 9110 is."""
    text = f"{abs(value):.12f}"
    whole, fraction = text.split(".")
    minutes, seconds = int(fraction[:2]), float(fraction[2:4] + "." + fraction[4:])
    return math.copysign(int(whole) + (minutes + seconds / 60) / 60, value)


def convert(value, unit):
    """To degrees, meters, unity (scale) or seconds of arc, which are the rotations' unit."""
    if value is None:
        return None
    if unit == 9110:
        return sexagesimal(value)
    kind, factor = UNITS[unit]
    if unit == 9202 and 0.5 < value < 2:
        return value  # EPSG:6996 and 6997 have a scale factor of 1.000007 with the unit parts per million
    if unit == 9102 or unit == 9122:
        return value
    if kind == "angle":
        return round(math.degrees(value * factor), 14)
    return value * factor


EXTENTS = {}
for kind, code, west, south, east, north in query(
        "select object_table_name, object_code, west_lon, south_lat, east_lon, north_lat from usage join extent "
        "on extent_auth_name = extent.auth_name and extent_code = extent.code where object_auth_name = 'EPSG'"):
    if west is not None:
        EXTENTS.setdefault((kind, code), []).append(",".join(number(round(float(v), 2)) for v in (west, south, east, north)))


def extent(kind, code):
    return " ".join(dict.fromkeys(EXTENTS.get((kind, code), [])))


LETTERS = {"geocentricX": "X", "geocentricY": "Y", "geocentricZ": "Z", "up": "U", "down": "D", "east": "E", "north": "N", "west": "W", "south": "S"}


def axes(system):
    """Directions of the axes of a coordinate system, and its unit."""
    directions, unit = "", None
    for name, orientation, unit_code in query("select name, orientation, uom_code from axis where coordinate_system_auth_name = 'EPSG' "
                                              "and coordinate_system_code = ? order by coordinate_system_order", system):
        if " along " in orientation and name in ("Easting", "Northing"):
            directions += name[0]  # about a pole
        else:
            directions += LETTERS.get(orientation, "?")
        unit = unit or unit_code
    return directions, unit


emit("version", *[query("select value from metadata where key = ?", k)[0][0] for k in ("EPSG.VERSION", "EPSG.DATE")])
for code, kind, factor, name in query("select code, type, conv_factor, name from unit_of_measure where auth_name = 'EPSG' and type in ('angle', 'length') order by code"):
    if factor:
        emit("unit", code, kind, factor, name)
for code, a, unit, inverse, b, name in query(
        "select code, semi_major_axis, uom_code, inv_flattening, semi_minor_axis, name from ellipsoid where auth_name = 'EPSG' order by code"):
    if inverse is None:
        inverse = 0.0 if b is None or b == a else a / (a - b)
    emit("ellipsoid", code, convert(a, unit), inverse, name)
MERIDIANS = {c: convert(v, u) for c, v, u in query("select code, longitude, uom_code from prime_meridian where auth_name = 'EPSG'")}
for code, ellipsoid, meridian, name in query(
        "select code, ellipsoid_code, prime_meridian_code, name from geodetic_datum where auth_name = 'EPSG' and ellipsoid_auth_name = 'EPSG' order by code"):
    emit("datum", code, ellipsoid, MERIDIANS[meridian], name)
for code, name in query("select code, alt_name from alias_name where table_name = 'geodetic_datum' and auth_name = 'EPSG' order by code, alt_name"):
    emit("alias", code, name)
for code, datum, system, name in query(
        "select code, datum_code, coordinate_system_code, name from geodetic_crs where auth_name = 'EPSG' and datum_auth_name = 'EPSG' order by code"):
    emit("geodetic", code, datum, *axes(system), extent("geodetic_crs", code), name)
conversions = {}
for code, base, conversion, system, name in query(
        "select code, geodetic_crs_code, conversion_code, coordinate_system_code, name from projected_crs "
        "where auth_name = 'EPSG' and conversion_auth_name = 'EPSG' and coordinate_system_auth_name = 'EPSG' order by code"):
    row = query("select * from conversion_table where auth_name = 'EPSG' and code = ?", conversion)
    if not row:
        continue
    row = row[0]
    parameters = [f"{row[i + 1]}={number(float(convert(row[i + 2], row[i + 4])))}" for i in range(6, 41, 5) if row[i + 1] is not None]
    emit("projected", code, base, row[5], *axes(system), extent("projected_crs", code), name, *parameters)
    conversions.setdefault(conversion, code)
for conversion, code in sorted(conversions.items()):
    emit("conversion", conversion, code)
for code, datum, system, name in query(
        "select code, datum_code, coordinate_system_code, name from vertical_crs where auth_name = 'EPSG' and datum_auth_name = 'EPSG' order by code"):
    emit("vertical", code, datum, *axes(system), name)
for code, horizontal, vertical, name in query(
        "select code, horiz_crs_code, vertical_crs_code, name from compound_crs where auth_name = 'EPSG' order by code"):
    emit("compound", code, horizontal, vertical, name)


PER_YEAR = {None: 0, 1027: 1e-3, 1034: 1e-2, 1042: 1, 1032: 1e-3, 1043: 1, 1030: 1e-9, 1041: 1e-6}
TO_SECONDS = {None: 0, 1031: 1e-3, 9101: 180 * 3600 / math.pi, 9104: 1, 9109: 1e-6 * 180 * 3600 / math.pi, 9113: 0.324}
TO_ONE = {None: 0, 1028: 1e-9, 9201: 1, 9202: 1e-6}
FRAME = {1032, 1056, 1066, 9607, 9636}  # coordinate frame methods, whose rotations have the other sign

for v in query("select * from helmert_transformation_table where auth_name = 'EPSG' and deprecated = 0 order by code"):
    sign = -1 if v[5] in FRAME else 1
    times = lambda values, factor: [round((x or 0) * factor, 15) + 0.0 for x in values]
    values = times(v[11:14], UNITS[v[15]][1]) + times(v[16:19], sign * TO_SECONDS[v[20]]) + [round((v[21] or 0) * TO_ONE[v[23]], 18)]
    if v[28] or v[33] or v[36]:
        values += times(v[24:27], PER_YEAR[v[28]]) + times(v[29:32], sign * PER_YEAR[v[33]]) + [round((v[34] or 0) * PER_YEAR[v[36]], 18), v[37]]
    elif v[40] is not None:
        values += list(v[40:43])
    emit("helmert", v[1], v[7], v[9], v[10], extent("helmert_transformation", v[1]), v[2], *map(float, values))
for (code,) in query("select distinct superseded_code from supersession where superseded_table_name = 'helmert_transformation' and superseded_auth_name = 'EPSG' order by 1"):
    emit("superseded", code)
for code, other in query(
        "select a.datum_code, b.datum_code from other_transformation t join geodetic_crs a on a.auth_name = 'EPSG' and a.code = source_crs_code "
        "join geodetic_crs b on b.auth_name = 'EPSG' and b.code = target_crs_code where t.auth_name = 'EPSG' and method_code = 9601 and t.deprecated = 0 "
        "and a.datum_code <> b.datum_code order by 1"):
    emit("sibling", code, other)
for code, name in query("select code, name from conversion_method where auth_name = 'EPSG' order by code"):
    emit("method", code, name)

text = ("\n".join(lines) + "\n").encode()
sys.stdout.buffer.write(gzip.compress(text, 9, mtime=0))
