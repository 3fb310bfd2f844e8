// Package payload implements the payload memory of a runtime: the allocator, the reference
// counts that host and device share, and the references in messages.
package payload

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"quern.dev/gpu"
	"quern.dev/ring/internal/errs"
	"quern.dev/ring/internal/mail"
)

// Sizes of the payload memory.
const (
	MaxBytes = 1 << 32
	Align    = 256 // bytes

	entryChunk = 256 // entries that the post memory reserves at once
)

// Words is the post memory, which host and device access while actors run.
type Words interface {
	Reserve(words int) (at uint32, err error)
	Write(at uint32, words ...uint64) error
	Read(at uint32, words []uint64) error
}

// Memory is one block of device memory, which handlers get as a slice, and one entry per
// payload in the post memory, which records the holds. It is safe for concurrent use.
type Memory struct {
	dev   *gpu.Device
	post  Words
	bytes int64

	making sync.Mutex        // held while the two fields below change
	buffer *gpu.Buffer[byte] // nil before the first payload
	ended  bool              // Close was called

	known atomic.Pointer[map[uint32]*entry] // by position in the post memory; replaced, never changed

	mu     sync.Mutex
	free   extents
	unused []*entry
	lent   []*entry
	holds  map[*Hold]struct{} // of the program
	closed bool
}

// Hold is one of the program's holds on a payload.
type Hold struct {
	Released atomic.Bool // for the caller, which calls Release only once

	memory *Memory
	entry  *entry
	bytes  int64
	site   [8]uintptr // of the call that made it
}

// entry is what the host knows about a payload. Generations distinguish payloads that use
// the same entry one after another.
type entry struct {
	at       uint32        // position in the post memory
	chunk    uint32        // position of the first entry that was made with it
	hosts    atomic.Uint64 // generation<<32, and the number of holds on the host: of the program and of messages
	programs atomic.Int32  // how many of these the program has

	use          entryUse
	offset, size int64 // bytes
	each         int64 // bytes per element
	elem         reflect.Type
	taken        uint32 // holds that the program has taken over from actors
}

// entryUse is the use of an entry.
type entryUse uint8

const (
	unused entryUse = iota // no payload
	held                   // a payload that the host holds
	lent                   // a payload that the host no longer holds, but actors may
)

// Ref is an actor.Payload without its type.
type Ref struct{ Entry, Generation, Offset, Length uint32 }

// New returns a Memory that has no device memory yet; see [Memory.Make].
func New(dev *gpu.Device, post Words, bytes int64) *Memory {
	m := &Memory{dev: dev, post: post, bytes: bytes / Align * Align, holds: map[*Hold]struct{}{}}
	m.free.add(extent{0, m.bytes})
	m.known.Store(&map[uint32]*entry{})
	return m
}

// Size returns the size of the memory in bytes.
func (m *Memory) Size() int64 { return m.bytes }

// Buffer returns the memory, or nil if it has not been made.
func (m *Memory) Buffer() *gpu.Buffer[byte] { return m.buffer }

// Make allocates the memory on the first call.
func (m *Memory) Make() (err error) {
	m.making.Lock()
	defer m.making.Unlock()
	switch {
	case m.ended:
		return errs.ErrRuntimeClosed
	case m.buffer == nil:
		m.buffer, err = gpu.Alloc[byte](m.dev, int(m.bytes))
	}
	return err
}

// FullError means that there is no room for a payload.
type FullError struct{ Want, Size, Free, Largest int64 }

func (e *FullError) Error() string { return "the payload memory is full" }

// Allocate makes a payload of n elements and gives the program a hold. It calls view while
// the memory cannot be closed. If there is no room, it returns a [*FullError].
func (m *Memory) Allocate(n int64, elem reflect.Type, view func(Ref)) (*Hold, error) {
	for {
		h, err := m.tryAllocate(n, elem, view)
		if err != errNoEntry {
			return h, err
		}
		if err := m.grow(); err != nil {
			return nil, err
		}
	}
}

// errNoEntry means that all entries are in use.
var errNoEntry = errors.New("no entry")

func (m *Memory) tryAllocate(n int64, elem reflect.Type, view func(Ref)) (_ *Hold, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, errs.ErrRuntimeClosed
	}
	each := int64(elem.Size())
	bytes := n * each
	// Handlers index the memory as elements, so a payload begins at a whole element.
	align := Align / gcd(Align, each) * each
	offset, ok := m.free.take(bytes, align)
	if !ok || len(m.unused) == 0 {
		err = m.reclaim()
		if !ok && err == nil {
			offset, ok = m.free.take(bytes, align)
		}
	}
	if !ok {
		free, largest := m.free.sizes()
		return nil, cmp.Or(err, error(&FullError{Want: bytes, Size: m.bytes, Free: free, Largest: largest}))
	}
	defer func() {
		if err != nil {
			m.free.add(extent{offset, offset + bytes})
		}
	}()
	switch {
	case err != nil:
		return nil, err
	case len(m.unused) == 0:
		return nil, errNoEntry
	}
	e := m.unused[len(m.unused)-1]
	generation := max(1, uint32(e.hosts.Load()>>32)+1)
	tag := uint64(generation) << 32
	r := Ref{e.at, generation, uint32(offset / each), uint32(bytes / each)}
	if err := m.post.Write(e.at, tag|1, tag, uint64(r.Length)<<32|uint64(r.Offset)); err != nil {
		return nil, err
	}
	m.unused = m.unused[:len(m.unused)-1]
	e.use, e.offset, e.size, e.each, e.elem, e.taken = held, offset, bytes, each, elem, 0
	e.hosts.Store(tag | 1)
	view(r)
	return m.hold(e, bytes), nil
}

