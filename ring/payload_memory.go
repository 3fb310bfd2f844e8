package ring

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/internal/mail"
)

// Sizes of the payload memory.
const (
	DefaultPayloadBytes = 64 << 20
	MaxPayloadBytes     = 1 << 32

	payloadAlign = 256 // bytes
	entryChunk   = 256 // entries that the post memory gets at once
)

// deviceWords are words of the post memory, which both sides reach while actors
// run.
type deviceWords interface {
	reserve(words int) (at uint32, err error)
	write(at uint32, words ...uint64) error
	read(at uint32, words []uint64) error
}

// PayloadMemory is where the payloads of a runtime are: one piece of memory, which
// handlers get as a slice, and an entry for each payload in the post memory, which
// says who holds it. It is safe for concurrent use.
type PayloadMemory struct {
	dev   *gpu.Device
	post  deviceWords
	bytes int64

	making sync.Mutex        // held while these are changed
	buffer *gpu.Buffer[byte] // nil before the first payload
	ended  bool              // no memory is made any more

	known atomic.Pointer[map[uint32]*payloadEntry] // by place in the post memory; never written

	mu     sync.Mutex
	free   extents
	unused []*payloadEntry
	lent   []*payloadEntry
	holds  map[*hold]struct{} // of the program
	closed bool
}

// payloadEntry is what the host knows of a payload. Generations tell the payloads apart that
// have an entry one after another.
type payloadEntry struct {
	at       uint32        // place in the post memory
	chunk    uint32        // where the entries begin that were made with it
	hosts    atomic.Uint64 // generation<<32, and how many of the host hold it: the program and messages
	programs atomic.Int32  // how many of these are the program's

	use          entryUse
	offset, size int64 // bytes
	each         int64 // bytes of an element
	elem         reflect.Type
	taken        uint32 // holds of actors that the program has taken over
}

// entryUse is what an entry is used for.
type entryUse uint8

const (
	unused entryUse = iota // for no payload
	held                   // for one that the host holds
	lent                   // for one that the host does not hold any more, but actors may
)

// payloadRef is an actor.Payload without its type.
type payloadRef struct{ entry, generation, offset, length uint32 }

func newPayloadMemory(dev *gpu.Device, post deviceWords, bytes int64) *PayloadMemory {
	m := &PayloadMemory{dev: dev, post: post, bytes: bytes / payloadAlign * payloadAlign, holds: map[*hold]struct{}{}}
	m.free.add(extent{0, m.bytes})
	m.known.Store(&map[uint32]*payloadEntry{})
	return m
}

// payloadBytes checks the size that a configuration has.
func payloadBytes(bytes int64) (int64, error) {
	if bytes < 0 || bytes > MaxPayloadBytes || bytes > 0 && bytes < payloadAlign {
		return 0, invalid("PayloadBytes is %d; it is %d to %d", bytes, payloadAlign, int64(MaxPayloadBytes))
	}
	return cmp.Or(bytes, DefaultPayloadBytes), nil
}

// make allocates the memory, once.
func (m *PayloadMemory) make() (err error) {
	m.making.Lock()
	defer m.making.Unlock()
	switch {
	case m.ended:
		return errRuntimeClosed
	case m.buffer == nil:
		m.buffer, err = gpu.Alloc[byte](m.dev, int(m.bytes))
	}
	return err
}

// PayloadOf gives a launch the payload memory as elements of type P. Generated code
// uses it.
func PayloadOf[P any](l *gpu.Launch, m *PayloadMemory) { gpu.SliceArg(l, elements[P](m)) }

// elements is the memory as elements of type T, as many as there is room for.
func elements[T any](m *PayloadMemory) *gpu.Buffer[T] {
	size := int(unsafe.Sizeof(*new(T)))
	return gpu.Reinterpret[T](m.buffer.Slice(0, m.buffer.Len()/size*size))
}

// allocate makes a payload of n elements and gives the program a hold. It calls view while
// the memory cannot be closed.
func (m *PayloadMemory) allocate(n int64, elem reflect.Type, view func(payloadRef)) (*hold, payloadRef, error) {
	for {
		h, r, err := m.tryAllocate(n, elem, view)
		if err != errNoEntry {
			return h, r, err
		}
		if err := m.grow(); err != nil {
			return nil, payloadRef{}, err
		}
	}
}

// errNoEntry means that all entries are in use.
var errNoEntry = errors.New("no entry")

