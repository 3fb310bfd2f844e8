package gdal

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"quern.dev/geo/tiff"
)

// typeByte is GDT_Byte.
const typeByte = 1

// types are those of GDAL, by their number (GDT_Byte and so on).
var types = map[int32]tiff.Type{
	1: tiff.Uint8, 2: tiff.Uint16, 3: tiff.Int16, 4: tiff.Uint32, 5: tiff.Int32, 6: tiff.Float32, 7: tiff.Float64,
	8: tiff.ComplexI16, 9: tiff.ComplexI32, 10: tiff.Complex64, 11: tiff.Complex128, 12: tiff.Uint64, 13: tiff.Int64, 14: tiff.Int8,
}

// wider are the types in which samples of those without a Go type are read: GDT_Float16 and GDT_CFloat16.
var wider = map[int32]int32{15: 6, 16: 10}

// fewestBits are the fewest bits of samples in a file that have a type in memory.
var fewestBits = map[tiff.Type]int{tiff.Uint8: 1, tiff.Uint16: 9, tiff.Uint32: 17}

// description is what Open finds in a dataset.
type description struct {
	virtual             tiff.Virtual
	kind                int32 // the type of samples that are read
	driver, format, wkt string
	subdatasets         []Subdataset
	warnings            []string
	crsErr              error
}

func (d *description) warn(format string, args ...any) {
	d.warnings = append(d.warnings, fmt.Sprintf(format, args...))
}

// describe reads everything but pixels.
func (s *dataset) describe() (*description, error) {
	d := &description{subdatasets: s.subdatasets()}
	driver := s.GDALGetDatasetDriver(s.h)
	d.driver, d.format = s.GDALGetDriverShortName(driver), s.GDALGetDriverLongName(driver)
	h := &d.virtual.Header
	h.Width, h.Height, h.Bands = int(s.GDALGetRasterXSize(s.h)), int(s.GDALGetRasterYSize(s.h)), int(s.GDALGetRasterCount(s.h))
	if h.Bands == 0 {
		if len(d.subdatasets) > 0 {
			return nil, &SubdatasetsError{s.name, d.subdatasets}
		}
		return nil, failure(ErrFormat, "open", s.name, "the file (%s) has no bands", d.format)
	}
	if err := s.describeType(d); err != nil {
		return nil, err
	}
	s.describeColors(d)
	s.describeNoData(d)
	s.describeMask(d)
	s.describeBlocks(d)
	s.describeMetadata(d)
	if err := s.describePlace(d); err != nil {
		return nil, err
	}
	return d, nil
}

// subdatasets lists the parts of the file.
func (s *dataset) subdatasets() []Subdataset {
	var all []Subdataset
	items := items(s.metadata(s.h, "SUBDATASETS"))
	for i := 1; ; i++ {
		name, ok := items[fmt.Sprintf("SUBDATASET_%d_NAME", i)]
		if !ok {
			return all
		}
		all = append(all, Subdataset{name, items[fmt.Sprintf("SUBDATASET_%d_DESC", i)]})
	}
}

// items makes a map of NAME=VALUE.
func items(list []string) map[string]string {
	m := map[string]string{}
	for _, text := range list {
		name, value, _ := strings.Cut(text, "=")
		m[name] = value
	}
	return m
}

