package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"quern.dev/geo/tiff"
)

// checkSpace refuses a result that cannot fit on the disk, and warns of one that may not, before it is computed.
func checkSpace(stderr io.Writer, result string, h tiff.Header, o tiff.Options, quiet bool) error {
	folder := filepath.Dir(result)
	free, ok := freeSpace(folder)
	size := float64(h.Width) * float64(h.Height) * float64(h.Bands) * float64(cmp.Or(h.Bits, 8*h.Type.Size())) / 8
	if !ok || size <= float64(free) {
		return nil
	}
	text := fmt.Sprintf("%s: %d x %d pixels with %s of %s are %s without compression, and %s are free in %s",
		result, h.Width, h.Height, count(h.Bands, "band"), h.Type, amount(size), amount(float64(free)), folder)
	switch {
	case o.Compression == tiff.None && !o.Sparse:
		return fmt.Errorf("%s; compress it, or make it smaller", text)
	case !quiet:
		fmt.Fprintln(stderr, "warning: "+text)
	}
	return nil
}

// amount returns a number of bytes as text.
func amount(bytes float64) string {
	if bytes < 1e9 {
		return fmt.Sprintf("%.1f MB", bytes/1e6)
	}
	return fmt.Sprintf("%.1f GB", bytes/1e9)
}