func (m *PayloadMemory) tryAllocate(n int64, elem reflect.Type, view func(payloadRef)) (_ *hold, r payloadRef, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, r, errRuntimeClosed
	}
	each := int64(elem.Size())
	bytes := n * each
	// Handlers index the memory as elements, so that a payload begins where one does.
	align := payloadAlign / gcd(payloadAlign, each) * each
	offset, ok := m.free.take(bytes, align)
	if !ok || len(m.unused) == 0 {
		err = m.reclaim()
		if !ok && err == nil {
			offset, ok = m.free.take(bytes, align)
		}
	}
	if !ok {
		free, largest := m.free.sizes()
		return nil, r, cmp.Or(err, error(&PayloadMemoryError{Want: bytes, Size: m.bytes, Free: free, Largest: largest}))
	}
	defer func() {
		if err != nil {
			m.free.add(extent{offset, offset + bytes})
		}
	}()
	switch {
	case err != nil:
		return nil, r, err
	case len(m.unused) == 0:
		return nil, r, errNoEntry
	}
	e := m.unused[len(m.unused)-1]
	generation := max(1, uint32(e.hosts.Load()>>32)+1)
	tag := uint64(generation) << 32
	r = payloadRef{e.at, generation, uint32(offset / each), uint32(bytes / each)}
	if err := m.post.write(e.at, tag|1, tag, uint64(r.length)<<32|uint64(r.offset)); err != nil {
		return nil, r, err
	}
	m.unused = m.unused[:len(m.unused)-1]
	e.use, e.offset, e.size, e.each, e.elem, e.taken = held, offset, bytes, each, elem, 0
	e.hosts.Store(tag | 1)
	view(r)
	return m.hold(e, bytes), r, nil
}

// hold makes the program's hold on what it counts as held already. m.mu is held.
func (m *PayloadMemory) hold(e *payloadEntry, bytes int64) *hold {
	h := &hold{memory: m, entry: e, bytes: bytes}
	runtime.Callers(3, h.site[:])
	m.holds[h] = struct{}{}
	e.programs.Add(1)
	return h
}

// grow makes entries. It may have actors make way, so that m.mu is not held.
func (m *PayloadMemory) grow() error {
	at, err := m.post.reserve(entryChunk * mail.PayloadWords)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.known.Load()
	known := make(map[uint32]*payloadEntry, len(old)+entryChunk)
	for at, e := range old {
		known[at] = e
	}
	for i := range uint32(entryChunk) {
		e := &payloadEntry{at: at + i*mail.PayloadWords, chunk: at}
		known[e.at] = e
		m.unused = append(m.unused, e)
	}
	m.known.Store(&known)
	return nil
}

// retain counts a message with a reference.
func (m *PayloadMemory) retain(r payloadRef) error {
	e := (*m.known.Load())[r.entry]
	if e == nil {
		return fmt.Errorf("ring: %w: the reference names no payload of this runtime", ErrReleased)
	}
	for {
		v := e.hosts.Load()
		if uint32(v>>32) != r.generation || uint32(v) == 0 || e.programs.Load() == 0 {
			return fmt.Errorf("ring: %w", ErrReleased)
		}
		if e.hosts.CompareAndSwap(v, v+1) {
			break
		}
	}
	if err := e.check(r); err != nil { // what is held does not change
		return errors.Join(err, m.release(e))
	}
	return nil
}

// check reports whether a reference lies in the payload of an entry that is held.
func (e *payloadEntry) check(r payloadRef) error {
	first, n := e.offset/e.each, e.size/e.each
	if lo, hi := int64(r.offset), int64(r.offset)+int64(r.length); lo < first || hi > first+n {
		return invalid("a reference to the elements %d to %d of a payload that has %d", lo-first, hi-first, n)
	}
	return nil
}

// requireType reports, as an error, if a payload that is held, and named by a reference, has
// other elements than the type of the reference says: Go converts references of one type
// to another.
func (m *PayloadMemory) requireType(r payloadRef, elem reflect.Type) error {
	if e := (*m.known.Load())[r.entry]; e.elem != elem {
		return invalid("a reference to elements of type %v of a payload of %v; make the payload with the type that the message has", elem, e.elem)
	}
	return nil
}

