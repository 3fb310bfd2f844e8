// Package remote reads files over HTTP by ranges, so that a few tiles of a large Cloud Optimized
// GeoTIFF can be read without the rest:
//
//	f, err := remote.Open(ctx, "https://example.com/image.tif", remote.Options{})
//	...
//	image, err := tiff.NewFile(f, f.Size(), tiff.Limits{})
//
// A file is read in pages, which are cached. Neighbouring pages that are missing become one request,
// and the requests for several blocks run at the same time. A request that fails for a
// reason that may pass (a lost connection, status 429 or 5xx) is repeated.
//
// The server must support ranges ([ErrNoRanges]). A file that changes while it is open is an error
// ([ErrChanged]), never a mixture of two files.
package remote
