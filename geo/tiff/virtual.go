package tiff

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"sort"
	"time"
)

// Virtual describes an image that is stored elsewhere, or computed, for [NewVirtual].
type Virtual struct {
	// Name is that of the file, for messages. It may be empty.
	Name string
	// Modified is when the contents were changed last; it may be zero. See [Image.Modified].
	Modified time.Time
	// Version stands for what else the contents depend on, such as options and other files; it may be empty. See [Image.Version].
	Version string
	Header  Header
	// Layout ByBand makes blocks of one band, and ByPixel of all bands.
	Layout Layout
	// BlockWidth and BlockHeight are the sides of blocks: 512 by default. Large ones are read as a whole for
	// every region that touches them.
	BlockWidth, BlockHeight int
	// Mask says that the image has a mask, and each overview too.
	Mask bool
	// Overviews are the widths and heights of the overviews, largest first.
	Overviews [][2]int
	// Read fills dst with a block: rows of BlockWidth pixels in the machine's byte order, with the bands of a pixel side by
	// side. Only the first b.Height rows and b.Width pixels of each are asked for; what is beyond them is 0. A mask has one byte
	// per pixel: 0 without data and 255 with. Several goroutines call Read at the same time. After an
	// error, the contents of dst do not matter. Nothing is cached.
	Read func(ctx context.Context, b VirtualBlock, dst []byte) error
	// Parallel is how many blocks of a region are read at the same time: one per core by default.
	Parallel int
	// Close, if it is not nil, is called by the first File.Close. Reads may be under way.
	Close func() error
}

// VirtualBlock is a block of a [Virtual] image.
type VirtualBlock struct {
	Level               int  // 0 is the full image, and 1 the first overview
	Mask                bool // the block is one of the mask
	Band                int  // of the layout ByBand; 0 otherwise
	X, Y, Width, Height int  // pixels of the level
}

