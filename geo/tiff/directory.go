package tiff

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"time"
)

// entry is a field of a directory. Its value is in the file.
type entry struct {
	typ    fieldType
	count  int64
	offset int64 // of the value
	at     int64 // of the entry itself
}

// directory is an image file directory (IFD) before interpretation.
type directory struct {
	place
	src     *source
	offset  int64
	next    int64
	entries map[Tag]entry
}

// source is an open file and how its numbers are written.
type source struct {
	r      io.ReaderAt
	size   int64
	order  binary.ByteOrder
	big    bool // BigTIFF
	limits Limits
	name   string // of the file, in messages

	modified time.Time // the file; zero if that is not known
	version  string    // of a Virtual
}

// opening is where errors are before the first directory.
func (s *source) opening() place { return place{"open", -1, -1, s.name} }

// header reads the first bytes and returns the offset of the first directory.
func (s *source) header() (int64, error) {
	var b [16]byte
	n, err := s.r.ReadAt(b[:], 0)
	if n < 8 {
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, s.opening().unreadable(0, 0, err)
		}
		return 0, s.opening().damaged(0, 0, "the file has %d bytes, which is too short for TIFF", s.size)
	}
	switch string(b[:2]) {
	case "II":
		s.order = binary.LittleEndian
	case "MM":
		s.order = binary.BigEndian
	default:
		return 0, s.opening().damaged(0, 0, "the file begins with %q, not with II or MM; it is not TIFF, and package geo/raster opens other formats", b[:4])
	}
	switch version := s.order.Uint16(b[2:]); version {
	case 42:
		return int64(s.order.Uint32(b[4:])), nil
	case 43:
		s.big = true
		if n < 16 {
			return 0, s.opening().damaged(0, 0, "the file has %d bytes, which is too short for BigTIFF", s.size)
		}
		if size := s.order.Uint16(b[4:]); size != 8 {
			return 0, s.opening().damaged(0, 4, "offsets of %d bytes; BigTIFF has 8", size)
		}
		return int64(s.order.Uint64(b[8:])), nil
	default:
		return 0, s.opening().damaged(0, 2, "version %d; TIFF is 42 and BigTIFF 43", version)
	}
}

// read reads n bytes at an offset. It checks the range before it allocates.
func (s *source) read(p place, tag Tag, offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > s.size || n > s.size-offset {
		return nil, p.damaged(tag, offset, "%d bytes are needed, but the file ends at byte %d; it is truncated or damaged", n, s.size)
	}
	b := make([]byte, n)
	if err := s.readAt(b, offset); err != nil {
		return nil, p.unreadable(tag, offset, err)
	}
	return b, nil
}

