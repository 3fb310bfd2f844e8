package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"quern.dev/geo/tiff/internal/inflate"
)

// block is what codecs know about the block that they work on.
type block struct {
	width, rows int
	height      int // of full blocks: rows is less in the last strip
	bands       int
	photometric Photometric // as it is in the file
	tables      []byte      // JPEGTables
	level       int
}

// codec is a compression. decode fills dst, and ignores data beyond it. encode appends
// to dst.
type codec struct {
	decode func(dst, src []byte, b block) error
	encode func(dst, src []byte, b block) ([]byte, error)
}

var codecs = map[Compression]codec{
	None:     {decodeNone, encodeNone},
	LZW:      {decodeLZW, encodeLZW},
	JPEG:     {decodeJPEG, encodeJPEG},
	Deflate:  {decodeDeflate, encodeDeflate},
	PackBits: {decodePackBits, encodePackBits},
	ZSTD:     {decodeZSTD, encodeZSTD},
}

// errShort is the error of compressed data that ends early.
func errShort(have, want int) error {
	return fmt.Errorf("the data ends after %d of %d bytes", have, want)
}

func decodeNone(dst, src []byte, _ block) error {
	if n := copy(dst, src); n < len(dst) {
		return errShort(n, len(dst))
	}
	return nil
}

func encodeNone(dst, src []byte, _ block) ([]byte, error) { return append(dst, src...), nil }

func decodeDeflate(dst, src []byte, _ block) error {
	n, err := inflate.Zlib(dst, src)
	if err == nil && n < len(dst) {
		return errShort(n, len(dst))
	}
	return err
}

// fill reads exactly dst.
func fill(r io.Reader, dst []byte) error {
	n, err := io.ReadFull(r, dst)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errShort(n, len(dst))
	}
	return err
}

// appender is a writer that appends.
type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// deflaters has, per level, what compresses; that of level 0 has no matches, only Huffman codes.
var deflaters [10]sync.Pool

// deflater is a compressor and what it writes to.
type deflater struct {
	w   *flate.Writer
	out appender
}

func newDeflater(level int) (*deflater, error) {
	if d, _ := deflaters[level].Get().(*deflater); d != nil {
		return d, nil
	}
	d := new(deflater)
	effort := level
	if level == 0 {
		effort = flate.HuffmanOnly
	}
	var err error
	d.w, err = flate.NewWriter(&d.out, effort)
	return d, err
}

// append compresses a segment and appends it, up to the end of a byte.
func (d *deflater) append(dst, segment []byte) ([]byte, error) {
	d.out = dst
	if _, err := d.w.Write(segment); err != nil {
		return nil, err
	}
	err := d.w.Flush()
	return d.out, err
}

// segment is how much is compressed at a time: what the compressor takes for one block.
const segment = 65535

// encodeDeflate makes a zlib stream. Matches take most of the time, and make noisy images larger than Huffman codes alone: where
// they win little, they are left out.
func encodeDeflate(dst, src []byte, b block) ([]byte, error) {
	level := b.level
	if level == 0 {
		level = 6
	}
	d, err := newDeflater(level)
	if err != nil {
		return nil, err
	}
	defer deflaters[level].Put(d)
	huffman, err := newDeflater(0)
	if err != nil {
		return nil, err
	}
	defer deflaters[0].Put(huffman)
	dst = append(dst, 0x78, 0x9c)
	if level > 6 {
		dst, err = smaller(dst, src, d, huffman)
	} else {
		dst, err = mixed(dst, src, d, huffman)
	}
	if err != nil {
		return nil, err
	}
	dst = append(dst, 1, 0, 0, 0xff, 0xff) // an empty last block
	d.out, huffman.out = nil, nil
	return binary.BigEndian.AppendUint32(dst, adler32.Checksum(src)), nil
}

// smaller appends the smaller form of src.
func smaller(dst, src []byte, matches, huffman *deflater) ([]byte, error) {
	matches.w.Reset(&matches.out)
	huffman.w.Reset(&huffman.out)
	start := len(dst)
	dst, err := matches.append(dst, src)
	if err != nil {
		return nil, err
	}
	end := len(dst)
	if dst, err = huffman.append(dst, src); err != nil {
		return nil, err
	}
	if len(dst)-end < end-start {
		return append(dst[:start], dst[end:]...), nil
	}
	return dst[:end], nil
}