// release ends the hold of a message with a payloadRef, or of the program.
func (m *PayloadMemory) release(e *payloadEntry) error {
	v := e.hosts.Add(1<<64 - 1)
	if uint32(v) != 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lend(e, v)
}

// lend notes that the host does not hold a payload any more, unless it does again.
// m.mu is held.
func (m *PayloadMemory) lend(e *payloadEntry, hosts uint64) error {
	if m.closed || e.use != held || e.hosts.Load() != hosts {
		return nil
	}
	e.use = lent
	m.lent = append(m.lent, e)
	return m.post.write(e.at, hosts|uint64(e.taken)<<1)
}

func (h *hold) release() error {
	m := h.memory
	m.mu.Lock()
	closed := m.closed
	delete(m.holds, h)
	m.mu.Unlock()
	if closed {
		return errRuntimeClosed
	}
	h.entry.programs.Add(-1)
	return m.release(h.entry)
}

// open gives the program a hold on the payload of a payloadRef, in place of one that
// an actor has if take is set. It calls view while the memory cannot be closed.
func (m *PayloadMemory) open(r payloadRef, elem reflect.Type, take bool, view func(payloadRef)) (*hold, error) {
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
	return m.hold(e, int64(r.length)*e.each), nil
}

// adopt counts a message from an actor on the device to one on the host. The sender's
// hold goes to the receiver; this one is the message's own.
func (m *PayloadMemory) adopt(r payloadRef) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.join(r, false)
	return err
}

// join gives the host a hold on the payload of a reference. m.mu is held.
func (m *PayloadMemory) join(r payloadRef, take bool) (*payloadEntry, error) {
	e, err := m.entryOf(r)
	if err == nil {
		err = e.check(r)
	}
	if err != nil {
		return nil, err
	}
	v := e.hosts.Add(1) // from here on no message that ends is the last hold
	err = m.reopen(e, uint32(v) == 1, take)
	if err != nil {
		if v := e.hosts.Add(1<<64 - 1); uint32(v) == 0 {
			err = errors.Join(err, m.lend(e, v))
		}
		return nil, err
	}
	return e, nil
}

// entryOf is the entry of the payload that a reference names. m.mu is held.
func (m *PayloadMemory) entryOf(r payloadRef) (*payloadEntry, error) {
	if m.closed {
		return nil, errRuntimeClosed
	}
	e := (*m.known.Load())[r.entry]
	if e == nil || e.use == unused || uint32(e.hosts.Load()>>32) != r.generation {
		return nil, fmt.Errorf("ring: %w", ErrReleased)
	}
	return e, nil
}

// reopen tells actors that the host holds a payload, if only they have held it so far,
// or has taken over a hold of theirs. m.mu is held.
func (m *PayloadMemory) reopen(e *payloadEntry, first, take bool) error {
	if !first && !take {
		return nil
	}
	actors, err := m.actors(e, nil)
	switch {
	case err != nil:
		return err
	case actors == 0 && first:
		return fmt.Errorf("ring: %w", ErrReleased)
	case actors == 0:
		return invalid("no actor has a hold on the payload to take over; retain it in the handler before its reference is sent")
	}
	taken := e.taken
	if take {
		taken++
	}
	if err := m.post.write(e.at, e.hosts.Load()&^math.MaxUint32|uint64(taken)<<1|1); err != nil {
		return err
	}
	e.taken = taken
	if e.use == lent {
		e.use = held
		m.lent = slices.DeleteFunc(m.lent, func(l *payloadEntry) bool { return l == e })
	}
	return nil
}

// actors counts the holds that actors on the device have on a payload. read, if not
// nil, has the entries of chunks that were read before. m.mu is held.
func (m *PayloadMemory) actors(e *payloadEntry, read map[uint32][]uint64) (int, error) {
	if read == nil {
		var words [2]uint64
		err := m.post.read(e.at, words[:])
		return int(uint32(words[mail.PayloadActors])) - int(e.taken), err
	}
	words := read[e.chunk]
	if words == nil {
		words = make([]uint64, entryChunk*mail.PayloadWords)
		if err := m.post.read(e.chunk, words); err != nil {
			return 0, err
		}
		read[e.chunk] = words
	}
	return int(uint32(words[e.at-e.chunk+mail.PayloadActors])) - int(e.taken), nil
}