// NewVirtual returns a file with one image that v.Read supplies. Every function of this and other packages that
// reads images can read it. The header is the one given; overviews have the parts of it that describe samples.
func NewVirtual(v Virtual) (*File, error) {
	if v.BlockWidth == 0 && v.BlockHeight == 0 {
		v.BlockWidth, v.BlockHeight = defaultBlock, defaultBlock
	}
	if v.Header.Bands == 1 {
		v.Layout = ByPixel
	}
	if v.Parallel <= 0 {
		v.Parallel = runtime.GOMAXPROCS(0)
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	r := &virtualReader{Virtual: v, end: 16}
	f := &File{}
	f.src = source{r: r, name: v.Name, modified: v.Modified, version: v.Version, order: binary.LittleEndian, big: true, limits: Limits{}.withDefaults()}
	if nativeBigEndian {
		f.src.order = binary.BigEndian
	}
	r.add(f, v.Header, 0)
	for i, size := range v.Overviews {
		h := Header{Width: size[0], Height: size[1], Bands: v.Header.Bands, Type: v.Header.Type, Bits: v.Header.Bits, Photometric: v.Header.Photometric,
			Extra: v.Header.Extra, Palette: v.Header.Palette, NoData: v.Header.NoData}
		r.add(f, h, i+1)
	}
	f.src.size = r.end
	f.assignRoles()
	if v.Close != nil {
		f.closer = closer(v.Close)
	}
	return f, nil
}

type closer func() error

func (c closer) Close() error { return c() }

var nativeBigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

func (v *Virtual) check() error {
	err := v.Header.check()
	var e *Error
	if errors.As(err, &e) {
		e.Op = "open"
	}
	if err != nil {
		return err
	}
	if v.Read == nil || v.BlockWidth <= 0 || v.BlockHeight <= 0 || v.Layout > ByBand {
		return opening.argument("a virtual image needs Read, blocks of positive size (%d x %d) and a layout (%d)", v.BlockWidth, v.BlockHeight, v.Layout)
	}
	pixel := v.Header.pixelBytes()
	if v.Layout == ByBand {
		pixel = v.Header.Type.Size()
	}
	if int64(v.BlockWidth)*int64(pixel) > (1<<30)/int64(v.BlockHeight) {
		return opening.argument("blocks of %d x %d pixels with %d bytes; they are limited to 1 GiB", v.BlockWidth, v.BlockHeight, pixel)
	}
	planes := int64(1)
	if v.Layout == ByBand {
		planes = int64(v.Header.Bands)
	}
	for _, size := range append([][2]int{{v.Header.Width, v.Header.Height}}, v.Overviews...) {
		if size[0] <= 0 || size[1] <= 0 || size[0] > v.Header.Width || size[1] > v.Header.Height {
			return opening.argument("an overview of %d x %d pixels", size[0], size[1])
		}
		blocks := int64((size[0]-1)/v.BlockWidth+1) * int64((size[1]-1)/v.BlockHeight+1)
		if blocks > (1<<31-1)/planes {
			return opening.limit(0, "%d blocks in %d planes; 2^31 blocks are possible: choose larger ones", blocks, planes)
		}
	}
	return nil
}

// virtualReader makes a virtual image look like a file whose blocks follow one another.
type virtualReader struct {
	Virtual
	parts []virtualPart
	end   int64
}

// virtualPart is an image or a mask of the file.
type virtualPart struct {
	im    *Image
	level int
}

// add adds the image of a level, and its mask.
func (r *virtualReader) add(f *File, h Header, level int) {
	kind := uint64(0)
	if level > 0 {
		kind = subfileReduced
	}
	r.addImage(f, h, level, kind)
	if r.Mask {
		r.addImage(f, Header{Width: h.Width, Height: h.Height, Bands: 1, Type: Uint8, Photometric: TransparencyMask}, level, kind|subfileMask)
	}
}

func (r *virtualReader) addImage(f *File, h Header, level int, kind uint64) {
	im := &Image{Header: h, file: f, subfile: kind, stored: h.Photometric, bits: 8 * h.Type.Size(), format: typeTable[h.Type].format, planes: 1}
	im.dir = &directory{place: place{"open", len(f.images), -1, f.src.name}, src: &f.src, entries: map[Tag]entry{}}
	im.Storage = Storage{Compression: None, Predictor: NoPredictor, Layout: r.Layout, BlockWidth: r.BlockWidth, BlockHeight: r.BlockHeight}
	if h.Bands == 1 {
		im.Layout = ByPixel
	}
	if im.Layout == ByBand {
		im.planes = h.Bands
	}
	im.across, im.down = (h.Width-1)/r.BlockWidth+1, (h.Height-1)/r.BlockHeight+1
	im.virtual = r.end
	r.end += int64(im.across*im.down*im.planes) * int64(im.BlockBytes())
	r.parts = append(r.parts, virtualPart{im, level})
	f.images = append(f.images, im)
}

var _ RangeReader = (*virtualReader)(nil)

// ReadRanges implements [RangeReader]. Ranges are usually whole blocks.
func (r *virtualReader) ReadRanges(ctx context.Context, ranges []Range) error {
	return parallelBy(ctx, r.Parallel, len(ranges), func(i int) error { return r.read(ctx, ranges[i].Data, ranges[i].Offset) })
}

// ReadAt implements [io.ReaderAt].
func (r *virtualReader) ReadAt(p []byte, offset int64) (int, error) {
	if offset < r.parts[0].im.virtual || int64(len(p)) > r.end-offset {
		return 0, io.ErrUnexpectedEOF
	}
	if err := r.read(context.Background(), p, offset); err != nil {
		return 0, err
	}
	return len(p), nil
}

// read fills p with what is at an offset.
func (r *virtualReader) read(ctx context.Context, p []byte, offset int64) error {
	for len(p) > 0 {
		part := r.parts[sort.Search(len(r.parts), func(i int) bool { return r.parts[i].im.virtual > offset })-1]
		size := int64(part.im.BlockBytes())
		index, within := (offset-part.im.virtual)/size, (offset-part.im.virtual)%size
		n := min(int64(len(p)), size-within)
		block := p[:n]
		if n < size {
			block = alignedBytes(int(size))
		}
		if err := r.readBlock(ctx, part, int(index), block); err != nil {
			return err
		}
		if n < size {
			copy(p, block[within:])
		}
		p, offset = p[n:], offset+n
	}
	return nil
}

func (r *virtualReader) readBlock(ctx context.Context, part virtualPart, i int, dst []byte) error {
	im := part.im
	b := VirtualBlock{Level: part.level, Mask: im.subfile&subfileMask != 0}
	b.Band, i = i/(im.across*im.down), i%(im.across*im.down)
	b.X, b.Y = i%im.across*im.BlockWidth, i/im.across*im.BlockHeight
	b.Width, b.Height = min(im.BlockWidth, im.Width-b.X), min(im.BlockHeight, im.Height-b.Y)
	if b.Width < im.BlockWidth || b.Height < im.BlockHeight {
		clear(dst)
	}
	return r.Read(ctx, b, dst)
}
