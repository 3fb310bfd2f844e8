package client

import (
	"encoding/binary"
	"math"
)

// mostTiles is how many tiles the finest level may have: the directory has their offsets.
const mostTiles = 1 << 22

// Types of values of TIFF.
const (
	short  = 3
	long   = 4
	double = 12
	long8  = 16
)

// field is a field of a directory.
type field struct {
	tag, kind uint16
	count     int
	data      []byte
}

func shorts(tag uint16, values ...uint16) field {
	f := field{tag: tag, kind: short, count: len(values)}
	for _, v := range values {
		f.data = binary.LittleEndian.AppendUint16(f.data, v)
	}
	return f
}

func longs(tag uint16, value int) field {
	return field{tag, long, 1, binary.LittleEndian.AppendUint32(nil, uint32(value))}
}

func doubles(tag uint16, values ...float64) field {
	f := field{tag: tag, kind: double, count: len(values)}
	for _, v := range values {
		f.data = binary.LittleEndian.AppendUint64(f.data, math.Float64bits(v))
	}
	return f
}

// layout writes the directories of a BigTIFF file whose tiles follow them.
func (r *reader) layout() error {
	g := r.g
	for i := range g.levels {
		l := &g.levels[i]
		if l.width < 1 || l.height < 1 || l.width > math.MaxInt32 || l.height > math.MaxInt32 || l.across(g.tile)*l.down(g.tile) > mostTiles {
			return failf(ErrArgument, "an image of %d x %d pixels; choose a smaller extent or larger pixels", l.width, l.height)
		}
	}
	// The sizes of directories do not depend on offsets: once to find the sizes, and once with the offsets.
	r.start = make([]int64, len(g.levels))
	size := r.write()
	at := size
	for i := range g.levels {
		r.start[i] = at
		at += int64(g.levels[i].across(g.tile)*g.levels[i].down(g.tile)) * int64(g.tileBytes())
	}
	r.size = at
	r.write()
	return nil
}

// write fills head and returns its size.
func (r *reader) write() int64 {
	b := []byte{'I', 'I', 43, 0, 8, 0, 0, 0}
	b = binary.LittleEndian.AppendUint64(b, 16)
	for i := range r.g.levels {
		fields := r.fields(i)
		values := len(b) + 8 + 20*len(fields) + 8
		b = binary.LittleEndian.AppendUint64(b, uint64(len(fields)))
		var after []byte
		for _, f := range fields {
			b = binary.LittleEndian.AppendUint16(b, f.tag)
			b = binary.LittleEndian.AppendUint16(b, f.kind)
			b = binary.LittleEndian.AppendUint64(b, uint64(f.count))
			if len(f.data) <= 8 {
				b = append(b, append(f.data[:len(f.data):len(f.data)], make([]byte, 8-len(f.data))...)...)
				continue
			}
			b = binary.LittleEndian.AppendUint64(b, uint64(values+len(after)))
			after = append(after, f.data...)
			after = append(after, make([]byte, -len(after)&7)...)
		}
		next := uint64(values + len(after))
		if i == len(r.g.levels)-1 {
			next = 0
		}
		b = append(binary.LittleEndian.AppendUint64(b, next), after...)
	}
	r.head = b
	return int64(len(b))
}

// fields returns the directory of a level, in the order of tags.
func (r *reader) fields(i int) []field {
	g, l := r.g, &r.g.levels[i]
	n := l.across(g.tile) * l.down(g.tile)
	offsets, counts := field{tag: 324, kind: long8, count: n}, field{tag: 325, kind: long, count: n}
	for k := range n {
		offsets.data = binary.LittleEndian.AppendUint64(offsets.data, uint64(r.start[i]+int64(k)*int64(g.tileBytes())))
		counts.data = binary.LittleEndian.AppendUint32(counts.data, uint32(g.tileBytes()))
	}
	kind := 0
	if i > 0 {
		kind = 1 // a version of less resolution
	}
	all := []field{longs(254, kind), longs(256, l.width), longs(257, l.height), shorts(258, 8, 8, 8, 8), shorts(259, 1), shorts(262, 2), shorts(277, 4), shorts(284, 1),
		longs(322, g.tile), longs(323, g.tile), offsets, counts, shorts(338, 2), shorts(339, 1, 1, 1, 1)}
	if i > 0 {
		return all
	}
	model, key := uint16(1), uint16(3072)
	if g.geographic {
		model, key = 2, 2048
	}
	return append(all, doubles(33550, l.pixel, l.pixel, 0), doubles(33922, 0, 0, 0, g.x, g.y, 0),
		shorts(34735, 1, 1, 0, 3, 1024, 0, 1, model, 1025, 0, 1, 1, key, 0, 1, uint16(g.epsg)))
}
