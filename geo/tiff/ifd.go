package tiff

import (
	"cmp"
	"math"
	"slices"
)

// field is an entry of a directory that is written.
type field struct {
	tag   Tag
	typ   fieldType
	count int
	value []byte
}

// fields collects the entries of a directory.
type fields struct {
	order byteOrder
	big   bool
	list  []field
}

func (f *fields) shorts(tag Tag, values ...uint16) {
	var b []byte
	for _, v := range values {
		b = f.order.AppendUint16(b, v)
	}
	f.list = append(f.list, field{tag, typeShort, len(values), b})
}

func (f *fields) long(tag Tag, value int) {
	f.list = append(f.list, field{tag, typeLong, 1, f.order.AppendUint32(nil, uint32(value))})
}

func (f *fields) doubles(tag Tag, values ...float64) {
	if len(values) == 0 {
		return
	}
	var b []byte
	for _, v := range values {
		b = f.order.AppendUint64(b, math.Float64bits(v))
	}
	f.list = append(f.list, field{tag, typeDouble, len(values), b})
}

func (f *fields) text(tag Tag, text string) {
	if text != "" {
		f.list = append(f.list, field{tag, typeASCII, len(text) + 1, append([]byte(text), 0)})
	}
}

// positions writes offsets or sizes of blocks, with 64 bits if the file has 64-bit offsets and wide is set.
func (f *fields) positions(tag Tag, values []int64, wide bool) {
	var b []byte
	for _, v := range values {
		if f.big && wide {
			b = f.order.AppendUint64(b, uint64(v))
		} else {
			b = f.order.AppendUint32(b, uint32(v))
		}
	}
	typ := typeLong
	if f.big && wide {
		typ = typeLong8
	}
	f.list = append(f.list, field{tag, typ, len(values), b})
}

// size returns the bytes of the directory with its values.
func (f *fields) size() int64 {
	head, each, inline := f.widths()
	n := int64(head+each*len(f.list)) + inline
	for _, e := range f.list {
		if int64(len(e.value)) > inline {
			n += int64(len(e.value)+7) &^ 7
		}
	}
	return (n + 7) &^ 7
}

func (f *fields) widths() (head, each int, inline int64) {
	if f.big {
		return 8, 20, 8
	}
	return 2, 12, 4
}

func (f *fields) appendOffset(b []byte, v int64) []byte {
	if f.big {
		return f.order.AppendUint64(b, uint64(v))
	}
	return f.order.AppendUint32(b, uint32(v))
}

// encode returns the directory for a place in the file, which is a multiple of 8 or 2. next is where
// the next directory is, or 0. Values follow the entries, those of the largest tags (the arrays of
// blocks) last.
func (f *fields) encode(at, next int64) []byte {
	slices.SortFunc(f.list, func(a, b field) int { return cmp.Compare(a.tag, b.tag) })
	head, each, inline := f.widths()
	var b []byte
	if f.big {
		b = f.order.AppendUint64(b, uint64(len(f.list)))
	} else {
		b = f.order.AppendUint16(b, uint16(len(f.list)))
	}
	end := at + (int64(head+each*len(f.list))+inline+7)&^7
	for _, e := range f.list {
		b = f.order.AppendUint16(b, uint16(e.tag))
		b = f.order.AppendUint16(b, uint16(e.typ))
		b = f.appendOffset(b, int64(e.count))
		if int64(len(e.value)) <= inline {
			b = append(b, e.value...)
			b = append(b, make([]byte, inline-int64(len(e.value)))...)
			continue
		}
		b = f.appendOffset(b, end)
		end += int64(len(e.value)+7) &^ 7
	}
	b = f.appendOffset(b, next)
	b = pad(b)
	for _, e := range f.list {
		if int64(len(e.value)) > inline {
			b = pad(append(b, e.value...))
		}
	}
	return b
}

// pad appends zeros up to a multiple of 8 bytes.
func pad(b []byte) []byte { return append(b, make([]byte, -len(b)&7)...) }

// repeat returns n times v.
func repeat(v uint16, n int) []uint16 { return slices.Repeat([]uint16{v}, n) }

