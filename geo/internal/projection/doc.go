// Package projection has the mathematics of map projections and datum shifts, for hosts and kernels
// alike. Package crs chooses and prepares operations; kernels of the packages below geo call them.
//
// A [Projection] is a plain struct of a method and its constants. [Projection.Forward] takes longitude
// and latitude in radians, [Projection.Inverse] returns them. An [Operation] leads from the coordinates
// of one system to those of another.
//
// # Structure
//
// Most projections of the ellipsoid are projections of a sphere, of an auxiliary latitude: conformal for
// Mercator, transverse Mercator, Lambert's conic and the stereographic projections, authalic for
// Albers and Lambert's azimuthal one, rectifying for equidistant ones. A trigonometric series of
// six terms leads from the geodetic latitude to the auxiliary one, and another one back. NewProjection
// computes their coefficients from the definition of the auxiliary latitude, by the midpoint rule, which
// converges exponentially for periodic functions. The error of six terms is below a nanometer
// for the ellipsoids of the Earth.
//
// Forward and Inverse collect what methods have in common, such as the sine and cosine of an angle, and compute it in one
// place: kernels have a copy of each call.
//
// # Bits
//
// Results have the same bits on every device and processor. All elementary functions are in
// this package and use nothing but operations that IEEE 754 rounds correctly: sums, products, quotients,
// square roots and fused multiply-adds. A product is converted explicitly, or goes to a
// function or another product or quotient, so that no compiler fuses it with a sum. A test
// reads the source to check it.
//
// Coordinates outside of a projection's domain, infinities and NaN give NaN.
package projection
