package pmtiles

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// Kind is the type of all tiles.
type Kind byte

// Kinds, with the numbers of the specification.
const (
	PNG  Kind = 2
	JPEG Kind = 3
)

// Header says what an archive has.
type Header struct {
	Kind             Kind
	MinZoom, MaxZoom int
	Bounds           [4]float64 // degrees: west, south, east, north
	Metadata         []byte     // JSON
}

const (
	headerBytes = 127
	rootBytes   = 16384 - headerBytes // the root directory is within the first 16 KiB
	gzipped     = 2                   // compression of directories and metadata
	plain       = 1                   // compression of tiles
)

// ID returns the number of a tile: those of smaller levels first, then along the Hilbert curve of its level.
func ID(z, x, y int) uint64 {
	id := (uint64(1)<<(2*z) - 1) / 3
	for n := 1 << z / 2; n > 0; n /= 2 {
		rx, ry := x/n&1, y/n&1
		id += uint64(n) * uint64(n) * uint64(3*rx^ry)
		// The curve of a quarter is turned.
		if ry == 0 {
			if rx == 1 {
				x, y = n-1-x, n-1-y
			}
			x, y = y, x
		}
		x, y = x&(n-1), y&(n-1)
	}
	return id
}

// entry is a run of tiles with the same contents, or a leaf directory if run is 0.
type entry struct {
	id     uint64
	run    uint32
	size   uint32
	offset uint64
}

// Writer writes an archive. It is not safe for concurrent use.
type Writer struct {
	header    Header
	name      string
	f         *os.File
	w         *bufio.Writer
	entries   []entry
	size      uint64 // of the tiles that were written
	addressed uint64
	contents  uint64
	known     map[[32]byte]place // by SHA-256
}

type place struct {
	offset uint64
	size   uint32
}

// Create begins an archive, which appears under its name with Close.
func Create(name string, h Header) (*Writer, error) {
	f, err := os.Create(name + ".partial")
	if err != nil {
		return nil, err
	}
	w := &Writer{header: h, name: name, f: f, w: bufio.NewWriterSize(f, 1<<20), known: map[[32]byte]place{}}
	if _, err := w.w.Write(make([]byte, headerBytes+rootBytes)); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// Add writes a tile. Tiles come in the order of their numbers.
func (w *Writer) Add(id uint64, tile []byte) error {
	last := len(w.entries) - 1
	if last >= 0 && id < w.entries[last].id+uint64(w.entries[last].run) {
		return fmt.Errorf("pmtiles: tile %d comes too late", id)
	}
	w.addressed++
	hash := sha256.Sum256(tile)
	p, ok := w.known[hash]
	if !ok {
		p = place{w.size, uint32(len(tile))}
		if _, err := w.w.Write(tile); err != nil {
			return err
		}
		w.size += uint64(len(tile))
		w.contents++
		w.known[hash] = p
	}
	if last >= 0 {
		if e := &w.entries[last]; e.id+uint64(e.run) == id && e.offset == p.offset && e.size == p.size {
			e.run++
			return nil
		}
	}
	w.entries = append(w.entries, entry{id, 1, p.size, p.offset})
	return nil
}

// Abort removes what was written. It does nothing after Close.
func (w *Writer) Abort() error {
	if w.f == nil {
		return nil
	}
	f := w.f
	w.f = nil
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Close completes the archive.
func (w *Writer) Close() error {
	if err := w.finish(); err != nil {
		return errors.Join(err, w.Abort())
	}
	f := w.f
	w.f = nil
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), w.name)
}

func (w *Writer) finish() error {
	root, leaves, err := w.directories()
	if err != nil {
		return err
	}
	metadata := compress(w.header.Metadata)
	for _, part := range [][]byte{metadata, leaves} {
		if _, err := w.w.Write(part); err != nil {
			return err
		}
	}
	if err := w.w.Flush(); err != nil {
		return err
	}
	start := make([]byte, headerBytes, headerBytes+len(root))
	w.fill(start, uint64(len(root)), uint64(len(metadata)), uint64(len(leaves)))
	_, err = w.f.WriteAt(append(start, root...), 0)
	return err
}

// fill writes the header.
func (w *Writer) fill(b []byte, root, metadata, leaves uint64) {
	h := &w.header
	copy(b, "PMTiles")
	b[7] = 3
	const data = headerBytes + rootBytes
	for i, v := range []uint64{headerBytes, root, data + w.size, metadata, data + w.size + metadata, leaves, data, w.size, w.addressed, uint64(len(w.entries)), w.contents} {
		binary.LittleEndian.PutUint64(b[8+8*i:], v)
	}
	b[96], b[97], b[98], b[99], b[100], b[101] = 1, gzipped, plain, byte(h.Kind), byte(h.MinZoom), byte(h.MaxZoom)
	for i, v := range h.Bounds {
		binary.LittleEndian.PutUint32(b[102+4*i:], uint32(int32(v*1e7)))
	}
	b[118] = byte((h.MinZoom + h.MaxZoom) / 2)
	binary.LittleEndian.PutUint32(b[119:], uint32(int32((h.Bounds[0]+h.Bounds[2])/2*1e7)))
	binary.LittleEndian.PutUint32(b[123:], uint32(int32((h.Bounds[1]+h.Bounds[3])/2*1e7)))
}

// directories returns the root directory and the leaves that it refers to, as few as make it fit.
func (w *Writer) directories() (root, leaves []byte, err error) {
	if root = encode(w.entries); len(root) <= rootBytes {
		return root, nil, nil
	}
	for size := 4096; size < 1<<30; size *= 2 {
		var top []entry
		leaves = nil
		for i := 0; i < len(w.entries); i += size {
			part := encode(w.entries[i:min(i+size, len(w.entries))])
			top = append(top, entry{w.entries[i].id, 0, uint32(len(part)), uint64(len(leaves))})
			leaves = append(leaves, part...)
		}
		if root = encode(top); len(root) <= rootBytes {
			return root, leaves, nil
		}
	}
	return nil, nil, errors.New("pmtiles: too many tiles")
}

// encode writes a directory.
func encode(entries []entry) []byte {
	b := binary.AppendUvarint(nil, uint64(len(entries)))
	last := uint64(0)
	for _, e := range entries {
		b = binary.AppendUvarint(b, e.id-last)
		last = e.id
	}
	for _, e := range entries {
		b = binary.AppendUvarint(b, uint64(e.run))
	}
	for _, e := range entries {
		b = binary.AppendUvarint(b, uint64(e.size))
	}
	for i, e := range entries {
		if i > 0 && e.offset == entries[i-1].offset+uint64(entries[i-1].size) {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, e.offset+1)
	}
	return compress(b)
}

func compress(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	// A buffer takes everything.
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}
