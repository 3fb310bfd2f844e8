// Package client reads maps of other servers: WMS, WMTS and XYZ tiles, as images for packages tiff and warp.
//
//	s, err := client.OpenWMS(ctx, client.WMS{URL: "https://maps.example.com/wms", Layers: []string{"ortho"}, EPSG: 25832,
//		Extent: [4]float64{500000, 5700000, 510000, 5710000}, PixelSize: 0.2}, client.Options{})
//	defer s.Close()
//	err = warp.File(ctx, dev, "result.tif", []*tiff.Image{s.Image()}, warp.Options{Target: target})
//
// A [Source] is a virtual [tiff.File]: an image of red, green, blue and straight alpha with overviews. Reading a tile of it requests
// that tile from the server. Nothing is requested before it is read. Tiles that
// were received are kept up to Options.CacheBytes. Several are requested at a time.
//
// # Errors
//
// A request is repeated after failures of the network and after the statuses 429, 500, 502, 503 and 504, when
// Retry-After says or after a pause that doubles. An exception of the service is a *[ServiceError] with its code; it is not repeated.
// A tile of XYZ or WMTS that does not exist (404) is transparent. Answers that are too large, of the wrong size or
// no images match [ErrAnswer].
//
// A Source is safe for concurrent use.
package client
