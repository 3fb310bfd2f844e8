package tiff

import (
	"math"
	"sync"
)

// Image is one image of a file: the full image, an overview or a mask. Its methods are
// safe for concurrent use; its fields must not be changed.
type Image struct {
	Header
	Storage

	file      *File
	dir       *directory
	subfile   uint64
	mask      *Image
	overviews []*Image

	bits     int         // per sample in the file
	format   int         // SampleFormat
	stored   Photometric // in the file
	reversed bool        // FillOrder 2
	tables   []byte      // JPEGTables

	across, down, planes int
	virtual              int64 // where the blocks of a virtual image begin, or 0

	once    sync.Once // loads the ranges
	ranges  blockRanges
	loadErr error
}

// Values of NewSubfileType.
const (
	subfileReduced = 1
	subfileMask    = 4
)

// interpret makes an image of a directory.
func (f *File) interpret(d *directory) (*Image, error) {
	im := &Image{file: f, dir: d}
	steps := []func(d *directory) error{
		im.readSize, im.readSamples, im.readMeaning, im.readStorage, im.readBlocks, im.readMetadata,
	}
	for _, step := range steps {
		if err := step(d); err != nil {
			return nil, err
		}
	}
	return im, nil
}

func (im *Image) readSize(d *directory) error {
	var err error
	if im.subfile, err = d.first(NewSubfileType, 0); err != nil {
		return err
	}
	for _, side := range []struct {
		tag Tag
		to  *int
	}{{ImageWidth, &im.Width}, {ImageLength, &im.Height}} {
		v, err := d.first(side.tag, 0)
		if err != nil {
			return err
		}
		if v == 0 || v > math.MaxInt32 {
			return d.damaged(side.tag, d.offset, "%d pixels; 1 to %d are possible", v, math.MaxInt32)
		}
		*side.to = int(v)
	}
	return nil
}

// equal reads a tag that has one value per band, which must be the same for all.
func (d *directory) equal(tag Tag, absent uint64) (uint64, error) {
	v, err := d.uints(tag)
	if err != nil {
		return 0, err
	}
	if len(v) == 0 {
		return absent, nil
	}
	for _, x := range v {
		if x != v[0] {
			return 0, d.unsupported(tag, "bands with different values (%d and %d)", v[0], x)
		}
	}
	return v[0], nil
}

func (im *Image) readSamples(d *directory) error {
	n, err := d.first(SamplesPerPixel, 1)
	if err != nil {
		return err
	}
	if n == 0 || n > 65535 {
		return d.damaged(SamplesPerPixel, d.offset, "%d samples per pixel", n)
	}
	bits, err := d.equal(BitsPerSample, 1)
	if err != nil {
		return err
	}
	format, err := d.equal(SampleFormat, formatUint)
	if err != nil {
		return err
	}
	im.Bands, im.bits, im.format = int(n), int(min(bits, 1<<16)), int(min(format, 1<<16))
	im.Type = sampleType(im.bits, im.format)
	if im.Type == 0 {
		return d.unsupported(BitsPerSample, "samples of %d bits with SampleFormat %d", bits, format)
	}
	if im.bits != 8*im.Type.Size() {
		im.Bits = im.bits
	}
	return nil
}

// sampleType returns the type in memory of samples in a file, or 0.
func sampleType(bits, format int) Type {
	if format == formatVoid {
		format = formatUint
	}
	switch {
	case format == formatUint && bits >= 1 && bits <= 8:
		return Uint8
	case format == formatUint && bits > 8 && bits <= 16:
		return Uint16
	case format == formatUint && bits > 16 && bits <= 32:
		return Uint32
	case format == formatFloat && bits == 16:
		return Float32
	}
	for t := Uint8; t.valid(); t++ {
		if typeTable[t].format == format && 8*typeTable[t].size == bits {
			return t
		}
	}
	return 0
}

func (im *Image) readMeaning(d *directory) error {
	v, err := d.first(PhotometricTag, uint64(MinIsBlack))
	if err != nil {
		return err
	}
	im.stored = Photometric(v)
	im.Photometric = im.stored
	extra, err := d.uints(ExtraSamples)
	if err != nil {
		return err
	}
	if len(extra) > im.Bands {
		return d.damaged(ExtraSamples, d.entries[ExtraSamples].at, "%d extra bands of %d", len(extra), im.Bands)
	}
	for _, e := range extra {
		im.Extra = append(im.Extra, ExtraSample(e))
	}
	if im.Photometric != Palette {
		return nil
	}
	colors, err := d.uints(ColorMap)
	if err != nil {
		return err
	}
	n := len(colors) / 3
	for i := range n {
		im.Palette = append(im.Palette, Color{uint16(colors[i]), uint16(colors[n+i]), uint16(colors[2*n+i])})
	}
	return nil
}

