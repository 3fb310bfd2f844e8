package memory

import "quern.dev/kernel"

type (
	// flag, code and length are defined types; conversions of their bits must handle them.
	flag   bool
	code   uint8
	length float32
)

// parcel has fields of every size, with padding between them and at the end.
type parcel struct {
	Flag   flag
	Code   code
	Small  int16
	Tiny   int8 // followed by three bytes of padding
	Length length
	Open   [3]bool
	Half   kernel.Float16
	Weight float64
	Count  int
	Place  struct {
		Lanes [5]uint8
		Brain kernel.BFloat16
		Big   uint64
	}
	Wave complex64
	Sum  uint
	_    [3]uint16
	Last int8
}

// crate has arrays that are stored in loops. One begins inside a word.
type crate struct {
	Head    uint16
	Numbers [77]uint16
	Text    [131]uint8
	Points  [70]struct {
		X, Y float64
		N    uint32
	}
	Odd  [90][3]uint8
	Unit [40][4]uint8
	Tail uint8
}

// bytes9 is not a whole number of words.
type bytes9 [9]uint8

// putsWords stores a message for each thread.
//
//quern:kernel instantiate=parcel,crate,bytes9,float32,flag,int64
func putsWords[M any](t kernel.Thread, step int, messages []M, out []uint64) {
	i := t.Global()
	if i < len(messages) {
		kernel.PutWords(out, i*step, uint64(i+1)<<32, &messages[i], kernel.SystemScope)
	}
}

// getsWords loads a message for each thread. Words with different tags change nothing.
//
//quern:kernel instantiate=parcel,bytes9,float32,flag,int64
func getsWords[M any](t kernel.Thread, step int, words []uint64, messages []M, tags []uint64) {
	if i := t.Global(); i < len(messages) {
		tags[i] = kernel.GetWords(words, i*step, &messages[i])
	}
}

// sharedWords stores a message from shared memory at several places. Each thread has
// written a part of it.
//
//quern:kernel block=16
func sharedWords(t kernel.Thread, step int, out []uint64) {
	m := kernel.Shared[[16]struct {
		A uint16
		B float32
	}](t)
	i := t.ThreadIdx.X
	m[i].A, m[i].B = uint16(i), float32(i)/2
	t.Sync()
	kernel.PutWords(out, i*step, uint64(i+1)<<32, m)
}

// wordsBeyond stores three words, starting at the given position.
//
//quern:kernel block=1
func wordsBeyond(t kernel.Thread, from int, out []uint64) {
	m := [3]int32{1, 2, 3}
	kernel.PutWords(out, from, 0, &m)
}
