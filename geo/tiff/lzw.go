package tiff

import (
	"fmt"
)

const (
	lzwClear = 256
	lzwEnd   = 257
	lzwFirst = 258 // first code of a string
	lzwCodes = 4096
)

// decodeLZW decodes LZW in the form of TIFF 6.0 (codes begin with the most significant
// bit, and grow one code early) and in that of files before TIFF 5.0.
//
// Each string of the table is the previous output and one more byte, which follow each
// other in dst. So the table refers to dst.
func decodeLZW(dst, src []byte, _ block) error {
	old := len(src) >= 2 && src[0] == 0 && src[1]&1 == 1
	var start, length [lzwCodes]int32
	next, width := lzwFirst, 9
	n := 0
	from, size := 0, 0 // the previous output; size 0 after a clear code
	var window uint64
	have := 0
	for n < len(dst) {
		for have < width {
			if len(src) == 0 {
				return errShort(n, len(dst))
			}
			if old {
				window |= uint64(src[0]) << have
			} else {
				window = window<<8 | uint64(src[0])
			}
			src = src[1:]
			have += 8
		}
		have -= width
		var code int
		if old {
			code = int(window & (1<<width - 1))
			window >>= width
		} else {
			code = int(window >> have & (1<<width - 1))
		}
		switch {
		case code == lzwClear:
			next, width, size = lzwFirst, 9, 0
			continue
		case code == lzwEnd:
			return errShort(n, len(dst))
		case code > next || code >= lzwFirst && size == 0:
			return fmt.Errorf("code %d after %d bytes, where the table has %d", code, n, next)
		}
		if size > 0 && next < lzwCodes {
			start[next], length[next] = int32(from), int32(size+1)
			next++
			if grows := next + 1; old && next == 1<<width && width < 12 || !old && grows == 1<<width && width < 12 {
				width++
			}
		}
		from = n
		if code < lzwClear {
			dst[n] = byte(code)
			size = 1
			n++
			continue
		}
		if code >= next {
			return fmt.Errorf("code %d after %d bytes, where the table has %d", code, n, next)
		}
		at, end := int(start[code]), int(start[code]+length[code])
		size = end - at
		if end <= n {
			n += copy(dst[n:], dst[at:end])
			continue
		}
		for ; at < end && n < len(dst); at++ { // the string contains its own first byte
			dst[n] = dst[at]
			n++
		}
	}
	return nil
}

// lzwTable finds the codes of strings: a hash table of a prefix's code and a byte.
type lzwTable struct {
	key   [1 << 13]uint32 // prefix<<8 | byte, plus 1; 0 is free
	value [1 << 13]uint16
}

// find returns the code, or the slot for it.
func (t *lzwTable) find(prefix int, c byte) (code, slot int) {
	key := uint32(prefix)<<8 | uint32(c)
	slot = int(key * 2654435761 >> 19)
	for ; t.key[slot] != 0; slot = (slot + 1) & (len(t.key) - 1) {
		if t.key[slot] == key+1 {
			return int(t.value[slot]), slot
		}
	}
	return -1, slot
}

func encodeLZW(dst, src []byte, _ block) ([]byte, error) {
	var table lzwTable
	next, width := lzwFirst, 9
	var window uint64
	have := 0
	emit := func(code int) {
		window = window<<width | uint64(code)
		for have += width; have >= 8; {
			have -= 8
			dst = append(dst, byte(window>>have))
		}
	}
	// advance counts one more string, and clears the table when it is full.
	advance := func() {
		next++
		switch {
		case next == lzwCodes-2:
			emit(lzwClear)
			next, width = lzwFirst, 9
			clear(table.key[:])
		case next == 1<<width:
			width++
		}
	}
	emit(lzwClear)
	prefix := -1
	for _, c := range src {
		if prefix < 0 {
			prefix = int(c)
			continue
		}
		code, slot := table.find(prefix, c)
		if code >= 0 {
			prefix = code
			continue
		}
		emit(prefix)
		table.key[slot], table.value[slot] = uint32(prefix)<<8|uint32(c)+1, uint16(next)
		prefix = int(c)
		advance()
	}
	if prefix >= 0 {
		emit(prefix)
		advance()
	}
	emit(lzwEnd)
	if have > 0 {
		dst = append(dst, byte(window<<(8-have)))
	}
	return dst, nil
}
