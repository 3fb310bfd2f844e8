package gdal

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
)

// isHeader sets the field of a header that an item of metadata belongs to. It is false if there is none.
func isHeader(h *tiff.Header, name, value string) bool {
	switch name {
	case "AREA_OR_POINT":
	case "TIFFTAG_IMAGEDESCRIPTION":
		h.Description = value
	case "TIFFTAG_SOFTWARE":
		h.Software = value
	case "TIFFTAG_DATETIME":
		h.DateTime = value
	default:
		return false
	}
	return true
}

// controlPoint is GDAL_GCP.
type controlPoint struct {
	id, info    unsafe.Pointer
	column, row float64
	x, y, z     float64
}

// describePlace reads the coordinate system and where pixels are in it.
func (s *dataset) describePlace(d *description) error {
	h := &d.virtual.Header
	system := s.GDALGetSpatialRef(s.h)
	points := int(s.GDALGetGCPCount(s.h))
	var affine [6]float64
	placed := s.GDALGetGeoTransform(s.h, &affine) == 0
	if !placed && points > 0 {
		system = s.GDALGetGCPSpatialRef(s.h)
	}
	if system != 0 {
		if err := s.describeSystem(d, system); err != nil {
			return err
		}
	}
	if s.GDALGetMetadataItem(s.h, "AREA_OR_POINT", "") == "Point" && len(h.Geo.Keys) > 0 {
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsPoint})
	}
	switch {
	case placed:
		h.Geo.SetAffine(affine)
		if points > 0 {
			d.warn("%d control points are not read, because the file has an affine transform", points)
		}
	case points > 0:
		s.describePoints(h, points)
	}
	return nil
}

// describePoints reads the ground control points.
func (s *dataset) describePoints(h *tiff.Header, n int) {
	p := s.GDALGetGCPs(s.h)
	if p == nil {
		return
	}
	half := 0.0
	if h.Geo.PixelIsPoint() {
		half = 0.5 // as the tie points of a TIFF file are stored
	}
	for _, g := range unsafe.Slice((*controlPoint)(p), n) {
		h.Geo.Tiepoints = append(h.Geo.Tiepoints, tiff.Tiepoint{Column: g.column - half, Row: g.row - half, X: g.x, Y: g.y, Z: g.z})
	}
}

// describeSystem makes GeoKeys of a coordinate system: those that GDAL writes to a TIFF file.
func (s *dataset) describeSystem(d *description, system handle) error {
	d.wkt = s.definition(system)
	keys, err := s.geoKeys(system)
	if err != nil {
		return err
	}
	h := &d.virtual.Header
	_, err = crs.FromGeoKeys(keys)
	if _, coded := keys.EPSG(); err != nil || !coded {
		// The definition may say more than keys can.
		if c, parsed := crs.Parse(d.wkt); parsed == nil && c.Code() > 0 {
			if k, unnamed := c.GeoKeys(); unnamed == nil {
				keys, err = k, nil
			}
		}
	}
	h.Geo.Keys = keys
	if err != nil {
		d.crsErr = fmt.Errorf("the coordinate system is not usable for reprojection; give another one, such as with -s_srs: %w", err)
		d.warnings = append(d.warnings, d.crsErr.Error())
	}
	return nil
}

// definition returns a system in WKT 2.
func (s *dataset) definition(system handle) string {
	options := list("FORMAT=WKT2_2018", "MULTILINE=NO")
	var p unsafe.Pointer
	s.OSRExportToWktEx(system, &p, unsafe.Pointer(&options[0]))
	runtime.KeepAlive(options)
	defer s.VSIFree(p)
	return text(p)
}

// memoryFiles numbers files in GDAL's memory.
var memoryFiles atomic.Int64

// geoKeys has GDAL write a TIFF file of one pixel with a system, and reads its keys.
func (s *dataset) geoKeys(system handle) (tiff.GeoKeys, error) {
	s.CPLErrorReset()
	driver := s.GDALGetDriverByName("GTiff")
	if driver == 0 {
		return nil, failure(ErrMissing, "open", s.name, "this GDAL has no driver GTiff, which translates coordinate systems")
	}
	name := fmt.Sprintf("/vsimem/quern-%d.tif", memoryFiles.Add(1))
	h := s.GDALCreate(driver, name, 1, 1, 1, typeByte, nil)
	if h == 0 {
		return nil, s.failed("open", "GDAL cannot translate the coordinate system")
	}
	s.GDALSetSpatialRef(h, system)
	s.GDALClose(h)
	defer s.VSIUnlink(name)
	defer s.VSIUnlink(name + ".aux.xml")
	var size uint64
	p := s.VSIGetMemFileBuffer(name, &size, 0)
	if p == nil || size == 0 {
		return nil, s.failed("open", "GDAL cannot translate the coordinate system")
	}
	file := bytes.Clone(unsafe.Slice((*byte)(p), size))
	f, err := tiff.NewFile(bytes.NewReader(file), int64(len(file)), tiff.Limits{})
	if err != nil {
		return nil, failure(ErrFormat, "open", s.name, "the coordinate system that GDAL has translated cannot be read: %v", err)
	}
	keys := f.Image().Geo.Keys
	for i, v := range keys {
		keys[i].Text = strings.TrimSpace(v.Text)
	}
	return keys, nil
}