// reclaim frees the payloads that nobody holds any more. m.mu is held.
func (m *PayloadMemory) reclaim() error {
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

// close frees the memory and says what the program has not released. No actor runs.
func (m *PayloadMemory) close() error {
	m.making.Lock()
	defer m.making.Unlock()
	m.ended = true
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	var leak error
	if len(m.holds) > 0 {
		leak = newPayloadLeakError(m.holds)
	}
	return errors.Join(leak, m.buffer.Close())
}

// extent is bytes of the memory, from lo to hi-1.
type extent struct{ lo, hi int64 }

// extents are what is free, in order; none touches the next.
type extents []extent

// take finds the first room for so many bytes that begins at a multiple of align.
func (s *extents) take(bytes, align int64) (offset int64, ok bool) {
	for i, f := range *s {
		at := (f.lo + align - 1) / align * align
		if at+bytes > f.hi {
			continue
		}
		rest := make([]extent, 0, 2)
		for _, r := range [...]extent{{f.lo, at}, {at + bytes, f.hi}} {
			if r.lo < r.hi {
				rest = append(rest, r)
			}
		}
		*s = slices.Replace(*s, i, i+1, rest...)
		return at, true
	}
	return 0, false
}

// add gives room back.
func (s *extents) add(f extent) {
	i, _ := slices.BinarySearchFunc(*s, f, func(x, y extent) int { return cmp.Compare(x.lo, y.lo) })
	j := i
	if i > 0 && (*s)[i-1].hi == f.lo {
		i--
		f.lo = (*s)[i].lo
	}
	if j < len(*s) && (*s)[j].lo == f.hi {
		f.hi = (*s)[j].hi
		j++
	}
	*s = slices.Replace(*s, i, j, f)
}

// sizes returns how much is free, and how much of that in one piece.
func (s extents) sizes() (sum, largest int64) {
	for _, f := range s {
		sum, largest = sum+f.hi-f.lo, max(largest, f.hi-f.lo)
	}
	return sum, largest
}

func gcd(x, y int64) int64 {
	for y != 0 {
		x, y = y, x%y
	}
	return x
}

// PayloadHolder is a line of the program that has payloads it did not release.
type PayloadHolder struct {
	Function string // "main.load"
	File     string
	Line     int

	Payloads int
	Bytes    int64
}

// PayloadLeakError is what closing a runtime returns if the program has not released
// all payloads. Their memory has been freed all the same.
type PayloadLeakError struct {
	Payloads int
	Bytes    int64
	Holders  []PayloadHolder // most bytes first
}

// Error names the lines that hold most bytes.
func (e *PayloadLeakError) Error() string {
	const shown = 5
	var b strings.Builder
	fmt.Fprintf(&b, "ring: payloads that were not released: %d (%d bytes)", e.Payloads, e.Bytes)
	for i, h := range e.Holders[:min(shown, len(e.Holders))] {
		fmt.Fprintf(&b, "%c %s (%s:%d): %d, %d bytes", ":;"[min(i, 1)], h.Function, filepath.Base(h.File), h.Line, h.Payloads, h.Bytes)
	}
	if more := len(e.Holders) - shown; more > 0 {
		fmt.Fprintf(&b, "; and %d more places", more)
	}
	return b.String()
}

func newPayloadLeakError(holds map[*hold]struct{}) *PayloadLeakError {
	type place struct {
		function, file string
		line           int
	}
	sums := map[place]*PayloadHolder{}
	e := &PayloadLeakError{Payloads: len(holds)}
	for h := range holds {
		var p place
		p.function, p.file, p.line = caller(h.site[:])
		if sums[p] == nil {
			sums[p] = &PayloadHolder{Function: p.function, File: p.file, Line: p.line}
		}
		sums[p].Payloads++
		sums[p].Bytes += h.bytes
		e.Bytes += h.bytes
	}
	for _, h := range sums {
		e.Holders = append(e.Holders, *h)
	}
	slices.SortFunc(e.Holders, func(x, y PayloadHolder) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	return e
}

// caller returns the innermost of the calls that is not in this package, or in its
// tests.
func caller(pcs []uintptr) (function, file string, line int) {
	frames := runtime.CallersFrames(pcs[:slices.Index(append(pcs, 0), 0)])
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, "quern.dev/ring.") && !strings.HasSuffix(f.File, "_test.go")
		if !inside || !more {
			name := strings.ReplaceAll(f.Function, "[...]", "") // type arguments
			return name[strings.LastIndex(name, "/")+1:], f.File, f.Line
		}
	}
}
