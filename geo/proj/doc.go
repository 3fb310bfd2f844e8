// Package proj converts coordinates through an installed PROJ, for systems, grids and operations that package crs does not
// have. PROJ is a shared library that is opened when it is needed; without it the program works as before.
//
//	lib, err := proj.Open("")
//	t, err := lib.NewTransform("ESRI:54030", "EPSG:4326", proj.Options{})
//	defer t.Close()
//	lon, lat, err := t.Forward(1000000, 5000000)
//	failed, err := t.ForwardAll(xs, ys, nil)
//
// Images are warped through it by an option of geo/warp and geo/mosaic:
//
//	target, err := crs.Describe("EPSG:6247")
//	o := warp.Options{Target: target, Converter: lib.Converter(proj.Options{})}
//
// # The library
//
// [Open] takes the file that QUERN_PROJ names, and else searches libproj.so.25 and others as the dynamic loader does,
// libproj.dylib of Homebrew and MacPorts, and proj_9.dll in the folders of PATH. Versions from 7.1 on are supported, on
// Linux, macOS and Windows. PROJ finds its database and grids as always; PROJ_DATA names another folder. Nothing is fetched
// from the network.
//
// # Coordinates
//
// x is to the east and y to the north, in the units of the systems (degrees, meters), as in package crs;
// [Options.AuthorityOrder] keeps the order of the authority. Points without coordinates are NaN, and errors that match
// [crs.ErrDomain]. A transform is refused if the shift between the datums is not known, unless [Options.Ballpark] permits it.
//
// PROJ chooses an operation for each point, by its place, among those whose grids are installed. So results depend on the
// version of PROJ and on its grids, but on neither the order of points nor the number of threads.
//
// # Threads
//
// A context of PROJ serves one thread at a time. A [Transform] has one per core at most, made when they are needed.
//
// # Not here
//
// Kernels: positions are computed on the host and copied to the device. Orthorectification follows lines of sight on the
// device, so it needs systems of package crs; its result can be warped.
package proj
