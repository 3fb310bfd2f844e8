// Package crs has coordinate reference systems and the transforms between them: EPSG codes, WKT 1 and 2,
// PROJJSON, PROJ strings and GeoKeys, map projections, and shifts between datums.
//
//	from, err := crs.EPSG(32633)
//	to, err := crs.Parse("EPSG:3857")
//	t, err := crs.NewTransform(from, to)
//	x, y, err := t.Forward(500000, 5800000)
//	failed, err := t.ForwardAll(xs, ys, nil)
//
// Package device converts buffers on a device by the same operations.
//
// # Order of axes
//
// x is to the east and y to the north, whatever the authority says: EPSG:4326 takes longitude, latitude. This is
// what GDAL's and PROJ's programs call the order for visualization. [AuthorityOrder] keeps the order of the definition,
// latitude before longitude in EPSG:4326. Systems with axes to the west or the south always keep theirs. Units are
// those of the system: degrees, meters, feet. [CRS.Axes] returns directions and units.
//
// # Systems
//
// [Parse] reads codes, WKT, PROJJSON and PROJ strings. [EPSG] knows the geographic, geocentric, projected and compound systems of the EPSG dataset, of the version that
// internal/epsg/generate.py has read. [CRS.GeoKeys] writes a system as GeoTIFF has it. [Parse] takes definitions as they are written; a code in them identifies the datum
// and the area. Systems whose projection is not here match [ErrUnsupported], with its name.
//
//	transverse Mercator, also south oriented; UTM     Krüger's series of sixth order
//	Mercator (variants A and B), Web Mercator
//	Lambert conformal conic (1SP, 1SP variant B, 2SP, Belgium, Michigan)
//	Albers equal area
//	polar stereographic (variants A, B and C)
//	oblique stereographic (of the Gauss sphere), stereographic
//	Lambert azimuthal equal area, also spherical
//	Lambert cylindrical equal area, also spherical
//	equidistant cylindrical, sinusoidal, Mollweide, Equal Earth
//	Hotine oblique Mercator (variants A and B), also the Swiss and Hungarian ones
//	Krovak, also north orientated and modified
//	Lambert conic near-conformal and west orientated, equidistant conic
//	Cassini-Soldner, also hyperbolic; New Zealand Map Grid
//	American polyconic, Bonne, azimuthal equidistant, orthographic
//
// Results differ from PROJ's by a few nanometers as a rule, and by less than 1 mm in the areas of all of EPSG's systems;
// docs/geo.md lists the exceptions. Equidistant cylindrical is
// PROJ's, of a sphere with the semi-major axis, also for ellipsoids.
//
// # Datums
//
// A transform between different datums needs a shift, and [NewTransform] returns a *[ShiftError] with the reason when
// it has none, because points would silently be off by some hundred meters. Shifts are, in this order,
//
//   - what the options say: [UseHelmert], [UseOperation], [SourceGrid] and [TargetGrid] with grids in the
//     format NTv2
//   - TOWGS84 of WKT 1 and bound systems
//   - the most accurate Helmert operation of EPSG, not superseded, that is valid in at least nine tenths of the area,
//     which is what both systems have in common, or that of [Area]; if there is none, two of them by way of WGS 84 or
//     ETRS89
//
// Operations without any change, such as that from ETRS89 to WGS 84, hold everywhere; their accuracy (1 m) is in
// [Transform.Steps]. Grids are not chosen by themselves, because their files are not part of the program.
// Rotations are those of EPSG's formula for small angles. The inverse of an operation has the transposed
// rotation, as in PROJ; [Transform.Inverse] is the exact inverse of [Transform.Forward].
//
// Heights are above the ellipsoid, or above a geoid with [Geoids] and a grid in the format GTX. Without heights,
// points are at height 0.
//
// # Exactness
//
// Results have the same bits on every processor and device; see quern.dev/geo/internal/projection. Points outside of the
// domain of a projection or of a grid are NaN, and [ErrDomain].
//
// # Not here
//
// Package proj computes the following through an installed PROJ: other projections (such as Laborde and Robinson), choice among grids, deformation models,
// engineering systems, vertical transforms other than by a grid.
package crs
