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

// GetWords loads the value that [PutWords] stored in from[at] and the elements behind it. If all
// of its words have the same tag, it sets *msg and returns the tag. Otherwise, or if the tag is
// 0, it returns 0. Each element is read in a single access, as by [LoadRelaxed], so a thread
// can wait for the tag.
//
// M is a number, a bool, or a struct or array of these. In kernels it has 1 to 256 words.
func GetWords[M any](from []uint64, at int, msg *M, _ ...Scope) (tag uint64) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(msg)), unsafe.Sizeof(*msg))
	words := make([]byte, 0, len(bytes)+3)
	for i := range (len(bytes) + 3) / 4 {
		word := LoadRelaxed(&from[at+i])
		if i > 0 && word>>32<<32 != tag {
			return 0
		}
		tag = word >> 32 << 32
		words = binary.LittleEndian.AppendUint32(words, uint32(word))
	}
	if tag != 0 {
		copy(bytes, words)
	}
	return tag
}
