// Package wms is a map server: it serves GeoTIFF images as WMS, WMTS and XYZ tiles. Images are reprojected and colored on a
// device when a map is asked for.
//
//	layers, err := wms.FindLayers("images")
//	s, err := wms.New(dev, wms.Config{Title: "Our maps", Layers: layers})
//	defer s.Close()
//	err = http.ListenAndServe(":8080", s)
//
// Package client reads maps of other servers. The command quern geo serve is this package.
//
// # Paths
//
//	/                              a page with a map, for people
//	/wms                           WMS 1.3.0 and 1.1.1: GetCapabilities, GetMap, GetFeatureInfo, GetLegendGraphic
//	/wmts                          WMTS 1.0.0 with parameters: GetCapabilities, GetTile, GetFeatureInfo
//	/wmts/1.0.0/...                WMTS 1.0.0 as resources; WMTSCapabilities.xml describes them
//	/LAYER/{z}/{x}/{y}.png         XYZ tiles, also .png8 and .jpg, and {y}@2x.png of 512 pixels
//	/LAYER/tile.json               TileJSON 3.0.0
//	/layers.json                   what the page shows
//	/metrics, /health              for Prometheus, and for load balancers; it names layers that cannot be shown
//
// [Server.WritePMTiles] writes all tiles of a layer to one file.
//
// # Layers and styles
//
// A [Layer] is a file, several files, or files per time. Image files keep open. Integers of 8 bits are shown as they are; other
// values between the 2nd and the 98th of 100 of the smallest overview. One band has a color ramp, which is also a style:
// STYLES in WMS, STYLE in WMTS, either in XYZ;
// three bands are red, green and blue; palettes, masks, alpha and NoData are those of the file. Every request takes these
// parameters besides those of its standard:
//
//	BANDS=3,2,1          one band or three
//	RESCALE=LOW,HIGH     values of the first and the last color, for all bands or each band
//	RAMP=NAME            a color ramp for one band
//	AZIMUTH, ALTITUDE    the direction of the light of a shading, in degrees
//	ZFACTOR=NUMBER       a factor of the heights of a shading
//	EXACT=TRUE           exact positions
//
// The shape of a surface is shown by styles too: see [Shadings] and [Rendering].
//
//	dem := wms.Layer{Name: "hills", Files: []string{"dem.tif"}, Default: wms.Rendering{Shading: "hillshade"}}
//
// Maps are image/png, image/png; mode=8bit with up to 256 colors, image/jpeg or image/tiff. The second one is exact if there are no more
// colors, as of classes, ramps and hillshades, and otherwise has similar ones.
//
// # What a pixel is
//
// A map takes the overview whose pixels are not larger than those of the map. Where a file has none, the server halves the resolution of
// what it has drawn; the first map of a small scale then reads the whole file, so large files should have overviews. Samples become
// colors first, and colors are interpolated, bilinearly with weights of 8 bits, as MapServer does: a color is within 1 of
// 255 of the exact interpolation. A pixel of the map has data if the pixel of the file at its center has.
//
// Positions are exact on a lattice, and interpolated between its points. The lattice is refined until positions in the middle of its cells
// and of their sides are within 1/16 of a pixel of the overview that is read (gdalwarp's default is 1/8, without such a check of the
// two dimensions). Config.Exact, or the parameter EXACT, computes every position in float64. All devices make the same bits.
//
// # Limits and failures
//
// Config limits the size of maps, how many are made at a time and how many wait, and the time of a request. Beyond that,
// the answer is status 503 with Retry-After. A client that leaves ends its map. Layers are a fixed list: no path of a request is a path of
// a file. Mistakes in requests get the exceptions of the standards, as XML, in an image or as a blank image, as EXCEPTIONS
// says; WMS exceptions have status 200, as those of other servers. A file that cannot be read is an exception with status 500, whose
// cause is in the log and not in the answer; so is a panic. The server goes on.
//
// Tiles have an ETag, which changes with the size or the time of the file when the server starts, and Cache-Control. Those that were
// made are kept in memory, up to Config.TileCache. Decoded blocks and colors have memory of a fixed size each.
//
// # Not here
//
// SLD, dimensions other than time, several times in one request, vector data, cascading, HTTPS and authentication: use a
// reverse proxy. Samples of 64-bit integers and complex numbers are not shown. An image must have an affine map and a
// coordinate system that package crs knows.
package wms
