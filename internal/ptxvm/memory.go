package ptxvm

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// In a checked memory each allocation is in the middle of its own 64 GiB slot. An address
// therefore identifies its allocation, and a stray access between two allocations is
// attributed to the nearer one.
const (
	slotShift      = 36
	slotBase       = 1 << (slotShift - 1)
	maxAllocation  = slotBase
	quarantineSize = 1 << 12 // freed slots that are not yet reused
)

// Generic addresses of the shared, local and parameter windows. No host has user memory
// there, so they never collide with the host pointers of a direct memory.
const (
	windowShift  = 56
	sharedWindow = 0xf1 << windowShift
	localWindow  = 0xf2 << windowShift
	paramWindow  = 0xf3 << windowShift
	firstWindow  = 0xf0 << windowShift
	windowOffset = 1<<windowShift - 1
)

// DefaultLimit is the size in bytes of a device memory if SetLimit is not called.
const DefaultLimit = 8 << 30

// ErrOutOfMemory is returned when an allocation exceeds the limit of a Memory.
var ErrOutOfMemory = errors.New("out of memory")

// AddressError reports a host access to a range that is not within one allocation.
type AddressError struct {
	Op      string // read, write, fill, copy, free
	Address uint64
	Size    int
	Detail  string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("ptxvm: %s of %d bytes at %#x: %s", e.Op, e.Size, e.Address, e.Detail)
}

// Memory is the global address space of one device. Its methods are safe for concurrent
// use. The caller must order accesses to the contents, by the host and by launches.
type Memory struct {
	direct bool

	mu     sync.Mutex
	limit  int64
	used   int64
	table  []*allocation          // by slot; immutable, because launches keep a reference
	free   []int                  // freed slots, oldest first
	owned  map[uint64]*allocation // allocations of a direct memory, by address
	images map[*Module]map[*variable]uint64

	checked   sync.Mutex // held by a checked launch: the shadow has only one clock
	raceClock uint32
}

// allocation is a range of global memory.
type allocation struct {
	base     uint64
	name     string
	bytes    []byte // 16-byte aligned
	size     uint64 // len(bytes), also after Free
	freed    bool
	readOnly bool
	adopted  bool // bytes belong to the caller and do not count toward the limit
	init     initialized
	race     shadow
	// untracked is set by unchecked launches that write: init does not include their
	// writes.
	untracked atomic.Bool
}

// NewMemory returns an empty checked address space.
func NewMemory() *Memory {
	return &Memory{limit: DefaultLimit, table: make([]*allocation, 1)}
}

// NewDirectMemory returns an address space whose addresses are pointers into the process's
// own memory. Kernels access the memory that pointers in their parameters point to,
// unchecked. The caller must keep that memory alive and off goroutine stacks until the
// launch has returned.
func NewDirectMemory() *Memory {
	return &Memory{direct: true, limit: DefaultLimit, owned: make(map[uint64]*allocation)}
}

// SetLimit sets the number of bytes that may be allocated at the same time.
func (m *Memory) SetLimit(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = bytes
}

// Used returns the number of bytes currently allocated.
func (m *Memory) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// Alloc allocates size zero bytes, which the checks treat as uninitialized, and returns
// their address. The address is a multiple of 16 or more. Faults show name.
func (m *Memory) Alloc(size int, name string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.alloc(size, name)
	if err != nil {
		return 0, err
	}
	return a.base, nil
}

func (m *Memory) alloc(size int, name string) (*allocation, error) {
	if size <= 0 || uint64(size) > maxAllocation {
		return nil, fmt.Errorf("ptxvm: alloc: %d bytes: the size is negative or too large", size)
	}
	if int64(size) > m.limit-m.used {
		return nil, fmt.Errorf("%w: %d bytes requested, %d of %d in use", ErrOutOfMemory, size, m.used, m.limit)
	}
	a := &allocation{name: name, size: uint64(size), bytes: alignedBytes(size)}
	m.used += int64(size)
	if m.direct {
		a.base = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(a.bytes)))) // owned keeps the memory alive; it does not move
		m.owned[a.base] = a
		return a, nil
	}
	a.init = newInitialized(size)
	m.place(a)
	return a, nil
}

