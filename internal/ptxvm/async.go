package ptxvm

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Asynchronous copies. With checks, a copy reads its source when it starts and writes its
// destination when the thread waits for it. Until then the destination counts as never
// written. Without checks, the copy runs at once.

// pendingCopy is a copy to shared memory that has started but not been waited for.
type pendingCopy struct {
	in    *instr // the write
	off   uint64
	data  [16]byte
	group int // number of the thread's copy group
}

// decodeCopy decodes cp.async, its group and wait instructions, and bulk copies.
func decodeCopy(d *decoder) {
	switch {
	case d.mod("async") == "":
		d.emit(nil)
	case d.mod("bulk") != "":
		decodeBulkCopy(d)
	case d.mod("commit_group") != "":
		d.want(0, 0)
		d.emit(func(t *thread, _ *instr) { t.groups++ })
	case d.mod("wait_group") != "":
		d.want(1, 1)
		d.in.e = int32(min(d.immediate(0), 1<<20))
		d.emit(func(t *thread, in *instr) { t.arriveCopies(t.groups - int(in.e)) })
	case d.mod("wait_all") != "":
		d.want(0, 0)
		d.emit(func(t *thread, _ *instr) { t.arriveCopies(t.groups + 1) })
	default:
		decodeAsyncCopy(d)
	}
}

func decodeAsyncCopy(d *decoder) {
	cache := d.mod("ca", "cg")
	d.drop(cacheModifiers...)
	if d.mod("shared", "shared::cta") == "" || d.mod("global") == "" {
		d.p.fail("%s: want a copy from global to shared memory", d.text)
	}
	d.want(3, 3)
	size := d.immediate(2)
	if size != 16 && (cache == "cg" || size != 4 && size != 8) {
		d.p.fail("%s: a copy of %d bytes is not supported", d.text, size)
	}
	d.in.access = access{read: true, size: uint8(size)}
	d.address(d.args[1], globalSpace)
	from := d.in
	d.in.offset, d.in.access = 0, access{write: true, size: uint8(size)}
	d.address(d.args[0], sharedSpace)
	d.in.from = &from
	d.emit(func(t *thread, in *instr) { t.copyAsync(in, in.from) })
}

// copyAsync starts a copy. in is its write, from its read.
func (t *thread) copyAsync(in, from *instr) {
	src := t.pointer(from)
	if src == nil {
		return
	}
	dst := t.pointer(in)
	if dst == nil {
		return
	}
	size := int(in.access.size)
	if !t.b.checks {
		copyWords(unsafe.Slice((*byte)(dst), size), src)
		return
	}
	off := t.address(in)
	p := pendingCopy{in: in, off: off, group: t.groups}
	copyWords(p.data[:size], src)
	t.b.sharedInit.unset(off, in.access.size)
	t.copies = append(t.copies, p)
}

// copyWords copies aligned memory that other threads may write concurrently. It reads each
// word atomically.
func copyWords(dst []byte, src unsafe.Pointer) {
	if len(dst) == 4 {
		binary.NativeEndian.PutUint32(dst, atomic.LoadUint32((*uint32)(src)))
		return
	}
	for i := 0; i < len(dst); i += 8 {
		binary.NativeEndian.PutUint64(dst[i:], atomic.LoadUint64((*uint64)(unsafe.Add(src, i))))
	}
}

// arriveCopies writes the data of all pending copies whose group is less than below.
func (t *thread) arriveCopies(below int) {
	kept := t.copies[:0]
	for i := range t.copies {
		p := &t.copies[i]
		if p.group >= below {
			kept = append(kept, *p)
			continue
		}
		dst := t.blockPointer(p.in, sharedSpace, p.off)
		if dst == nil {
			return
		}
		copy(unsafe.Slice((*byte)(dst), p.in.access.size), p.data[:])
	}
	t.copies = kept
}

// copying reports whether a pending copy will write any of the size bytes at off in shared
// memory.
func (b *block) copying(off uint64, size uint8) bool {
	for i := range b.threads {
		for j := range b.threads[i].copies {
			p := &b.threads[i].copies[j]
			if p.off < off+uint64(size) && off < p.off+uint64(p.in.access.size) {
				return true
			}
		}
	}
	for _, m := range b.mbarriers {
		for _, c := range m.copies {
			if c.off < off+uint64(size) && off < c.off+uint64(len(c.data)) {
				return true
			}
		}
	}
	return false
}

func (m initialized) unset(off uint64, size uint8) {
	m[off>>6] &^= (1<<size - 1) << (off & 63)
}