// hold returns the program's hold, which e already counts. The caller holds m.mu.
func (m *Memory) hold(e *entry, bytes int64) *Hold {
	h := &Hold{memory: m, entry: e, bytes: bytes}
	runtime.Callers(3, h.site[:])
	m.holds[h] = struct{}{}
	e.programs.Add(1)
	return h
}

// grow makes entries. Actors may have to pause for it, so the caller must not hold m.mu.
func (m *Memory) grow() error {
	at, err := m.post.Reserve(entryChunk * mail.PayloadWords)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.known.Load()
	known := make(map[uint32]*entry, len(old)+entryChunk)
	for at, e := range old {
		known[at] = e
	}
	for i := range uint32(entryChunk) {
		e := &entry{at: at + i*mail.PayloadWords, chunk: at}
		known[e.at] = e
		m.unused = append(m.unused, e)
	}
	m.known.Store(&known)
	return nil
}

// retain adds the hold of a message with a reference.
func (m *Memory) retain(r Ref) error {
	e := (*m.known.Load())[r.Entry]
	if e == nil {
		return fmt.Errorf("ring: %w: the reference names no payload of this runtime", errs.ErrReleased)
	}
	for {
		v := e.hosts.Load()
		if uint32(v>>32) != r.Generation || uint32(v) == 0 || e.programs.Load() == 0 {
			return fmt.Errorf("ring: %w", errs.ErrReleased)
		}
		if e.hosts.CompareAndSwap(v, v+1) {
			break
		}
	}
	if err := e.check(r); err != nil { // the fields of a held payload do not change
		return errors.Join(err, m.release(e))
	}
	return nil
}

// check returns an error if a reference is not within the payload of a held entry.
func (e *entry) check(r Ref) error {
	first, n := e.offset/e.each, e.size/e.each
	if lo, hi := int64(r.Offset), int64(r.Offset)+int64(r.Length); lo < first || hi > first+n {
		return errs.Invalidf("a reference to the elements %d to %d of a payload that has %d", lo-first, hi-first, n)
	}
	return nil
}

// requireType returns an error if the payload of a reference has other elements than the
// type of the reference says. The payload must be held. Go can convert references of one
// type to another.
func (m *Memory) requireType(r Ref, elem reflect.Type) error {
	if e := (*m.known.Load())[r.Entry]; e.elem != elem {
		return errs.Invalidf("a reference to elements of type %v of a payload of %v; make the payload with the type that the message has", elem, e.elem)
	}
	return nil
}

// release ends the hold of a message with a Ref, or of the program.
func (m *Memory) release(e *entry) error {
	v := e.hosts.Add(1<<64 - 1)
	if uint32(v) != 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lend(e, v)
}

// lend records that the host no longer holds a payload, unless it has got a new hold.
// The caller holds m.mu.
func (m *Memory) lend(e *entry, hosts uint64) error {
	if m.closed || e.use != held || e.hosts.Load() != hosts {
		return nil
	}
	e.use = lent
	m.lent = append(m.lent, e)
	return m.post.Write(e.at, hosts|uint64(e.taken)<<1)
}

// Device returns the device of the payload.
func (h *Hold) Device() *gpu.Device { return h.memory.dev }

// Release ends the hold.
func (h *Hold) Release() error {
	m := h.memory
	m.mu.Lock()
	closed := m.closed
	delete(m.holds, h)
	m.mu.Unlock()
	if closed {
		return errs.ErrRuntimeClosed
	}
	h.entry.programs.Add(-1)
	return m.release(h.entry)
}

// Open gives the program a hold on the payload of a Ref, or moves an actor's hold to the
// program if take is set. It calls view while the memory cannot be closed.
func (m *Memory) Open(r Ref, elem reflect.Type, take bool, view func(Ref)) (*Hold, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.entryOf(r)
	if err == nil {
		err = m.requireType(r, elem)
	}
	if err == nil {
		e, err = m.join(r, take)
	}
	if err != nil {
		return nil, err
	}
	view(r)
	return m.hold(e, int64(r.Length)*e.each), nil
}

// adopt adds the hold of a message from an actor on the device to a host actor. The
// sender's hold goes to the receiver; this hold is separate.
func (m *Memory) adopt(r Ref) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.join(r, false)
	return err
}