// place assigns a slot to an allocation of a checked memory.
func (m *Memory) place(a *allocation) {
	slot := len(m.table)
	if len(m.free) > quarantineSize {
		slot = m.free[0]
		m.free = m.free[1:]
		m.table = slices.Clone(m.table)
		m.table[slot] = a
	} else {
		m.table = append(m.table, a)
	}
	a.base = uint64(slot)<<slotShift | slotBase
}

// alignedBytes returns n zero bytes, aligned to 16.
func alignedBytes(n int) []byte {
	type line [2]uint64
	lines := make([]line, (n+15)/16+1)
	start := unsafe.Pointer(unsafe.SliceData(lines))
	skip := -uintptr(start) & 15
	return unsafe.Slice((*byte)(unsafe.Add(start, skip)), n)
}

// Free ends the allocation that begins at address. The address is not reused soon, so that
// the checks detect uses after the free.
func (m *Memory) Free(address uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.find(address)
	if a == nil || a.base != address {
		return &AddressError{Op: "free", Address: address, Detail: "not the address of an allocation"}
	}
	if a.freed {
		return &AddressError{Op: "free", Address: address, Size: int(a.size), Detail: fmt.Sprintf("%q is already freed", a.name)}
	}
	m.release(a)
	return nil
}

// release ends an allocation.
func (m *Memory) release(a *allocation) {
	m.used -= int64(a.size)
	if a.adopted {
		m.limit -= int64(a.size)
	}
	if m.direct {
		delete(m.owned, a.base)
		return
	}
	slot := a.base >> slotShift
	m.table = slices.Clone(m.table)
	m.table[slot] = &allocation{base: a.base, name: a.name, size: a.size, freed: true}
	m.free = append(m.free, int(slot))
}

// find returns the allocation whose slot contains address, or nil. In a direct memory it
// returns the allocation that begins at address.
func (m *Memory) find(address uint64) *allocation {
	if m.direct {
		return m.owned[address]
	}
	slot := address >> slotShift
	if slot >= uint64(len(m.table)) {
		return nil
	}
	return m.table[slot]
}

// Read copies len(dst) bytes at address to dst. Bytes that were never written are zero.
func (m *Memory) Read(address uint64, dst []byte) error {
	src, _, err := m.span("read", address, len(dst))
	if err != nil {
		return err
	}
	copy(dst, src)
	return nil
}

// Write copies src to address and marks the bytes as initialized.
func (m *Memory) Write(address uint64, src []byte) error {
	dst, mark, err := m.span("write", address, len(src))
	if err != nil {
		return err
	}
	copy(dst, src)
	mark()
	return nil
}

// Fill fills n bytes at address with copies of pattern, whose length must divide n.
func (m *Memory) Fill(address uint64, n int, pattern []byte) error {
	if len(pattern) == 0 || n%len(pattern) != 0 {
		return &AddressError{Op: "fill", Address: address, Size: n, Detail: fmt.Sprintf("the size is not a multiple of the %d bytes of the pattern", len(pattern))}
	}
	dst, mark, err := m.span("fill", address, n)
	if err != nil {
		return err
	}
	for done := copy(dst, pattern); done < n; done *= 2 {
		copy(dst[done:], dst[:done])
	}
	mark()
	return nil
}

// Copy copies n bytes from src to dst. Uninitialized bytes of src make those of dst
// uninitialized.
func (m *Memory) Copy(dst, src uint64, n int) error {
	to, _, err := m.span("copy", dst, n)
	if err != nil {
		return err
	}
	from, _, err := m.span("copy", src, n)
	if err != nil {
		return err
	}
	copy(to, from)
	if m.direct || n == 0 {
		return nil
	}
	a, b := m.lookup(dst), m.lookup(src)
	a.init.copyRange(dst-a.base, &b.init, src-b.base, uint64(n))
	if b.untracked.Load() {
		a.init.setRange(dst-a.base, uint64(n))
	}
	return nil
}

