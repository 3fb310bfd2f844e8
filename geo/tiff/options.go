package tiff

import (
	"encoding/binary"
	"math"
	"strconv"
)

// Options says how [Create] stores an image. The zero value is a tiled file of 512 x 512 pixels,
// compressed with Deflate and the predictor that fits the samples.
type Options struct {
	// Compression is Deflate by default.
	Compression Compression
	// Level is the effort: 1 to 9 for Deflate (6 by default), 1 to 22 for ZSTD (9), and the
	// quality from 1 to 100 for JPEG (75).
	Level int
	// Predictor is by default Horizontal for integers and FloatingPoint for floats, where the
	// compression has predictors.
	Predictor Predictor
	// Layout of the file.
	Layout Layout
	// Strips stores strips of BlockHeight rows instead of tiles.
	Strips bool
	// BlockWidth and BlockHeight are multiples of 16 for tiles.
	BlockWidth, BlockHeight int
	// Mask adds a mask, which [Writer.WriteRows] then gets with the pixels.
	Mask bool
	// COG stores the file as a Cloud Optimized GeoTIFF, with overviews. It cannot have strips or
	// the layout ByBand.
	COG bool
	// Overviews is the number of overviews, each of half the size of the one before. 0 means
	// none, and in a COG as many as it takes to fit one tile; -1 means none there too.
	Overviews int
	// Resampling makes the overviews.
	Resampling Resampling
	// BigTIFF has 64-bit offsets. By default, the size of the pixels decides.
	BigTIFF BigTIFF
	// BigEndian stores the most significant byte first.
	BigEndian bool
	// Sparse leaves out blocks whose samples all have the value NoData, or 0 without one.
	Sparse bool
}

// BigTIFF says when a file has 64-bit offsets.
type BigTIFF uint8

// When a file has 64-bit offsets. With BigTIFFAuto, it is if the pixels take more than
// 4 GiB without compression. With BigTIFFNo, writing fails beyond 4 GiB.
const (
	BigTIFFAuto BigTIFF = iota
	BigTIFFYes
	BigTIFFNo
)

// defaultBlock is the width and height of tiles.
const defaultBlock = 512

// withDefaults fills in what h and o leave open, and checks both.
func (o Options) withDefaults(h *Header) (Options, error) {
	if err := h.check(); err != nil {
		return o, err
	}
	if o.Compression == 0 {
		o.Compression = Deflate
	}
	if o.Compression == deflateOld || codecs[o.Compression].encode == nil {
		return o, writing.argument("compression %d cannot be written", o.Compression)
	}
	if o.Predictor == 0 {
		o.Predictor = o.bestPredictor(h)
	}
	if err := o.checkPredictor(h); err != nil {
		return o, err
	}
	if err := o.checkLevel(); err != nil {
		return o, err
	}
	if o.Compression == JPEG {
		if err := o.checkJPEG(h); err != nil {
			return o, err
		}
	}
	if h.Bands == 1 {
		o.Layout = ByPixel
	}
	return o.withBlocks(h)
}

func (h *Header) check() error {
	switch {
	case h.Width <= 0 || h.Height <= 0 || h.Width > math.MaxInt32 || h.Height > math.MaxInt32:
		return writing.argument("%d x %d pixels; 1 to %d are possible", h.Width, h.Height, math.MaxInt32)
	case h.Bands <= 0 || h.Bands > 65535:
		return writing.argument("%d bands; 1 to 65535 are possible", h.Bands)
	case !h.Type.valid():
		return writing.argument("%v; set Header.Type", h.Type)
	case len(h.Extra) > h.Bands-h.Photometric.colors():
		return writing.argument("%d extra bands and %d for the colors, of %d bands", len(h.Extra), h.Photometric.colors(), h.Bands)
	case h.Photometric == YCbCr:
		return writing.argument("YCbCr pixels; write RGB, which JPEG stores as YCbCr")
	case h.Photometric == Palette && (h.Type != Uint8 && h.Type != Uint16 || h.Bands-len(h.Extra) != 1):
		return writing.argument("a palette for %d bands of %s; it is for one band of uint8 or uint16", h.Bands, h.Type)
	case h.Photometric == Palette && len(h.Palette) > 1<<h.storedBits():
		return writing.argument("a palette of %d colors for samples of %d bits", len(h.Palette), h.storedBits())
	case h.Bits != 0 && sampleType(h.Bits, typeTable[h.Type].format) != h.Type:
		return writing.argument("samples of %d bits for %s", h.Bits, h.Type)
	case len(h.Geo.Matrix) != 0 && len(h.Geo.Matrix) != 16 || len(h.Geo.Scale) != 0 && len(h.Geo.Scale) != 3:
		return writing.argument("a matrix of %d and a scale of %d numbers; 16 and 3 are possible", len(h.Geo.Matrix), len(h.Geo.Scale))
	}
	for i, v := range h.Geo.Keys {
		if i > 0 && h.Geo.Keys[i-1].Key >= v.Key {
			return writing.argument("GeoKey %d after %d; keys are in increasing order, as GeoKeys.Set puts them", v.Key, h.Geo.Keys[i-1].Key)
		}
	}
	if _, numbers, text := h.Geo.Keys.tags(); len(h.Geo.Keys) > 16000 || len(numbers) > math.MaxUint16 || len(text) > math.MaxUint16 {
		return writing.argument("%d GeoKeys with %d numbers and %d bytes of text; GeoTIFF has 16-bit indices", len(h.Geo.Keys), len(numbers), len(text))
	}
	return nil
}

