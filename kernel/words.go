package kernel

import (
	"encoding/binary"
	"unsafe"
)

// PutWords stores *msg as 32-bit words. Each word is the lower half of an element
// of to; the upper half is tag, whose own lower half must be 0: to[from+w]
// becomes tag | word w. The number of words is the size of M divided by four,
// rounded up. Each element is written in a single access, as by [StoreRelaxed],
// so a reader that sees the tag also sees the word. Bytes beyond the end of M are
// 0 in the last word; padding within M is undefined.
//
// M is a number, a bool, or a struct or array of these. In kernels it has at most
// 256 words, not counting arrays of more than 64 elements.
func PutWords[M any](to []uint64, from int, tag uint64, msg *M, _ ...Scope) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(msg)), unsafe.Sizeof(*msg))
	if len(bytes) == 0 {
		return
	}
	_, _ = to[from], to[from+(len(bytes)-1)/4]
	for ; len(bytes) >= 4; bytes, from = bytes[4:], from+1 {
		storeRelaxed(&to[from], tag|uint64(binary.LittleEndian.Uint32(bytes)))
	}
	if len(bytes) > 0 {
		var last [4]byte
		copy(last[:], bytes)
		storeRelaxed(&to[from], tag|uint64(binary.LittleEndian.Uint32(last[:])))
	}
}
