package tiff

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// Range is a part of a file, to be read into Data.
type Range struct {
	Offset int64
	Data   []byte
}

// RangeReader is a reader for which one request for several ranges is faster than one
// for each, such as [quern.dev/geo/tiff/remote.File].
type RangeReader interface {
	io.ReaderAt
	// ReadRanges fills the data of all ranges, or returns an error.
	ReadRanges(ctx context.Context, ranges []Range) error
}

// blockRanges has the offset and the size of the data of each block. Absent blocks have
// size 0.
type blockRanges struct {
	offsets, sizes []uint64
}

// load reads the offsets and sizes of blocks, once.
func (im *Image) load() (*blockRanges, error) {
	im.once.Do(func() { im.ranges, im.loadErr = im.readRanges() })
	return &im.ranges, im.loadErr
}

func (im *Image) readRanges() (blockRanges, error) {
	if im.virtual > 0 {
		return blockRanges{}, nil // span computes them
	}
	d, n := im.dir, im.across*im.down*im.planes
	offsets, err := d.uints(im.offsetsTag())
	if err != nil {
		return blockRanges{}, err
	}
	sizes, err := d.uints(im.countsTag())
	if err != nil {
		return blockRanges{}, err
	}
	offsets = offsets[:n]
	if sizes == nil {
		return blockRanges{offsets, im.guessSizes(offsets)}, nil
	}
	if len(sizes) < n {
		return blockRanges{}, d.damaged(im.countsTag(), d.entries[im.countsTag()].at, "sizes of %d blocks, but the image has %d", len(sizes), n)
	}
	return blockRanges{offsets, sizes[:n]}, nil
}

// guessSizes replaces a missing tag with sizes: blocks end where the next one begins.
func (im *Image) guessSizes(offsets []uint64) []uint64 {
	ends := append(slices.Clone(offsets), uint64(im.dir.src.size))
	slices.Sort(ends)
	sizes := make([]uint64, len(offsets))
	for i, offset := range offsets {
		if offset == 0 {
			continue
		}
		next, _ := slices.BinarySearch(ends, offset+1)
		if next < len(ends) {
			sizes[i] = ends[next] - offset
		}
		if im.Compression == None {
			_, rows := im.blockSize(i)
			sizes[i] = min(sizes[i], uint64(im.rowBytes()*rows))
		}
	}
	return sizes
}

// span returns where the data of a block is. Its size is 0 if the block is absent.
func (im *Image) span(op string, i int) (offset, size int64, err error) {
	if im.virtual > 0 {
		size = int64(im.BlockBytes())
		return im.virtual + int64(i)*size, size, nil
	}
	r, err := im.load()
	if err != nil {
		return 0, 0, err
	}
	if r.offsets[i] == 0 || r.sizes[i] == 0 {
		return 0, 0, nil
	}
	p := im.at(op, i)
	at, n, end := r.offsets[i], r.sizes[i], uint64(im.dir.src.size)
	if at > end || n > end-at {
		return 0, 0, p.damaged(im.offsetsTag(), int64(min(at, math.MaxInt64)),
			"the block has %d bytes, but the file ends at byte %d; it is truncated or damaged", n, end)
	}
	// Compressed data is not much larger than the pixels.
	if _, rows := im.blockSize(i); n > uint64(im.rowBytes()*rows)*4+1<<20 {
		return 0, 0, p.damaged(im.countsTag(), int64(at), "%d bytes for a block of %d bytes", n, im.rowBytes()*rows)
	}
	return int64(at), int64(n), nil
}

// at is the place of a block.
func (im *Image) at(op string, i int) place { return place{op, im.dir.directory, i, im.dir.file} }

// rowBytes returns the bytes of one row of a block in the file.
func (im *Image) rowBytes() int { return (im.BlockWidth*im.blockBands()*im.bits + 7) / 8 }

// blockSize returns the pixels of block i that are stored. Strips end with the image;
// tiles are always full.
func (im *Image) blockSize(i int) (width, rows int) {
	rows = im.BlockHeight
	if im.Strips {
		y := i % (im.across * im.down) / im.across * im.BlockHeight
		rows = min(rows, im.Height-y)
	}
	return im.BlockWidth, rows
}

// BlockIndex returns the index of a block in the file's arrays of offsets.
func (im *Image) BlockIndex(column, row, plane int) (int, error) {
	if column < 0 || row < 0 || plane < 0 || column >= im.across || row >= im.down || plane >= im.planes {
		return 0, im.at("read", -1).argument("block (%d, %d) of plane %d; the image has %d x %d blocks and %d planes",
			column, row, plane, im.across, im.down, im.planes)
	}
	return (plane*im.down+row)*im.across + column, nil
}

// BlockRange returns where the compressed data of a block is in the file. The size is 0 if
// the block is absent, which means that its pixels have the value NoData, or 0.
func (im *Image) BlockRange(index int) (offset, size int64, err error) {
	if index < 0 || index >= im.across*im.down*im.planes {
		return 0, 0, im.at("read", -1).argument("block %d; the image has %d blocks", index, im.across*im.down*im.planes)
	}
	return im.span("read", index)
}

// fetch reads the compressed data of a block into *buf.
func (im *Image) fetch(i int, buf *[]byte) ([]byte, error) {
	offset, size, err := im.span("read", i)
	if err != nil || size == 0 {
		return nil, err
	}
	if int64(cap(*buf)) < size {
		*buf = make([]byte, size)
	}
	b := (*buf)[:size]
	if err := im.dir.src.readAt(b, offset); err != nil {
		return nil, im.at("read", i).unreadable(im.offsetsTag(), offset, err)
	}
	return b, nil
}

// Modified returns when the file was changed last, or the zero time if that is not known, as for files that [NewFile] reads.
func (im *Image) Modified() time.Time {
	if im.dir == nil {
		return time.Time{}
	}
	return im.dir.src.modified
}

// Version returns [Virtual.Version], which is empty for files. Images with other versions may have other contents.
func (im *Image) Version() string {
	if im.dir == nil {
		return ""
	}
	return im.dir.src.version
}

// String names the image in messages: the file, if its name is known, the directory, the size and the storage.
func (im *Image) String() string {
	bands := "bands"
	if im.Bands == 1 {
		bands = "band"
	}
	text := fmt.Sprintf("directory %d: %d x %d pixels, %d %s of %s, %s", im.dir.directory, im.Width, im.Height, im.Bands, bands, im.Type, im.Compression)
	if im.dir.file != "" {
		text = im.dir.file + ": " + text
	}
	return text
}
