package archive

import (
	"encoding/binary"
	"errors"
)

// errDamaged is the error of an entry whose checksum is right but whose content is not.
var errDamaged = errors.New("an entry has an unknown form")

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// reader reads numbers and strings. After an error, all of them are zero.
type reader struct{ rest string }

// damaged is the rest of a reader after an error. It ends no number.
const damaged = "\xff"

func (r *reader) failed() bool { return r.rest == damaged }

// number reads a number of at most 35 bits that is not negative.
func (r *reader) number() int {
	n := 0
	for i := 0; i < len(r.rest) && i < 5; i++ {
		c := r.rest[i]
		n |= int(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.rest = damaged
	return 0
}

func (r *reader) string() string {
	n := r.number()
	if n > len(r.rest) || r.failed() {
		r.rest = damaged
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}
