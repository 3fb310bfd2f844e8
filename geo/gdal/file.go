package gdal

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"

	"quern.dev/geo/tiff"
)

// Options of a file. The zero value is fine.
type Options struct {
	// Handles is how often the file may be open at the same time, and so how many threads read it: by default one per core, up
	// to 8.
	Handles int
	// Drivers are the short names of the drivers that may open the file; all if empty.
	Drivers []string
	// Open are options NAME=VALUE of the driver (gdalinfo -oo).
	Open []string
}

// File is an image that GDAL reads. It is safe for concurrent use.
type File struct {
	*tiff.File
	name, driver, format, wkt string
	subdatasets               []Subdataset
	warnings                  []string
	crsErr                    error
}

// Subdataset is a part of a file that is opened by a name of its own.
type Subdataset struct {
	Name        string // for Open, such as NETCDF:"file.nc":temperature
	Description string // such as [12x180x360] temperature (32-bit floating-point)
}

// Open opens a file, or what else GDAL has a name for. It reads no pixels. Errors match [ErrMissing], [ErrFormat],
// [ErrArgument] or [ErrSubdatasets].
func Open(name string, o Options) (*File, error) {
	if _, err := library(); err != nil {
		return nil, err
	}
	if err := o.check(name); err != nil {
		return nil, err
	}
	if err := probe(name, o); err != nil {
		return nil, err
	}
	return open(name, o)
}

// open is Open in this process.
func open(name string, o Options) (*File, error) {
	lib, err := library()
	if err != nil {
		return nil, err
	}
	h := &handles{lib: lib, name: name, opt: o, jobs: make(chan job), quit: make(chan struct{})}
	h.most = cmp.Or(max(o.Handles, 0), min(runtime.GOMAXPROCS(0), 8))
	d := new(description)
	if err := h.start(func(s *dataset) (err error) {
		d, err = s.describe()
		return err
	}); err != nil {
		return nil, err
	}
	v := d.virtual
	v.Name, v.Read, v.Close, v.Parallel = name, h.reader(d), h.close, h.most
	if info, err := os.Stat(name); err == nil {
		v.Modified = info.ModTime()
	}
	f, err := tiff.NewVirtual(v)
	if err != nil {
		_ = h.close()
		return nil, failure(ErrFormat, "open", name, "%v", err)
	}
	return &File{File: f, name: name, driver: d.driver, format: d.format, wkt: d.wkt, subdatasets: d.subdatasets, warnings: d.warnings, crsErr: d.crsErr}, nil
}

// check refuses names and options that cannot be passed to C.
func (o Options) check(name string) error {
	if name == "" {
		return failure(ErrArgument, "open", "", "the name is empty")
	}
	for _, text := range slices.Concat([]string{name}, o.Drivers, o.Open) {
		if slices.Contains([]byte(text), 0) {
			return failure(ErrArgument, "open", "", "%q has a zero byte", text)
		}
	}
	return nil
}

// Subdatasets lists the parts of a file. It is empty if the file has none.
func Subdatasets(name string, o Options) ([]Subdataset, error) {
	lib, err := library()
	if err != nil {
		return nil, err
	}
	if err := o.check(name); err != nil {
		return nil, err
	}
	if err := probe(name, o); err != nil {
		return nil, err
	}
	var all []Subdataset
	h := &handles{lib: lib, name: name, opt: o, most: 1, jobs: make(chan job), quit: make(chan struct{})}
	err = h.start(func(s *dataset) error {
		all = s.subdatasets()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, h.close()
}

// Name returns the name that the file was opened by.
func (f *File) Name() string { return f.name }

// Driver returns the short name of GDAL's driver, such as "netCDF", and the long one.
func (f *File) Driver() (short, long string) { return f.driver, f.format }

// WKT returns the definition of the coordinate system in WKT 2, or "" if there is none.
func (f *File) WKT() string { return f.wkt }

// Subdatasets returns the parts of the file that are opened by names of their own.
func (f *File) Subdatasets() []Subdataset { return slices.Clone(f.subdatasets) }

// Warnings says what of the file is not in the header, or not usable.
func (f *File) Warnings() []string { return slices.Clone(f.warnings) }

// CRSError says why package crs cannot interpret the coordinate system of the file; nil if it can, or if there is none. The image can
// still be read, and its GeoKeys are those that GDAL writes.
func (f *File) CRSError() error { return f.crsErr }

// reader returns the function that reads blocks.
func (h *handles) reader(d *description) func(ctx context.Context, b tiff.VirtualBlock, dst []byte) error {
	kind, size, bands := d.kind, d.virtual.Header.Type.Size(), d.virtual.Header.Bands
	row := d.virtual.BlockWidth
	byBand := d.virtual.Layout == tiff.ByBand || bands == 1
	return func(ctx context.Context, b tiff.VirtualBlock, dst []byte) error {
		return h.do(ctx, func(s *dataset) error {
			switch {
			case b.Mask:
				return s.readMask(b, row, dst)
			case byBand:
				return s.readBand(b, b.Band, kind, dst, size, row*size)
			}
			for band := range bands {
				if err := s.readBand(b, band, kind, dst[band*size:], size*bands, row*size*bands); err != nil {
					return err
				}
			}
			return nil
		})
	}
}
