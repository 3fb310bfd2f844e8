package raster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quern.dev/geo/crs"
	"quern.dev/geo/gdal"
	"quern.dev/geo/tiff"
	"quern.dev/geo/worldfile"
)

// File is an open image. It is safe for concurrent use.
type File struct {
	*tiff.File
	// Format is the short name of the format, in GDAL's spelling: "GTiff", "PNG", "JPEG", "netCDF".
	Format string
	// Title is the long name of a format that GDAL reads, such as "Network Common Data Format".
	Title string
	// Warnings say what of a file that GDAL reads is not in the header, or not usable.
	Warnings []string
	// Subdatasets are parts of the file that are opened by names of their own.
	Subdatasets []gdal.Subdataset
}

// TIFF reports whether the file is TIFF, and read by package tiff: the image's Storage is that of the file.
func (f *File) TIFF() bool { return f.Format == "GTiff" && f.Title == "" }

// Open opens an image. It reads no pixels. Errors are those of packages tiff, worldfile and gdal; a file that has only
// subdatasets is a *[gdal.SubdatasetsError], which lists them.
func Open(name string) (*File, error) {
	first, err := beginning(name)
	switch {
	case err != nil && strings.Contains(name, ":"):
		return through(name, nil, nil)
	case err != nil: // package tiff says why
		f, err := tiff.Open(name)
		if err != nil {
			return nil, err
		}
		return &File{File: f, Format: "GTiff"}, nil
	case isTIFF(first):
		f, err := tiff.Open(name)
		if errors.Is(err, tiff.ErrUnsupported) {
			return through(name, first, fmt.Errorf("%s: %w", name, err))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &File{File: f, Format: "GTiff"}, nil
	}
	if format := worldfile.Format(first); format != "" {
		f, err := worldfile.Open(name)
		if errors.Is(err, worldfile.ErrUnsupported) || errors.Is(err, crs.ErrUnsupported) {
			return through(name, first, err)
		}
		if err != nil {
			return nil, err
		}
		return &File{File: f, Format: format}, nil
	}
	return through(name, first, nil)
}

// through opens a file by GDAL. reason is why other packages do not; nil if it is not their format.
func through(name string, first []byte, reason error) (*File, error) {
	f, err := gdal.Open(name, gdal.Options{})
	switch {
	case err == nil:
	case errors.Is(err, gdal.ErrMissing) && reason != nil:
		return nil, fmt.Errorf("%w; GDAL may read it: %w", reason, err)
	case errors.Is(err, gdal.ErrMissing):
		return nil, fmt.Errorf("raster: open: %s: %s is read through GDAL: %w", name, formatOf(name, first), err)
	default:
		return nil, err
	}
	out := &File{File: f.File, Warnings: f.Warnings(), Subdatasets: f.Subdatasets()}
	out.Format, out.Title = f.Driver()
	return out, nil
}

// beginning returns the first bytes of a file. A folder has none.
func beginning(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return nil, err
	}
	b := make([]byte, 32)
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}

func isTIFF(first []byte) bool {
	for _, s := range []string{"II*\x00", "MM\x00*", "II+\x00", "MM\x00+"} {
		if bytes.HasPrefix(first, []byte(s)) {
			return true
		}
	}
	return false
}

// signatures are the first bytes of formats that GDAL reads, for messages.
var signatures = []struct{ bytes, format string }{
	{"\x00\x00\x00\x0cjP  ", "JPEG 2000"}, {"\xff\x4f\xff\x51", "JPEG 2000"}, {"CDF\x01", "netCDF"}, {"CDF\x02", "netCDF"}, {"CDF\x05", "netCDF"},
	{"\x89HDF\r\n", "HDF5 or netCDF-4"}, {"\x0e\x03\x13\x01", "HDF4"}, {"GIF8", "GIF"}, {"BM", "BMP"}, {"EHFA_HEADER_TAG", "Erdas Imagine"},
	{"<VRTDataset", "VRT"}, {"SQLite format 3", "GeoPackage"}, {"NITF", "NITF"}, {"GRIB", "GRIB"}, {"SIMPLE  =", "FITS"}, {"RIFF", "WebP"},
	{"ncols", "Arc/Info ASCII Grid"}, {"NCOLS", "Arc/Info ASCII Grid"}, {"%PDF", "PDF"}, {"ENVI", "ENVI"},
}

// formatOf names the format of a file.
func formatOf(name string, first []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(first, []byte(s.bytes)) {
			return s.format
		}
	}
	prefix, _, _ := strings.Cut(name, ":")
	switch ext := filepath.Ext(name); {
	case first == nil && len(prefix) > 1 && len(prefix) < len(name):
		return "a name of " + prefix
	case ext != "" && first != nil:
		return fmt.Sprintf("the format of *%s files (it is not TIFF, PNG or JPEG)", ext)
	}
	return "a format other than TIFF, PNG and JPEG"
}

// extensions are those of files that are found in folders. The others need GDAL.
var (
	extensions     = []string{".tif", ".tiff"}
	pictures       = []string{".png", ".jpg", ".jpeg"}
	gdalExtensions = []string{".jp2", ".vrt", ".img", ".gpkg", ".asc", ".ntf", ".mrf", ".webp", ".ecw", ".sid"}
)

// IsImage reports whether a file of a folder is an image that can be placed on a map, by its name: TIFF, PNG and JPEG with a file beside
// it that says where it is, and with an installed GDAL some of its formats, and names of GDAL that are no files.
func IsImage(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	installed := func() bool {
		_, err := gdal.Version()
		return err == nil
	}
	switch {
	case slices.Contains(extensions, ext):
		return true
	case slices.Contains(pictures, ext):
		return worldfile.Placed(name)
	case slices.Contains(gdalExtensions, ext):
		return installed()
	}
	_, err := os.Stat(name)
	return err != nil && strings.Contains(name, ":") && installed()
}