func (s *dataset) describeType(d *description) error {
	h := &d.virtual.Header
	mixed := false
	for i := range h.Bands {
		kind := s.GDALGetRasterDataType(s.band(0, i))
		kind = cmp.Or(wider[kind], kind)
		if i > 0 && kind != d.kind {
			mixed = true
			kind = s.GDALDataTypeUnion(d.kind, kind)
		}
		d.kind = kind
	}
	h.Type = types[d.kind]
	if h.Type == 0 {
		return failure(ErrFormat, "open", s.name, "samples of GDAL's type %q are not supported", s.GDALGetDataTypeName(d.kind))
	}
	if mixed {
		d.warn("bands have different types and are read as %s", h.Type)
	}
	if h.Type == tiff.Uint8 && s.GDALGetMetadataItem(s.band(0, 0), "PIXELTYPE", "IMAGE_STRUCTURE") == "SIGNEDBYTE" {
		h.Type = tiff.Int8 // as GDAL before 3.7 has it: the same bytes
	}
	bits, err := strconv.Atoi(s.GDALGetMetadataItem(s.band(0, 0), "NBITS", "IMAGE_STRUCTURE"))
	if least := fewestBits[h.Type]; err == nil && least > 0 && bits >= least && bits < 8*h.Type.Size() {
		h.Bits = bits
	}
	return nil
}

// Color interpretations of GDAL (GCI_GrayIndex and so on).
const (
	colorUndefined = 0
	colorGray      = 1
	colorPalette   = 2
	colorRed       = 3
	colorGreen     = 4
	colorBlue      = 5
	colorAlpha     = 6
	colorCyan      = 10
	colorBlack     = 13
)

func (s *dataset) describeColors(d *description) {
	h := &d.virtual.Header
	colors := make([]int32, h.Bands)
	for i := range colors {
		colors[i] = s.GDALGetRasterColorInterpretation(s.band(0, i))
	}
	h.Photometric = tiff.MinIsBlack
	meant := 1
	switch {
	case h.Bands >= 3 && slices.Equal(colors[:3], []int32{colorRed, colorGreen, colorBlue}):
		h.Photometric, meant = tiff.RGB, 3
	case h.Bands >= 4 && slices.Equal(colors[:4], []int32{colorCyan, colorCyan + 1, colorCyan + 2, colorBlack}):
		h.Photometric, meant = tiff.Separated, 4
	case colors[0] == colorPalette && s.readPalette(d):
		h.Photometric = tiff.Palette
	}
	alpha := slices.Index(colors, colorAlpha)
	switch {
	case alpha >= meant:
		h.Extra = make([]tiff.ExtraSample, h.Bands-meant)
		h.Extra[alpha-meant] = tiff.StraightAlpha
		if s.GDALGetMetadataItem(s.band(0, alpha), "ALPHA", "IMAGE_STRUCTURE") == "PREMULTIPLIED" {
			h.Extra[alpha-meant] = tiff.AssociatedAlpha
		}
	case h.Photometric == tiff.Palette && h.Bands > 1:
		h.Extra = make([]tiff.ExtraSample, h.Bands-1)
	case alpha >= 0:
		d.warn("band %d is alpha and stands before the colors: it is read as a band like others", alpha+1)
	}
	for i, c := range colors {
		if i >= meant && c != colorUndefined && c != colorGray && c != colorAlpha || i < meant && h.Photometric == tiff.MinIsBlack && c > colorPalette {
			h.Metadata = append(h.Metadata, tiff.Item{Band: i, Name: "COLORINTERP", Role: "colorinterp", Value: s.GDALGetColorInterpretationName(c)})
		}
	}
}

// readPalette reads the color table of the first band. It is false if there is none that an image can have.
func (s *dataset) readPalette(d *description) bool {
	h := &d.virtual.Header
	table := s.GDALGetRasterColorTable(s.band(0, 0))
	if table == 0 || h.Type != tiff.Uint8 && h.Type != tiff.Uint16 {
		return false
	}
	most := 1 << (8 * h.Type.Size())
	if h.Bits > 0 {
		most = 1 << h.Bits
	}
	n := int(s.GDALGetColorEntryCount(table))
	if n > most {
		d.warn("the color table has %d entries; %d are read", n, most)
	}
	transparent := 0
	for i := range min(n, most) {
		var c [4]int16
		s.GDALGetColorEntryAsRGB(table, int32(i), &c)
		h.Palette = append(h.Palette, tiff.Color{R: uint16(c[0]) * 257, G: uint16(c[1]) * 257, B: uint16(c[2]) * 257})
		if c[3] != 255 {
			transparent++
		}
	}
	if transparent > 0 {
		d.warn("%d entries of the color table are not opaque; palettes have no alpha", transparent)
	}
	return true
}

