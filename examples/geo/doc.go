// Geo makes a mosaic of the photographs of an invented flight, serves it as a map and films it.
//
//	go run ./examples/geo
//	go run ./examples/geo -device cpu -listen "" -verify
//
// A landscape with hills, fields, roads and houses is generated, and a drone photographs it: package
// geo/fly draws what the camera sees. From then on only the photographs, the poses of the camera and
// the surface are used. geo/ortho takes perspective and hidden ground out of the photographs where
// geo/mosaic joins them, with seams where they differ least and exposures made equal. geo/wms
// serves the result as a map: the page at the address that is printed shows it. geo/fly films a
// flight over the mosaic, if ffmpeg is installed.
//
// The files are in the folder that -out names: photographs with poses.csv and cameras.json, surface.tif,
// mosaic.tif (a COG), map.png and flight.mp4. The commands that repeat the steps are printed. With -verify,
// the mosaic is compared with the landscape.
package main