// storedBits returns the bits of a sample in the file.
func (h *Header) storedBits() int {
	if h.Bits != 0 {
		return h.Bits
	}
	return 8 * h.Type.Size()
}

func (o Options) bestPredictor(h *Header) Predictor {
	format := typeTable[h.Type].format
	switch {
	case !o.Compression.predicts() || h.Photometric == Palette || h.Type.Complex():
		return NoPredictor
	case predictorProblem(FloatingPoint, h.storedBits(), format) == "":
		return FloatingPoint
	case predictorProblem(Horizontal, h.storedBits(), format) == "":
		return Horizontal
	}
	return NoPredictor
}

func (o Options) checkPredictor(h *Header) error {
	if o.Predictor != NoPredictor && !o.Compression.predicts() {
		return writing.argument("predictor %d with %s; predictors are for LZW, DEFLATE and ZSTD", o.Predictor, o.Compression)
	}
	if problem := predictorProblem(o.Predictor, h.storedBits(), typeTable[h.Type].format); problem != "" {
		return writing.argument("%s", problem)
	}
	return nil
}

func (o Options) checkLevel() error {
	highest := map[Compression]int{Deflate: 9, ZSTD: 22, JPEG: 100}[o.Compression]
	if o.Level < 0 || o.Level > highest {
		return writing.argument("level %d of %s; 0 means the default, and %d is the highest", o.Level, o.Compression, highest)
	}
	return nil
}

func (o Options) checkJPEG(h *Header) error {
	gray := h.Photometric == MinIsBlack && (h.Bands == 1 || o.Layout == ByBand)
	rgb := h.Photometric == RGB && h.Bands == 3 && o.Layout == ByPixel
	if h.Type != Uint8 || h.Bits != 0 || !gray && !rgb {
		return writing.argument("JPEG with %d bands of %s; one band or RGB of uint8 is possible", h.Bands, h.Type)
	}
	return nil
}

func (o Options) withBlocks(h *Header) (Options, error) {
	if o.Layout > ByBand || o.Resampling > Nearest || o.BigTIFF > BigTIFFNo {
		return o, writing.argument("an option has a value that is not defined: Layout %d, Resampling %d, BigTIFF %d", o.Layout, o.Resampling, o.BigTIFF)
	}
	if o.COG && (o.Strips || o.Layout == ByBand) {
		return o, writing.argument("a COG with strips or one plane per band; it has tiles with all bands")
	}
	if o.Strips {
		if o.Overviews > 0 {
			return o, writing.argument("overviews of strips; they need tiles")
		}
		if o.BlockHeight == 0 {
			o.BlockHeight = max(1, (1<<20)/(h.Width*h.pixelBytes()))
		}
		o.BlockWidth, o.BlockHeight = h.Width, min(o.BlockHeight, h.Height)
	} else if o.BlockWidth == 0 && o.BlockHeight == 0 {
		o.BlockWidth, o.BlockHeight = defaultBlock, defaultBlock
	}
	if o.BlockWidth <= 0 || o.BlockHeight <= 0 || !o.Strips && (o.BlockWidth%16 != 0 || o.BlockHeight%16 != 0) {
		return o, writing.argument("blocks of %d x %d pixels; the sides of tiles are multiples of 16", o.BlockWidth, o.BlockHeight)
	}
	if int64(o.BlockWidth)*int64(h.pixelBytes()) > (1<<30)/int64(o.BlockHeight) {
		return o, writing.argument("blocks of %d x %d pixels with %d bands of %s; they are limited to 1 GiB", o.BlockWidth, o.BlockHeight, h.Bands, h.Type)
	}
	if o.Compression == JPEG && max(o.BlockWidth, o.BlockHeight) > 65535 {
		return o, writing.argument("JPEG blocks of %d x %d pixels; 65535 is possible", o.BlockWidth, o.BlockHeight)
	}
	planes := 1
	if o.Layout == ByBand {
		planes = h.Bands
	}
	across, down := int64((h.Width-1)/o.BlockWidth+1), int64((h.Height-1)/o.BlockHeight+1)
	if most := (Limits{}).withDefaults().TagBytes / 8 / int64(planes); down > most || across > most/down {
		return o, writing.limit(0, "%d x %d pixels have %d x %d blocks in %s; %d blocks are possible, which readers hold in memory: make the image smaller, or blocks larger",
			h.Width, h.Height, across, down, planeCount(planes), most*int64(planes))
	}
	return o.withOverviews(h)
}

func planeCount(n int) string {
	if n == 1 {
		return "1 plane"
	}
	return strconv.Itoa(n) + " planes"
}

func (o Options) withOverviews(h *Header) (Options, error) {
	if o.Overviews < -1 || o.Overviews > 31 {
		return o, writing.argument("%d overviews; -1 to 31 are possible", o.Overviews)
	}
	if o.COG && o.Overviews == 0 {
		for w, ht := h.Width, h.Height; w > o.BlockWidth || ht > o.BlockHeight; o.Overviews++ {
			w, ht = (w+1)/2, (ht+1)/2
		}
	}
	o.Overviews = max(o.Overviews, 0)
	return o, nil
}

// byteOrder is the order of the bytes of numbers in a file.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func (o Options) order() byteOrder {
	if o.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// big decides on 64-bit offsets.
func (o Options) big(h *Header) bool {
	pixels := float64(h.Width) * float64(h.Height) * float64(h.pixelBytes())
	return o.BigTIFF == BigTIFFYes || o.BigTIFF == BigTIFFAuto && pixels*4/3 > math.MaxUint32*0.95
}
