package gdal

import (
	"runtime"
	"unsafe"

	"quern.dev/geo/tiff"
)

// dataset is an open dataset. Only the thread that has opened it uses it.
type dataset struct {
	*functions
	name string
	h    handle
}

func (lib *functions) open(name string, o Options) (*dataset, error) {
	drivers, options := list(o.Drivers...), list(o.Open...)
	var allowed, given unsafe.Pointer
	if len(o.Drivers) > 0 {
		allowed = unsafe.Pointer(&drivers[0])
	}
	if len(o.Open) > 0 {
		given = unsafe.Pointer(&options[0])
	}
	s := &dataset{functions: lib, name: name}
	lib.CPLErrorReset()
	s.h = lib.GDALOpenEx(name, openReadOnly|openRaster|openVerbose, allowed, given, nil)
	runtime.KeepAlive(drivers)
	runtime.KeepAlive(options)
	if s.h == 0 {
		return nil, s.failed("open", "GDAL does not recognize the file")
	}
	return s, nil
}

func (s *dataset) close() { s.GDALClose(s.h) }

// failed is the last error of the thread.
func (s *dataset) failed(op, otherwise string) error {
	e := &Error{Op: op, Name: s.name, Number: int(s.CPLGetLastErrorNo()), Reason: s.CPLGetLastErrorMsg(), Kind: ErrFormat}
	if e.Reason == "" {
		e.Reason = otherwise
	}
	return e
}

// band returns a band of a level.
func (s *dataset) band(level, i int) handle {
	b := s.GDALGetRasterBand(s.h, int32(i+1))
	if level > 0 && b != 0 {
		b = s.GDALGetOverview(b, int32(level-1))
	}
	return b
}

// readBand reads a block of a band. Strides of pixels and rows are in bytes.
func (s *dataset) readBand(b tiff.VirtualBlock, band int, kind int32, dst []byte, pixel, row int) error {
	return s.read(s.band(b.Level, band), b, kind, dst, pixel, row)
}

func (s *dataset) read(band handle, b tiff.VirtualBlock, kind int32, dst []byte, pixel, row int) error {
	s.CPLErrorReset()
	if band == 0 {
		return s.failed("read", "a band is missing")
	}
	w, h := int32(b.Width), int32(b.Height)
	code := s.GDALRasterIOEx(band, readFlag, int32(b.X), int32(b.Y), w, h, unsafe.Pointer(&dst[0]), w, h, kind, int64(pixel), int64(row), nil)
	runtime.KeepAlive(dst)
	if code >= errorFailure {
		return s.failed("read", "a block cannot be read")
	}
	return nil
}

// readMask reads a block of the mask, as 0 and 255.
func (s *dataset) readMask(b tiff.VirtualBlock, row int, dst []byte) error {
	band := s.band(b.Level, 0)
	if band != 0 {
		band = s.GDALGetMaskBand(band)
	}
	if err := s.read(band, b, typeByte, dst, 1, row); err != nil {
		return err
	}
	for i, v := range dst {
		if v != 0 {
			dst[i] = 255
		}
	}
	return nil
}

// metadata returns the items NAME=VALUE of a domain.
func (s *dataset) metadata(object handle, domain string) []string {
	return texts(s.GDALGetMetadata(object, domain))
}

// domains lists the domains of metadata.
func (s *dataset) domains(object handle) []string {
	p := s.GDALGetMetadataDomainList(object)
	defer s.CSLDestroy(p)
	return texts(p)
}