// mixed appends segments with and without matches. Both are tried from time to time, and where the size changes.
func mixed(dst, src []byte, matches, huffman *deflater) ([]byte, error) {
	const trial = 16        // segments from one to the next
	usual, plain := 0, true // the size of the last trial's winner, and whether that has Huffman codes alone
	matches.w.Reset(&matches.out)
	huffman.w.Reset(&huffman.out)
	for i := 0; len(src) > 0; i++ {
		part := src[:min(segment, len(src))]
		src = src[len(part):]
		start := len(dst)
		var err error
		if plain && i%trial != 0 {
			if dst, err = huffman.append(dst, part); err != nil {
				return nil, err
			}
			if near(len(dst)-start, usual) || len(part) < segment {
				continue
			}
			dst = dst[:start]
		}
		if plain {
			matches.w.Reset(&matches.out) // it has not seen what is before
		}
		if dst, err = matches.append(dst, part); err != nil {
			return nil, err
		}
		end := len(dst)
		if !plain && i%trial != 0 && near(end-start, usual) {
			continue
		}
		if dst, err = huffman.append(dst, part); err != nil {
			return nil, err
		}
		with, without := end-start, len(dst)-end
		usual, plain = with, without-without/32 < with
		if plain {
			usual, dst = without, append(dst[:start], dst[end:]...)
		} else {
			dst = dst[:end]
		}
	}
	return dst, nil
}

// near reports whether a size differs from the usual one by less than an eighth.
func near(size, usual int) bool { return size > usual-usual/8 && size < usual+usual/8 }

var unzstd sync.Pool

// maxWindow is the largest window of ZSTD data: that of its level 19 with long distances
// is 128 MiB.
const maxWindow = 128 << 20

func decodeZSTD(dst, src []byte, _ block) error {
	d, _ := unzstd.Get().(*zstd.Decoder)
	if d == nil {
		var err error
		if d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
			zstd.WithDecodeAllCapLimit(true)); err != nil {
			return err
		}
	}
	defer unzstd.Put(d)
	out, err := d.DecodeAll(src, dst[:0:len(dst)])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) { // more data than the block needs
		if err := d.Reset(bytes.NewReader(src)); err != nil {
			return err
		}
		err := fill(d, dst)
		return errors.Join(err, d.Reset(nil)) // a decoder with a stream cannot be used again
	}
	if err == nil && len(out) < len(dst) {
		return errShort(len(out), len(dst))
	}
	return err
}

var zstds [23]sync.Pool

func encodeZSTD(dst, src []byte, b block) ([]byte, error) {
	level := b.level
	if level == 0 {
		level = 9
	}
	e, _ := zstds[level].Get().(*zstd.Encoder)
	if e == nil {
		var err error
		e, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
		if err != nil {
			return nil, err
		}
	}
	defer zstds[level].Put(e)
	return e.EncodeAll(src, dst), nil
}

func decodePackBits(dst, src []byte, _ block) error {
	n := 0
	for n < len(dst) {
		if len(src) < 2 {
			return errShort(n, len(dst))
		}
		count := int(int8(src[0]))
		src = src[1:]
		switch {
		case count >= 0:
			count = min(count+1, len(dst)-n)
			if len(src) < count {
				return errShort(n+len(src), len(dst))
			}
			copy(dst[n:], src[:count])
			src, n = src[count:], n+count
		case count != -128:
			count = min(1-count, len(dst)-n)
			for i := range count {
				dst[n+i] = src[0]
			}
			src, n = src[1:], n+count
		}
	}
	return nil
}

// encodePackBits packs each row by itself, as the specification asks.
func encodePackBits(dst, src []byte, b block) ([]byte, error) {
	rowBytes := len(src) / max(b.rows, 1)
	for ; len(src) > 0; src = src[rowBytes:] {
		dst = packBytes(dst, src[:rowBytes])
	}
	return dst, nil
}

func packBytes(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		run := 1
		for i+run < len(src) && run < 128 && src[i+run] == src[i] {
			run++
		}
		if run >= 3 {
			dst = append(dst, byte(1-run), src[i])
			i += run
			continue
		}
		end := i + run
		for end < len(src) && end-i < 128 && (end+2 >= len(src) || src[end] != src[end+1] || src[end] != src[end+2]) {
			end++
		}
		dst = append(dst, byte(end-i-1))
		dst = append(dst, src[i:end]...)
		i = end
	}
	return dst
}