// lookup is find for callers that do not hold the lock.
func (m *Memory) lookup(address uint64) *allocation {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.find(address)
}

// span returns the n bytes at address and a function that marks them as initialized.
func (m *Memory) span(op string, address uint64, n int) ([]byte, func(), error) {
	if n == 0 {
		return nil, func() {}, nil
	}
	if n < 0 {
		return nil, nil, &AddressError{Op: op, Address: address, Size: n, Detail: "negative size"}
	}
	if m.direct {
		if address < pageZero || address >= firstWindow {
			return nil, nil, &AddressError{Op: op, Address: address, Size: n, Detail: "no memory there"}
		}
		return unsafe.Slice((*byte)(hostPointer(address)), n), func() {}, nil
	}
	a := m.lookup(address)
	if a == nil || a.freed || address-a.base >= a.size || a.size-(address-a.base) < uint64(n) {
		detail := describeAddress(a, address)
		if a != nil && a.freed {
			detail += freedSuffix
		}
		return nil, nil, &AddressError{Op: op, Address: address, Size: n, Detail: detail}
	}
	off := address - a.base
	return a.bytes[off : off+uint64(n)], func() { a.init.setRange(off, uint64(n)) }, nil
}

// freedSuffix follows the result of describeAddress for freed memory.
const freedSuffix = ", which is freed"

// describeAddress describes where address is in relation to a, the allocation in its slot
// or nil.
func describeAddress(a *allocation, address uint64) string {
	switch {
	case a == nil:
		return "no allocation there"
	case address < a.base:
		return fmt.Sprintf("%d bytes before %q (%d bytes)", a.base-address, a.name, a.size)
	case address-a.base >= a.size:
		return fmt.Sprintf("%d bytes after the end of %q (%d bytes)", address-a.base-a.size, a.name, a.size)
	}
	return fmt.Sprintf("byte %d of %q (%d bytes)", address-a.base, a.name, a.size)
}

// pageZero is the end of the lowest addresses, where no process has memory.
const pageZero = 1 << 12

// hostPointer converts an address that a kernel computed to a pointer. It reinterprets the
// bits, because the address is not derived from a Go pointer.
func hostPointer(address uint64) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// load allocates and initializes the variables of module on first use and returns their
// addresses.
func (m *Memory) load(module *Module) (map[*variable]uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if image, ok := m.images[module]; ok {
		return image, nil
	}
	image := make(map[*variable]uint64, len(module.variables))
	allocations := make([]*allocation, len(module.variables))
	for i, v := range module.variables {
		a, err := m.alloc(max(v.size, 1), v.name)
		if err != nil {
			for _, a := range allocations[:i] {
				m.release(a)
			}
			return nil, err
		}
		a.readOnly = v.space == constSpace
		if !m.direct {
			a.init.setRange(0, a.size)
		}
		copy(a.bytes, v.init)
		image[v] = a.base
		allocations[i] = a
	}
	for i, v := range module.variables {
		for _, r := range v.relocs {
			address := image[r.variable] + r.addend
			for k := range 8 {
				allocations[i].bytes[r.offset+k] = byte(address >> (8 * k))
			}
		}
	}
	if m.images == nil {
		m.images = make(map[*Module]map[*variable]uint64)
	}
	m.images[module] = image
	return image, nil
}

// Unload frees the variables of module. The next launch of one of its kernels allocates
// and initializes them again.
func (m *Memory) Unload(module *Module) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, address := range m.images[module] {
		if a := m.find(address); a != nil && !a.freed {
			m.release(a)
		}
	}
	delete(m.images, module)
}
