package tiff

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// frameBytes is the size of the leader and of the trailer of a block in a COG.
const frameBytes = 4

// appendFramed appends a block between its size and a copy of its last four bytes, as GDAL's block
// leaders and trailers are.
func appendFramed(b, data []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = append(b, data...)
	var last [frameBytes]byte
	copy(last[:], data[max(0, len(data)-frameBytes):])
	return append(b, last[:]...)
}

// ghost returns GDAL's description of the structure of a COG, which follows the file header. The
// promises that it makes are kept by record and by copyBlocks.
func ghost(mask bool) []byte {
	text := "LAYOUT=IFDS_BEFORE_DATA\n" +
		"BLOCK_ORDER=ROW_MAJOR\n" +
		"BLOCK_LEADER=SIZE_AS_UINT4\n" +
		"BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n" +
		"KNOWN_INCOMPATIBLE_EDITION=NO\n " // an editor replaces NO and the space by YES
	if mask {
		text += "MASK_INTERLEAVED_WITH_IMAGERY=YES\n"
	}
	return fmt.Appendf(nil, "GDAL_STRUCTURAL_METADATA_SIZE=%06d bytes\n%s", len(text), text)
}

// assemble writes the directories, and what is before them.
func (w *Writer) assemble() error {
	var directories []*fields
	for _, l := range w.levels {
		directories = append(directories, w.imageFields(l))
		if w.opt.Mask {
			directories = append(directories, w.maskFields(l))
		}
	}
	at := (w.out.at + 7) &^ 7
	if w.spooled() {
		var err error
		if at, err = w.moveBlocks(directories); err != nil {
			return err
		}
		directories = directories[:0]
		for _, l := range w.levels { // the offsets are final now
			directories = append(directories, w.imageFields(l))
			if w.opt.Mask {
				directories = append(directories, w.maskFields(l))
			}
		}
	}
	end := max(w.out.at, at)
	first := at
	for i, f := range directories {
		size := f.size()
		next := at + size
		end = max(end, next)
		if i == len(directories)-1 {
			next = 0
		}
		if !f.big && end > math.MaxUint32 {
			return writing.limit(0, "%s needs %d bytes, and 4 GiB are possible without 64-bit offsets; set Options.BigTIFF to BigTIFFYes", w.name, end)
		}
		if err := w.writeAt(f.encode(at, next), at); err != nil {
			return err
		}
		at += size
	}
	return w.writeAt(w.fileHeader(first), 0)
}

// fileHeader returns the first bytes, in a COG with GDAL's description.
func (w *Writer) fileHeader(first int64) []byte {
	f := &fields{order: w.opt.order(), big: w.opt.big(&w.header)}
	b := []byte("II")
	if w.opt.BigEndian {
		b = []byte("MM")
	}
	if f.big {
		b = f.order.AppendUint16(b, 43)
		b = f.order.AppendUint16(b, 8)
		b = f.order.AppendUint16(b, 0)
	} else {
		b = f.order.AppendUint16(b, 42)
	}
	b = f.appendOffset(b, first)
	if w.opt.COG {
		b = append(b, ghost(w.opt.Mask)...)
	}
	return b
}

func (w *Writer) writeAt(b []byte, at int64) error {
	if _, err := w.out.file.WriteAt(b, at); err != nil {
		return w.out.failed(err)
	}
	return nil
}

// moveBlocks copies the blocks of all levels behind the directories, those of the smallest overview
// first, and returns where the directories go.
func (w *Writer) moveBlocks(directories []*fields) (int64, error) {
	at := (int64(len(w.fileHeader(0))) + 1) &^ 1 // validators expect no gap
	first := at
	for _, f := range directories {
		at += f.size()
	}
	w.out.at = 0
	if err := w.out.skip(at); err != nil {
		return 0, err
	}
	for i := len(w.levels) - 1; i >= 0; i-- {
		if err := w.levels[i].copyBlocks(w.out); err != nil {
			return 0, err
		}
	}
	return first, nil
}

// copyBlocks copies the blocks of a level to the final file, in the order of their indices.
func (l *level) copyBlocks(to *store) error {
	if l.ordered {
		if _, err := l.store.file.Seek(0, io.SeekStart); err != nil {
			return l.store.failed(err)
		}
		shift := to.at
		n, err := io.Copy(to.file, io.LimitReader(l.store.file, l.store.at))
		to.at += n
		if err != nil {
			return to.failed(err)
		}
		shiftAll(l.offsets, l.sizes, shift)
		shiftAll(l.maskOffsets, l.maskSizes, shift)
		return nil
	}
	buffered := bufio.NewWriterSize(to.file, 1<<20)
	margin := int64(0)
	if l.store.framed {
		margin = frameBytes
	}
	for i, size := range l.sizes {
		if size == 0 {
			continue
		}
		part := io.NewSectionReader(l.store.file, l.offsets[i]-margin, size+2*margin)
		if _, err := io.Copy(buffered, part); err != nil {
			return to.failed(err)
		}
		l.offsets[i] = to.at + margin
		to.at += size + 2*margin
	}
	if err := buffered.Flush(); err != nil {
		return to.failed(err)
	}
	return nil
}

func shiftAll(offsets, sizes []int64, shift int64) {
	for i, size := range sizes {
		if size > 0 {
			offsets[i] += shift
		}
	}
}
