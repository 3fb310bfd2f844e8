package tiff

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Header describes the pixels of an image and where they are on the Earth.
type Header struct {
	Width, Height int
	Bands         int  // samples per pixel, alpha included
	Type          Type // of samples in memory
	// Bits is how many bits a sample has in the file, or 0 for all bits of Type.
	Bits        int
	Photometric Photometric
	// Extra has the meaning of the last len(Extra) bands.
	Extra []ExtraSample
	// Palette has the colours of the values of a Palette image.
	Palette []Color
	// NoData is the value of pixels without data, as text: "0", "-9999", "nan".
	// It is empty if there is none.
	NoData string

	Geo      Georeference
	RPC      *RPC
	Metadata []Item

	Description, Software, DateTime string // DateTime is "YYYY:MM:DD HH:MM:SS"
}

// Color is a color of a palette, with 16 bits per component.
type Color struct{ R, G, B uint16 }

// Photometric is what the samples of a pixel mean.
type Photometric uint16

// Meanings of samples. Pixels of YCbCr images that are compressed as JPEG are read
// as RGB. Values are returned as they are stored otherwise: those of MinIsWhite are not
// inverted.
const (
	MinIsWhite       Photometric = 0
	MinIsBlack       Photometric = 1
	RGB              Photometric = 2
	Palette          Photometric = 3
	TransparencyMask Photometric = 4
	Separated        Photometric = 5 // CMYK
	YCbCr            Photometric = 6
	CIELab           Photometric = 8
)

// colors returns the number of bands that the meaning requires at least.
func (p Photometric) colors() int {
	switch p {
	case RGB, YCbCr, CIELab:
		return 3
	case Separated:
		return 4
	}
	return 1
}

// ExtraSample is the meaning of a band beyond the colors.
type ExtraSample uint16

// Meanings of extra bands.
const (
	Unspecified     ExtraSample = 0
	AssociatedAlpha ExtraSample = 1 // the colors are multiplied by alpha
	StraightAlpha   ExtraSample = 2 // the colors are not multiplied
)

// Compression is how blocks are compressed.
type Compression uint16

// Compressions.
const (
	None     Compression = 1
	LZW      Compression = 5
	JPEG     Compression = 7
	Deflate  Compression = 8
	PackBits Compression = 32773
	ZSTD     Compression = 50000

	deflateOld Compression = 32946 // before it was registered
)

// String returns the name, in GDAL's spelling.
func (c Compression) String() string {
	switch c {
	case None:
		return "NONE"
	case LZW:
		return "LZW"
	case JPEG:
		return "JPEG"
	case Deflate, deflateOld:
		return "DEFLATE"
	case PackBits:
		return "PACKBITS"
	case ZSTD:
		return "ZSTD"
	}
	return fmt.Sprintf("Compression(%d)", uint16(c))
}

// predicts reports whether predictors apply to the compression.
func (c Compression) predicts() bool {
	return c == LZW || c == Deflate || c == deflateOld || c == ZSTD
}

// Predictor is the filter between pixels and compression.
type Predictor uint16

// Predictors.
const (
	NoPredictor   Predictor = 1
	Horizontal    Predictor = 2 // differences of neighbouring samples
	FloatingPoint Predictor = 3 // differences of the bytes of floats, by significance
)

// Layout is the order of samples, in files and in memory.
type Layout uint8

// Layouts.
const (
	ByPixel Layout = iota // all bands of a pixel side by side: PlanarConfiguration 1
	ByBand                // one band after the other: PlanarConfiguration 2
)

// Storage describes how pixels are stored in blocks, which are tiles or strips.
type Storage struct {
	Compression Compression
	Predictor   Predictor
	Layout      Layout
	// Strips means that blocks have the width of the image.
	Strips                  bool
	BlockWidth, BlockHeight int
}

// NoDataValue returns NoData as a number, for Float32 and Complex64 the float32 that is nearest to it. It is false if there is
// none, or if samples of the image's type cannot have the value.
func (h *Header) NoDataValue() (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(h.NoData), 64)
	if err != nil && !math.IsInf(v, 0) || h.NoData == "" {
		return 0, false
	}
	switch h.Type {
	case Float32, Complex64:
		return float64(float32(v)), true
	}
	if h.Type.Float() || h.Type.Complex() {
		return v, true
	}
	_, ok := h.noDataBits()
	return v, ok
}

// noDataBits returns the bits of a sample of value NoData. Of complex samples, it is
// the real part.
func (h *Header) noDataBits() (uint64, bool) {
	text := strings.TrimSpace(h.NoData)
	if text == "" {
		return 0, false
	}
	component := typeTable[h.Type].component
	bits := 8 * component
	switch typeTable[h.Type].format {
	case formatUint:
		v, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			var f float64
			f, err = strconv.ParseFloat(text, 64)
			if err != nil || f != math.Trunc(f) || f < 0 || f >= math.Ldexp(1, bits) {
				return 0, false
			}
			v = uint64(f)
		}
		return v, true
	case formatInt, formatComplexInt:
		v, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			var f float64
			f, err = strconv.ParseFloat(text, 64)
			if err != nil || f != math.Trunc(f) || f < -math.Ldexp(1, bits-1) || f >= math.Ldexp(1, bits-1) {
				return 0, false
			}
			v = int64(f)
		}
		return uint64(v) & (1<<(bits-1)<<1 - 1), true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	if component == 4 {
		return uint64(math.Float32bits(float32(f))), true
	}
	return math.Float64bits(f), true
}

// pixelBytes returns the bytes of one pixel in memory.
func (h *Header) pixelBytes() int { return h.Bands * h.Type.Size() }

// alpha returns the index of the alpha band, or -1.
func (h *Header) alpha() int {
	for i, e := range h.Extra {
		if e == AssociatedAlpha || e == StraightAlpha {
			return h.Bands - len(h.Extra) + i
		}
	}
	return -1
}