func (s *dataset) describeNoData(d *description) {
	h := &d.virtual.Header
	found, differ := -1, false
	for i := range h.Bands {
		text, ok := s.noData(s.band(0, i), h.Type)
		switch {
		case ok && found < 0:
			h.NoData, found = text, i
			differ = i > 0
		case found >= 0 && (!ok || text != h.NoData):
			differ = true
		}
	}
	if differ {
		d.warn("bands have different values of NoData; that of band %d, %s, is used for all", found+1, h.NoData)
	}
}

func (s *dataset) noData(band handle, kind tiff.Type) (string, bool) {
	var there int32
	switch {
	case kind == tiff.Int64 && s.GDALGetRasterNoDataValueAsInt64 != nil:
		v := s.GDALGetRasterNoDataValueAsInt64(band, &there)
		return strconv.FormatInt(v, 10), there != 0
	case kind == tiff.Uint64 && s.GDALGetRasterNoDataValueAsUInt64 != nil:
		v := s.GDALGetRasterNoDataValueAsUInt64(band, &there)
		return strconv.FormatUint(v, 10), there != 0
	}
	return number(s.GDALGetRasterNoDataValue(band, &there)), there != 0
}

func number(v float64) string {
	if math.IsNaN(v) {
		return "nan"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (s *dataset) describeMask(d *description) {
	h := &d.virtual.Header
	flags := s.GDALGetMaskFlags(s.band(0, 0))
	switch {
	case flags&(maskAllValid|maskAlpha) != 0, flags&maskNoData != 0 && h.NoData != "":
	case flags&maskPerDataset != 0 || h.Bands == 1 || flags&maskNoData != 0:
		d.virtual.Mask = true
	default:
		d.warn("each band has a mask of its own; none is read")
	}
}

// describeBlocks chooses blocks that are whole blocks of the file, but neither tiny nor huge, and finds the overviews.
func (s *dataset) describeBlocks(d *description) {
	v := &d.virtual
	var bw, bh int32
	s.GDALGetBlockSize(s.band(0, 0), &bw, &bh)
	v.BlockWidth, v.BlockHeight = blockSide(int(bw), v.Header.Width), blockSide(int(bh), v.Header.Height)
	interleave := s.GDALGetMetadataItem(s.h, "INTERLEAVE", "IMAGE_STRUCTURE")
	if v.Header.Bands > 4 && interleave != "PIXEL" || v.Header.Bands > 16 {
		v.Layout = tiff.ByBand
	}
	first := s.band(0, 0)
	for i := range int(s.GDALGetOverviewCount(first)) {
		o := s.GDALGetOverview(first, int32(i))
		if o == 0 {
			break
		}
		size := [2]int{int(s.GDALGetRasterBandXSize(o)), int(s.GDALGetRasterBandYSize(o))}
		for b := 1; b < v.Header.Bands; b++ {
			if int(s.GDALGetOverviewCount(s.band(0, b))) <= i {
				size[0] = 0
			}
		}
		before := [2]int{v.Header.Width, v.Header.Height}
		if i > 0 {
			before = v.Overviews[i-1]
		}
		// Overviews have numbers, so what follows one that is not in order is left out.
		if size[0] <= 0 || size[1] <= 0 || size[0] > before[0] || size[1] > before[1] || size == before {
			d.warn("overview %d and those after it are not read: it is not smaller than the one before, or a band lacks it", i+1)
			break
		}
		v.Overviews = append(v.Overviews, size)
	}
}

// blockSide returns the side of blocks: a multiple of the file's own, from 256 to 1024 where that is possible.
func blockSide(own, image int) int {
	const least, most, usual = 256, 1024, 512
	switch {
	case own <= 0 || own > most:
		own = usual
	case own < least:
		own *= (least + own - 1) / own
	}
	return min(own, (image+15)/16*16)
}

// skipped are domains of metadata that are elsewhere in the header, or follow from the storage.
var skipped = []string{"IMAGE_STRUCTURE", "SUBDATASETS", "DERIVED_SUBDATASETS", "RPC", "COLOR_PROFILE", "GEOLOCATION"}

func (s *dataset) describeMetadata(d *description) {
	h := &d.virtual.Header
	domains := append([]string{""}, s.domains(s.h)...)
	for i, domain := range domains {
		if slices.Contains(skipped, domain) || strings.Contains(domain, ":") || slices.Contains(domains[:i], domain) {
			continue
		}
		for _, text := range s.metadata(s.h, domain) {
			name, value, _ := strings.Cut(text, "=")
			if domain == "" && isHeader(h, name, value) {
				continue
			}
			h.Metadata = append(h.Metadata, tiff.Item{Domain: domain, Band: -1, Name: name, Value: value})
		}
	}
	if len(s.metadata(s.h, "GEOLOCATION")) > 0 {
		d.warn("the file has geolocation arrays, which are not used; gdalwarp -geoloc does")
	}
	h.RPC = rpc(items(s.metadata(s.h, "RPC")))
	for i := range h.Bands {
		s.describeBand(h, i)
	}
}

// describeBand adds the metadata of a band.
func (s *dataset) describeBand(h *tiff.Header, i int) {
	band := s.band(0, i)
	add := func(name, role, value string) {
		h.Metadata = append(h.Metadata, tiff.Item{Band: i, Name: name, Role: role, Value: value})
	}
	for _, text := range s.metadata(band, "") {
		name, value, _ := strings.Cut(text, "=")
		add(name, "", value)
	}
	var there int32
	if v := s.GDALGetRasterScale(band, &there); there != 0 && v != 1 {
		add("SCALE", "scale", number(v))
	}
	there = 0
	if v := s.GDALGetRasterOffset(band, &there); there != 0 && v != 0 {
		add("OFFSET", "offset", number(v))
	}
	if text := s.GDALGetRasterUnitType(band); text != "" {
		add("UNITTYPE", "unittype", text)
	}
	if text := s.GDALGetDescription(band); text != "" {
		add("DESCRIPTION", "description", text)
	}
}

// rpc reads the metadata of rational polynomials; nil if they are not complete.
func rpc(m map[string]string) *tiff.RPC {
	r := new(tiff.RPC)
	one := func(name string, to *float64) bool {
		v, err := strconv.ParseFloat(strings.TrimSpace(m[name]), 64)
		*to = v
		return err == nil
	}
	all := func(name string, to *[20]float64) bool {
		fields := strings.Fields(m[name])
		for i, text := range fields {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || i >= len(to) {
				return false
			}
			to[i] = v
		}
		return len(fields) == len(to)
	}
	one("ERR_BIAS", &r.ErrBias) // these two may be missing
	one("ERR_RAND", &r.ErrRand)
	ok := one("LINE_OFF", &r.LineOff) && one("SAMP_OFF", &r.SampOff) && one("LAT_OFF", &r.LatOff) && one("LONG_OFF", &r.LongOff) && one("HEIGHT_OFF", &r.HeightOff) &&
		one("LINE_SCALE", &r.LineScale) && one("SAMP_SCALE", &r.SampScale) && one("LAT_SCALE", &r.LatScale) && one("LONG_SCALE", &r.LongScale) && one("HEIGHT_SCALE", &r.HeightScale) &&
		all("LINE_NUM_COEFF", &r.LineNum) && all("LINE_DEN_COEFF", &r.LineDen) && all("SAMP_NUM_COEFF", &r.SampNum) && all("SAMP_DEN_COEFF", &r.SampDen)
	if !ok {
		return nil
	}
	return r
}