// imageFields returns the directory of a level.
func (w *Writer) imageFields(l *level) *fields {
	f := &fields{order: w.opt.order(), big: w.opt.big(&w.header)}
	h := &l.header
	f.basic(h.Width, h.Height, l.opt)
	if l.number > 0 {
		f.long(NewSubfileType, subfileReduced)
	}
	f.shorts(BitsPerSample, repeat(uint16(h.storedBits()), h.Bands)...)
	f.shorts(SampleFormat, repeat(uint16(typeTable[h.Type].format), h.Bands)...)
	f.shorts(SamplesPerPixel, uint16(h.Bands))
	f.shorts(CompressionTag, uint16(l.opt.Compression))
	f.shorts(PlanarConfiguration, uint16(l.opt.Layout)+1)
	if l.opt.Predictor != NoPredictor {
		f.shorts(PredictorTag, uint16(l.opt.Predictor))
	}
	f.meaning(h, l.opt)
	f.blocks(l.opt, l.offsets, l.sizes)
	f.text(GDALNoData, h.NoData)
	if l.number == 0 {
		f.metadata(h)
	}
	return f
}

// basic adds what images and masks have in common.
func (f *fields) basic(width, height int, opt Options) {
	f.long(ImageWidth, width)
	f.long(ImageLength, height)
	if opt.Strips {
		f.long(RowsPerStrip, opt.BlockHeight)
		return
	}
	f.long(TileWidth, opt.BlockWidth)
	f.long(TileLength, opt.BlockHeight)
}

func (f *fields) blocks(opt Options, offsets, sizes []int64) {
	if opt.Strips {
		f.positions(StripOffsets, offsets, true)
		f.positions(StripByteCounts, sizes, false)
		return
	}
	f.positions(TileOffsets, offsets, true)
	f.positions(TileByteCounts, sizes, false)
}

// meaning adds what samples mean.
func (f *fields) meaning(h *Header, opt Options) {
	photometric := h.Photometric
	if opt.Compression == JPEG && photometric == RGB {
		photometric = YCbCr
		f.shorts(YCbCrSubSampling, 2, 2)
		var b []byte
		for _, v := range []uint32{0, 255, 128, 255, 128, 255} {
			b = f.order.AppendUint32(b, v)
			b = f.order.AppendUint32(b, 1)
		}
		f.list = append(f.list, field{ReferenceBlackWhite, typeRational, 6, b})
	}
	f.shorts(PhotometricTag, uint16(photometric))
	extra := slices.Repeat([]uint16{uint16(Unspecified)}, h.Bands-len(h.Extra)-photometric.colors())
	for _, e := range h.Extra {
		extra = append(extra, uint16(e))
	}
	if len(extra) > 0 {
		f.shorts(ExtraSamples, extra...)
	}
	if photometric == Palette {
		n := 1 << h.storedBits()
		colors := make([]uint16, 3*n)
		for i, c := range h.Palette {
			colors[i], colors[n+i], colors[2*n+i] = c.R, c.G, c.B
		}
		f.shorts(ColorMap, colors...)
	}
}

// metadata adds what only the full image has.
func (f *fields) metadata(h *Header) {
	f.text(ImageDescription, h.Description)
	f.text(Software, h.Software)
	f.text(DateTime, h.DateTime)
	f.text(GDALMetadata, formatItems(h.Metadata))
	if h.RPC != nil {
		f.doubles(RPCCoefficients, h.RPC.values()...)
	}
	f.doubles(ModelPixelScale, h.Geo.Scale...)
	f.doubles(ModelTransformation, h.Geo.Matrix...)
	var points []float64
	for _, t := range h.Geo.Tiepoints {
		points = append(points, t.Column, t.Row, t.Level, t.X, t.Y, t.Z)
	}
	f.doubles(ModelTiepoint, points...)
	words, numbers, text := h.Geo.Keys.tags()
	if words != nil {
		f.shorts(GeoKeyDirectory, words...)
	}
	f.doubles(GeoDoubleParams, numbers...)
	f.text(GeoASCIIParams, text)
}

// maskFields returns the directory of the mask of a level.
func (w *Writer) maskFields(l *level) *fields {
	f := &fields{order: w.opt.order(), big: w.opt.big(&w.header)}
	f.basic(l.header.Width, l.header.Height, l.opt)
	kind := subfileMask
	if l.number > 0 {
		kind |= subfileReduced
	}
	f.long(NewSubfileType, kind)
	f.shorts(BitsPerSample, 1)
	f.shorts(SampleFormat, formatUint)
	f.shorts(SamplesPerPixel, 1)
	f.shorts(CompressionTag, uint16(Deflate))
	f.shorts(PlanarConfiguration, 1)
	f.shorts(PhotometricTag, uint16(TransparencyMask))
	f.blocks(l.opt, l.maskOffsets, l.maskSizes)
	return f
}