// readAt fills b. io.EOF at the very end of the file is no error.
func (s *source) readAt(b []byte, offset int64) error {
	n, err := s.r.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// directory reads the directory at an offset.
func (s *source) directory(index int, offset int64) (*directory, error) {
	d := &directory{place: place{"open", index, -1, s.name}, src: s, offset: offset, entries: map[Tag]entry{}}
	head, each, inline := int64(2), int64(12), int64(4)
	if s.big {
		head, each, inline = 8, 20, 8
	}
	b, err := s.read(d.place, 0, offset, head)
	if err != nil {
		return nil, err
	}
	count := uint64(s.order.Uint16(b))
	if s.big {
		count = s.order.Uint64(b)
	}
	if count == 0 || count > 65536 {
		return nil, d.damaged(0, offset, "a directory with %d entries", count)
	}
	b, err = s.read(d.place, 0, offset+head, int64(count)*each)
	if err != nil {
		return nil, err
	}
	for i := range int64(count) {
		at := offset + head + i*each
		d.add(b[i*each:(i+1)*each], at, at+each-inline, inline)
	}
	// Some writers leave out the link after the last directory.
	link := offset + head + int64(count)*each
	if b, err := s.read(d.place, 0, link, inline); err == nil {
		d.next = s.offset(b)
	}
	return d, nil
}

// offset decodes a file offset. One that no file can have becomes MaxInt64.
func (s *source) offset(b []byte) int64 {
	if !s.big {
		return int64(s.order.Uint32(b))
	}
	return int64(min(s.order.Uint64(b), math.MaxInt64))
}

// add decodes one entry. Of entries with the same tag, the first one counts, and
// entries of unknown types are skipped, as the specification asks.
func (d *directory) add(b []byte, at, value, inline int64) {
	order := d.src.order
	tag := Tag(order.Uint16(b))
	e := entry{typ: fieldType(order.Uint16(b[2:])), at: at, offset: value}
	if d.src.big {
		e.count = int64(min(order.Uint64(b[4:]), math.MaxInt64))
	} else {
		e.count = int64(order.Uint32(b[4:]))
	}
	size := e.typ.size()
	if size == 0 {
		return
	}
	if e.count > inline/size {
		e.offset = d.src.offset(b[len(b)-int(inline):])
	}
	if _, twice := d.entries[tag]; !twice {
		d.entries[tag] = e
	}
}

func (d *directory) has(tag Tag) bool { _, ok := d.entries[tag]; return ok }

// raw reads the value of a tag as the bytes of the file.
func (d *directory) raw(tag Tag) ([]byte, entry, error) {
	e, ok := d.entries[tag]
	if !ok {
		return nil, e, nil
	}
	size := e.typ.size()
	if e.count > d.src.limits.TagBytes/size {
		return nil, e, d.limit(tag, "%d values of %d bytes; Limits.TagBytes allows %d bytes", e.count, size, d.src.limits.TagBytes)
	}
	b, err := d.src.read(d.place, tag, e.offset, e.count*size)
	return b, e, err
}

// uints reads the value of a tag of an unsigned integer type. It is nil if the
// directory lacks the tag.
func (d *directory) uints(tag Tag) ([]uint64, error) {
	b, e, err := d.raw(tag)
	if err != nil || b == nil {
		return nil, err
	}
	order := d.src.order
	v := make([]uint64, e.count)
	for i := range v {
		switch e.typ {
		case typeByte, typeUndefined:
			v[i] = uint64(b[i])
		case typeShort:
			v[i] = uint64(order.Uint16(b[2*i:]))
		case typeLong, typeIFD:
			v[i] = uint64(order.Uint32(b[4*i:]))
		case typeLong8, typeIFD8:
			v[i] = order.Uint64(b[8*i:])
		default:
			return nil, d.damaged(tag, e.at, "values of type %d where unsigned integers are expected", e.typ)
		}
	}
	return v, nil
}

// first reads the first value of an integer tag, or returns the default.
func (d *directory) first(tag Tag, absent uint64) (uint64, error) {
	e, ok := d.entries[tag]
	if !ok {
		return absent, nil
	}
	if e.count == 0 {
		return 0, d.damaged(tag, e.at, "no value")
	}
	e.count = 1
	one := *d
	one.entries = map[Tag]entry{tag: e}
	v, err := one.uints(tag)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// floats reads the value of a tag of a numeric type.
func (d *directory) floats(tag Tag) ([]float64, error) {
	b, e, err := d.raw(tag)
	if err != nil || b == nil {
		return nil, err
	}
	order := d.src.order
	v := make([]float64, e.count)
	switch e.typ {
	case typeDouble:
		for i := range v {
			v[i] = math.Float64frombits(order.Uint64(b[8*i:]))
		}
	case typeFloat:
		for i := range v {
			v[i] = float64(math.Float32frombits(order.Uint32(b[4*i:])))
		}
	case typeRational:
		for i := range v {
			v[i] = float64(order.Uint32(b[8*i:])) / float64(order.Uint32(b[8*i+4:]))
		}
	default:
		words, err := d.uints(tag)
		if err != nil {
			return nil, err
		}
		for i := range v {
			v[i] = float64(words[i])
		}
	}
	return v, nil
}

// text reads a string, without the zero byte at its end.
func (d *directory) text(tag Tag) (string, error) {
	b, e, err := d.raw(tag)
	if err != nil || b == nil {
		return "", err
	}
	if e.typ != typeASCII && e.typ != typeByte && e.typ != typeUndefined {
		return "", d.damaged(tag, e.at, "values of type %d where text is expected", e.typ)
	}
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return string(b), nil
}
