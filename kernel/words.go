package kernel

import (
	"encoding/binary"
	"unsafe"
)

// PutWords stores the bytes of *msg as words of 32 bits, each in the lower half of
// an element of to with tag beside it: to[from+w] becomes tag | word w, for each
// of the words that the size of M has, rounded up. The lower half of tag is 0.
// Each element is written in one piece, as by [StoreRelaxed], so that a reader who
// finds the tag has the word too. Bytes behind the end of M are 0 in the last
// word; what padding inside M holds is not defined.
//
// M is a number, a bool, or a struct or array of these. In kernels it has 256
// words at most, not counting arrays of more than 64 elements.
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
