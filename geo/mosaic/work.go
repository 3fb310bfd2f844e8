package mosaic

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// workFile keeps compressed blocks of finished tiles. It begins with the digest of what is computed. Records follow: a
// kind, an index, a length, a checksum and the data. A record that was cut off ends the file.
type workFile struct {
	name string
	file *os.File
	mu   sync.Mutex
	end  int64
	enc  *zstd.Encoder
	dec  *zstd.Decoder

	blocks map[uint32]place // blocks with data
	tiles  map[uint32]bool  // that are complete
}

type place struct {
	offset int64
	length uint32
}

const (
	workMagic   = "quernmosaic1"
	recordBytes = 13
	kindBlock   = 1
	kindTile    = 2
)

// openWork opens and locks the file, and takes over the tiles of one with the same digest.
func openWork(name string, digest [32]byte) (*workFile, error) {
	f, err := openLocked(name)
	if err != nil {
		return nil, err
	}
	w := &workFile{name: name, file: f, blocks: map[uint32]place{}, tiles: map[uint32]bool{}}
	w.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err == nil {
		w.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	}
	if err == nil {
		err = w.recover(append([]byte(workMagic), digest[:]...))
	}
	if err != nil {
		return nil, errors.Join(failf(ErrWork, "%s: %w", name, err), f.Close())
	}
	return w, nil
}

// errLocked is the error of lock for a file that is locked already.
var errLocked = errors.New("locked")

// openLocked opens a file that no other call has open. The lock ends when the file is closed, or with the process.
func openLocked(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, failf(ErrWork, "%w", err)
		}
		switch err := lock(f); {
		case errors.Is(err, errLocked):
			return nil, errors.Join(failf(ErrBusy, "%s: another call or process makes the mosaic; wait until it ends, or name another output and work file", name), f.Close())
		case err != nil:
			return nil, errors.Join(failf(ErrWork, "%s: the file cannot be locked; put it on a file system with locks: %w", name, err), f.Close())
		}
		// The other call may have ended, and removed the file, after this one opened it.
		opened, err := f.Stat()
		if err != nil {
			return nil, errors.Join(failf(ErrWork, "%w", err), f.Close())
		}
		if now, err := os.Stat(name); err == nil && os.SameFile(opened, now) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, failf(ErrWork, "%w", err)
		}
	}
}

// recover reads the records that are complete, and cuts off the rest.
func (w *workFile) recover(head []byte) error {
	r := bufio.NewReaderSize(w.file, 1<<20)
	have := make([]byte, len(head))
	n, err := io.ReadFull(r, have)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if magic := min(n, len(workMagic)); string(have[:magic]) != workMagic[:magic] {
		return errors.New("the file is not the work file of a mosaic; name another one")
	}
	if string(have) != string(head) { // something else was computed
		if err := w.file.Truncate(0); err != nil {
			return err
		}
		_, err := w.file.WriteAt(head, 0)
		w.end = int64(len(head))
		return err
	}
	w.end = int64(len(head))
	at := w.end
	waiting := map[uint32]place{}
	var data []byte
	for {
		var record [recordBytes]byte
		if _, err := io.ReadFull(r, record[:]); err != nil {
			break
		}
		index, length := binary.LittleEndian.Uint32(record[1:]), binary.LittleEndian.Uint32(record[5:])
		if length > 1<<31 {
			break
		}
		if uint32(cap(data)) < length {
			data = make([]byte, length)
		}
		data = data[:length]
		if _, err := io.ReadFull(r, data); err != nil || sum(record[:9], data) != binary.LittleEndian.Uint32(record[9:]) {
			break
		}
		at += recordBytes
		switch record[0] {
		case kindBlock:
			waiting[index] = place{at, length}
		case kindTile:
			w.tiles[index] = true
			for k, p := range waiting { // tiles are written as a whole
				w.blocks[k] = p
			}
			clear(waiting)
			w.end = at + int64(length)
		}
		at += int64(length)
	}
	return w.file.Truncate(w.end)
}

func sum(head, data []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, data)
}

// block is pixels of a block of the output.
type block struct {
	index  uint32
	pixels []byte
}

// tile adds a complete tile.
func (w *workFile) tile(index uint32, blocks []block) error {
	compressed := make([][]byte, len(blocks))
	for i, b := range blocks {
		compressed[i] = w.enc.EncodeAll(b.pixels, nil)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []byte
	places := make([]place, len(blocks))
	record := func(kind byte, index uint32, data []byte) int64 {
		start := len(out)
		out = append(out, kind)
		out = binary.LittleEndian.AppendUint32(out, index)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
		out = binary.LittleEndian.AppendUint32(out, sum(out[start:], data))
		out = append(out, data...)
		return w.end + int64(start) + recordBytes
	}
	for i, b := range blocks {
		places[i] = place{record(kindBlock, b.index, compressed[i]), uint32(len(compressed[i]))}
	}
	record(kindTile, index, nil)
	if _, err := w.file.WriteAt(out, w.end); err != nil {
		return failf(ErrWork, "%s: tile %d cannot be written; the finished tiles are kept: %w", w.name, index, err)
	}
	w.end += int64(len(out))
	for i, b := range blocks {
		w.blocks[b.index] = places[i]
	}
	w.tiles[index] = true
	return nil
}

// done reports whether a tile is complete.
func (w *workFile) done(index uint32) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tiles[index]
}

// read returns the pixels of a block, or nil.
func (w *workFile) read(index uint32, size int) ([]byte, error) {
	p, ok := w.blocks[index]
	if !ok {
		return nil, nil
	}
	data := make([]byte, p.length)
	if _, err := w.file.ReadAt(data, p.offset); err != nil {
		return nil, failf(ErrWork, "%s: %w", w.name, err)
	}
	pixels, err := w.dec.DecodeAll(data, make([]byte, 0, size))
	if err != nil || len(pixels) != size {
		return nil, failf(ErrWork, "%s: block %d is damaged (%v)", w.name, index, err)
	}
	return pixels, nil
}

// close closes the file, and removes it if it is not needed any more.
func (w *workFile) close(remove bool) error {
	w.dec.Close()
	err := w.enc.Close()
	if remove && removeOpen { // while nobody else can have it
		return errors.Join(err, os.Remove(w.name), w.file.Close())
	}
	err = errors.Join(err, w.file.Close())
	if remove {
		err = errors.Join(err, os.Remove(w.name))
	}
	return err
}