func (im *Image) readStorage(d *directory) error {
	var v [4]uint64
	for i, tag := range []Tag{CompressionTag, PredictorTag, PlanarConfiguration, FillOrder} {
		var err error
		if v[i], err = d.first(tag, 1); err != nil {
			return err
		}
	}
	im.Compression = Compression(v[0])
	if im.Compression == deflateOld {
		im.Compression = Deflate
	}
	if codecs[im.Compression].decode == nil || v[0] > 65535 {
		return d.unsupported(CompressionTag, "compression %d", v[0])
	}
	im.Predictor = NoPredictor
	if im.Compression.predicts() {
		im.Predictor = Predictor(v[1])
	}
	if problem := predictorProblem(im.Predictor, im.bits, im.format); problem != "" {
		return d.unsupported(PredictorTag, "%s", problem)
	}
	switch {
	case v[2] == 1 || im.Bands == 1:
		im.Layout = ByPixel
	case v[2] == 2:
		im.Layout = ByBand
	default:
		return d.damaged(PlanarConfiguration, d.entries[PlanarConfiguration].at, "value %d", v[2])
	}
	im.reversed = v[3] == 2 && im.Compression != JPEG
	if im.Compression == JPEG {
		return im.readJPEG(d)
	}
	if im.stored == YCbCr {
		return d.unsupported(PhotometricTag, "YCbCr pixels that are not compressed as JPEG")
	}
	return nil
}

func (im *Image) readJPEG(d *directory) error {
	if im.bits != 8 || im.Type != Uint8 {
		return d.unsupported(BitsPerSample, "JPEG with samples of %d bits; 8 bits of type uint8 are supported", im.bits)
	}
	var err error
	im.tables, _, err = d.raw(JPEGTables)
	if err != nil {
		return err
	}
	if im.stored == YCbCr {
		if im.Bands != 3 || im.Layout != ByPixel {
			return d.unsupported(PhotometricTag, "YCbCr with %d bands or one plane per band", im.Bands)
		}
		im.Photometric = RGB
	}
	return nil
}

func (im *Image) readBlocks(d *directory) error {
	im.Strips = !d.has(TileWidth)
	var err error
	if im.Strips {
		err = im.readStripSize(d)
	} else {
		err = im.readTileSize(d)
	}
	if err != nil {
		return err
	}
	im.across = (im.Width-1)/im.BlockWidth + 1
	im.down = (im.Height-1)/im.BlockHeight + 1
	im.planes = 1
	if im.Layout == ByBand {
		im.planes = im.Bands
	}
	n := int64(im.across) * int64(im.down)
	if n > math.MaxInt32/int64(im.planes) {
		return d.limit(im.offsetsTag(), "%d blocks in %d planes; 2^31 blocks are possible", n, im.planes)
	}
	n *= int64(im.planes)
	if have := d.entries[im.offsetsTag()].count; have < n {
		return d.damaged(im.offsetsTag(), d.entries[im.offsetsTag()].at, "offsets of %d blocks, but the image has %d", have, n)
	}
	return nil
}

func (im *Image) readStripSize(d *directory) error {
	rows, err := d.first(RowsPerStrip, math.MaxUint32)
	if err != nil {
		return err
	}
	if rows == 0 {
		return d.damaged(RowsPerStrip, d.entries[RowsPerStrip].at, "strips without rows")
	}
	im.BlockWidth = im.Width
	im.BlockHeight = int(min(rows, uint64(im.Height)))
	return im.checkBlockSize(d, RowsPerStrip)
}

func (im *Image) readTileSize(d *directory) error {
	for _, side := range []struct {
		tag Tag
		to  *int
	}{{TileWidth, &im.BlockWidth}, {TileLength, &im.BlockHeight}} {
		v, err := d.first(side.tag, 0)
		if err != nil {
			return err
		}
		if v == 0 || v > math.MaxInt32 {
			return d.damaged(side.tag, d.offset, "tiles of %d pixels", v)
		}
		*side.to = int(v)
	}
	return im.checkBlockSize(d, TileWidth)
}

// checkBlockSize compares the size of a decoded block with the limit. A single row of an
// uncompressed strip must keep to it.
func (im *Image) checkBlockSize(d *directory, tag Tag) error {
	samples := int64(im.BlockWidth) * int64(im.blockBands())
	rows := int64(im.BlockHeight)
	if im.direct() {
		rows = 1
	}
	allowed := d.src.limits.BlockBytes / int64(im.Type.Size())
	if samples > allowed/rows {
		return d.limit(tag, "a block of %d x %d pixels with %d bands of %s; Limits.BlockBytes allows %d bytes",
			im.BlockWidth, im.BlockHeight, im.blockBands(), im.Type, d.src.limits.BlockBytes)
	}
	return nil
}

// blockBands returns the number of bands in one block.
func (im *Image) blockBands() int {
	if im.Layout == ByBand {
		return 1
	}
	return im.Bands
}

// direct reports whether rows of blocks can be read without the rest of the block.
func (im *Image) direct() bool { return im.Compression == None }

func (im *Image) offsetsTag() Tag {
	if im.Strips {
		return StripOffsets
	}
	return TileOffsets
}

func (im *Image) countsTag() Tag {
	if im.Strips {
		return StripByteCounts
	}
	return TileByteCounts
}

// Mask returns the image whose pixels are 0 where this image has no data and 255
// elsewhere, or nil.
func (im *Image) Mask() *Image { return im.mask }

// Overviews returns the smaller versions of the image, largest first.
func (im *Image) Overviews() []*Image { return im.overviews }

// Directory returns the index of the image's directory in the file.
func (im *Image) Directory() int { return im.dir.directory }

// Blocks returns the number of blocks in a row, of rows of blocks, and of planes: one
// plane, or one per band if the layout is ByBand.
func (im *Image) Blocks() (across, down, planes int) { return im.across, im.down, im.planes }
