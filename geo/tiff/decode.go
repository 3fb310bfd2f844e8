package tiff

import (
	"context"
	"encoding/binary"
)

// scratch is the memory of one goroutine that decodes blocks.
type scratch struct {
	compressed, stored, pixels, tmp []byte
}

// filter returns what undoes the stored form of the image.
func (im *Image) filter() filter {
	return newFilter(im.Type, im.bits, im.Predictor, im.dir.src.order, im.blockBands())
}

// widened reports whether samples in memory have other bits than in the file.
func (im *Image) widened() bool { return im.bits != 8*im.Type.Size() }

// codecBlock describes block i to the codec.
func (im *Image) codecBlock(i int) block {
	width, rows := im.blockSize(i)
	return block{width: width, rows: rows, height: im.BlockHeight, bands: im.blockBands(), photometric: im.stored, tables: im.tables}
}

// inflate decompresses the data of block i into dst, which has the block's stored size.
func (im *Image) inflate(i int, dst, data []byte) error {
	if im.reversed {
		reverseBits(data)
	}
	if err := codecs[im.Compression].decode(dst, data, im.codecBlock(i)); err != nil {
		offset, _, _ := im.span("read", i)
		return im.at("read", i).damaged(im.offsetsTag(), offset, "the %s data of the block is damaged", im.Compression).because(err)
	}
	return nil
}

// decode decodes block i to samples in memory: rows of BlockWidth pixels. The result is
// in s, until its next use. data is the compressed data, or nil if the block is absent.
func (im *Image) decode(i int, data []byte, s *scratch) ([]byte, error) {
	width, rows := im.blockSize(i)
	samples := width * im.blockBands()
	if data == nil {
		s.pixels = grow(s.pixels, samples*rows*im.Type.Size())
		im.fillAbsent(s.pixels)
		return s.pixels, nil
	}
	rowBytes := im.rowBytes()
	s.stored = grow(s.stored, rowBytes*rows)
	if err := im.inflate(i, s.stored, data); err != nil {
		return nil, err
	}
	return im.finish(s, rows), nil
}

// finish turns the stored rows of a block into samples in memory.
func (im *Image) finish(s *scratch, rows int) []byte {
	rowBytes, samples := im.rowBytes(), im.BlockWidth*im.blockBands()
	im.filter().undo(s.stored, rowBytes, &s.tmp)
	if !im.widened() {
		return s.stored
	}
	outBytes := samples * im.Type.Size()
	s.pixels = grow(s.pixels, outBytes*rows)
	for y := range rows {
		unpackRow(s.pixels[y*outBytes:(y+1)*outBytes], s.stored[y*rowBytes:], samples, im.bits, im.Type, im.dir.src.order)
	}
	if im.isMask() {
		for j, v := range s.pixels {
			if v != 0 {
				s.pixels[j] = 255
			}
		}
	}
	return s.pixels
}

// isMask reports whether the image is a mask of one bit per pixel, which is read as 0 and 255.
func (im *Image) isMask() bool {
	return im.subfile&subfileMask != 0 && im.bits == 1 && im.Bands == 1
}

// fillAbsent writes the pixels of an absent block.
func (im *Image) fillAbsent(b []byte) { im.Header.fillNoData(b) }

// fillNoData sets samples to NoData, or to 0 without one.
func (h *Header) fillNoData(b []byte) {
	value, ok := h.noDataBits()
	if !ok || value == 0 {
		clear(b)
		return
	}
	var sample [16]byte
	switch typeTable[h.Type].component {
	case 1:
		sample[0] = byte(value)
	case 2:
		binary.NativeEndian.PutUint16(sample[:], uint16(value))
	case 4:
		binary.NativeEndian.PutUint32(sample[:], uint32(value))
	case 8:
		binary.NativeEndian.PutUint64(sample[:], value)
	}
	n := copy(b, sample[:h.Type.Size()])
	for n < len(b) {
		n += copy(b[n:], b[:n])
	}
}

// Stored describes the form of a block between decompression and pixels: rows of RowBytes bytes,
// whose samples of Bits bits are in the file's byte order and have passed the predictor. Package
// quern.dev/geo/tiff/device turns it into pixels on a device.
type Stored struct {
	Predictor Predictor
	BigEndian bool
	Bits      int // per sample
	Bands     int // per pixel of the block
	Component int // bytes that a different byte order reverses
	RowBytes  int
}

// Stored returns the form of the image's blocks before their pixels.
func (im *Image) Stored() Stored {
	f := im.filter()
	return Stored{im.Predictor, im.dir.src.order == binary.BigEndian, im.bits, im.blockBands(), f.component, im.rowBytes()}
}

// StoredRows returns the number of rows that are stored of a block.
func (im *Image) StoredRows(index int) int {
	_, rows := im.blockSize(index)
	return rows
}

// ReadStored reads and decompresses a block, and returns it as it is before the predictor and
// the byte order are undone: StoredRows(index)*Stored().RowBytes bytes of dst. It is false, and dst
// unchanged, if the block is absent.
func (im *Image) ReadStored(ctx context.Context, dst []byte, index int) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if _, _, err := im.BlockRange(index); err != nil {
		return false, err
	}
	n := im.StoredRows(index) * im.rowBytes()
	if len(dst) < n {
		return false, im.at("read", index).argument("the destination has %d bytes; the block needs %d", len(dst), n)
	}
	var buf []byte
	data, err := im.fetch(index, &buf)
	if err != nil || data == nil {
		return false, err
	}
	return true, im.inflate(index, dst[:n], data)
}

// BlockBytes returns the bytes of a full block in memory.
func (im *Image) BlockBytes() int {
	return im.BlockWidth * im.BlockHeight * im.blockBands() * im.Type.Size()
}

// ReadBlock reads a block: rows of BlockWidth pixels, with all bands of a pixel side by side if
// the layout is ByPixel, or one band. dst needs BlockBytes bytes; what the last strip does not store
// is set to 0. Samples are in the machine's byte order. A block without data has the value NoData.
func (im *Image) ReadBlock(ctx context.Context, dst []byte, index int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, _, err := im.BlockRange(index); err != nil {
		return err
	}
	if len(dst) < im.BlockBytes() {
		return im.at("read", index).argument("the destination has %d bytes; a block needs %d", len(dst), im.BlockBytes())
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	data, err := im.fetch(index, &s.compressed)
	if err != nil {
		return err
	}
	pixels, err := im.decode(index, data, s)
	if err != nil {
		return err
	}
	clear(dst[copy(dst, pixels):im.BlockBytes()])
	return nil
}