// join gives the host a hold on the payload of a reference. The caller holds m.mu.
func (m *Memory) join(r Ref, take bool) (*entry, error) {
	e, err := m.entryOf(r)
	if err == nil {
		err = e.check(r)
	}
	if err != nil {
		return nil, err
	}
	v := e.hosts.Add(1) // from here on, the end of a message does not release the last hold
	err = m.reopen(e, uint32(v) == 1, take)
	if err != nil {
		if v := e.hosts.Add(1<<64 - 1); uint32(v) == 0 {
			err = errors.Join(err, m.lend(e, v))
		}
		return nil, err
	}
	return e, nil
}

// entryOf returns the entry of a reference's payload. The caller holds m.mu.
func (m *Memory) entryOf(r Ref) (*entry, error) {
	if m.closed {
		return nil, errs.ErrRuntimeClosed
	}
	e := (*m.known.Load())[r.Entry]
	if e == nil || e.use == unused || uint32(e.hosts.Load()>>32) != r.Generation {
		return nil, fmt.Errorf("ring: %w", errs.ErrReleased)
	}
	return e, nil
}

// reopen tells actors that the host holds a payload again, or has taken over one of
// their holds. The caller holds m.mu.
func (m *Memory) reopen(e *entry, first, take bool) error {
	if !first && !take {
		return nil
	}
	actors, err := m.actors(e, nil)
	switch {
	case err != nil:
		return err
	case actors == 0 && first:
		return fmt.Errorf("ring: %w", errs.ErrReleased)
	case actors == 0:
		return errs.Invalidf("no actor has a hold on the payload to take over; retain it in the handler before its reference is sent")
	}
	taken := e.taken
	if take {
		taken++
	}
	if err := m.post.Write(e.at, e.hosts.Load()&^math.MaxUint32|uint64(taken)<<1|1); err != nil {
		return err
	}
	e.taken = taken
	if e.use == lent {
		e.use = held
		m.lent = slices.DeleteFunc(m.lent, func(l *entry) bool { return l == e })
	}
	return nil
}

// actors returns the number of holds of actors on the device on a payload. read, if
// not nil, caches the entries of chunks. The caller holds m.mu.
func (m *Memory) actors(e *entry, read map[uint32][]uint64) (int, error) {
	if read == nil {
		var words [2]uint64
		err := m.post.Read(e.at, words[:])
		return int(uint32(words[mail.PayloadActors])) - int(e.taken), err
	}
	words := read[e.chunk]
	if words == nil {
		words = make([]uint64, entryChunk*mail.PayloadWords)
		if err := m.post.Read(e.chunk, words); err != nil {
			return 0, err
		}
		read[e.chunk] = words
	}
	return int(uint32(words[e.at-e.chunk+mail.PayloadActors])) - int(e.taken), nil
}

// reclaim frees the payloads without holds. The caller holds m.mu.
func (m *Memory) reclaim() error {
	read := map[uint32][]uint64{}
	kept := m.lent[:0]
	var errs []error
	for _, e := range m.lent {
		n, err := m.actors(e, read)
		if err != nil || n > 0 {
			errs = append(errs, err)
			kept = append(kept, e)
			continue
		}
		e.use = unused
		m.free.add(extent{e.offset, e.offset + e.size})
		m.unused = append(m.unused, e)
	}
	clear(m.lent[len(kept):])
	m.lent = kept
	return errors.Join(errs...)
}

// Close frees the memory and returns the program's unreleased holds, by the line that
// made them. No actor may be running.
func (m *Memory) Close() ([]Leak, error) {
	m.making.Lock()
	defer m.making.Unlock()
	m.ended = true
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, nil
	}
	m.closed = true
	return leaks(m.holds), m.buffer.Close()
}

// Leak is a line of the program that made payloads which were not released.
type Leak struct {
	Function string // "main.load"
	File     string
	Line     int

	Payloads int
	Bytes    int64
}

// leaks returns the lines, largest first.
func leaks(holds map[*Hold]struct{}) []Leak {
	sums := map[Leak]Leak{} // keys without sums
	for h := range holds {
		var place Leak
		place.Function, place.File, place.Line = caller(h.site[:])
		sum := cmp.Or(sums[place], place)
		sum.Payloads++
		sum.Bytes += h.bytes
		sums[place] = sum
	}
	list := slices.Collect(maps.Values(sums))
	slices.SortFunc(list, func(x, y Leak) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	return list
}

// caller returns the innermost call outside of package ring and this package, or in
// their tests.
func caller(pcs []uintptr) (function, file string, line int) {
	frames := runtime.CallersFrames(pcs[:slices.Index(append(pcs, 0), 0)])
	for {
		f, more := frames.Next()
		inside := (strings.HasPrefix(f.Function, "quern.dev/ring.") || strings.HasPrefix(f.Function, "quern.dev/ring/internal/payload.")) && !strings.HasSuffix(f.File, "_test.go")
		if !inside || !more {
			name := strings.ReplaceAll(f.Function, "[...]", "") // type arguments
			return name[strings.LastIndex(name, "/")+1:], f.File, f.Line
		}
	}
}
