package ptxvm

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Modifiers for the scope of a memory operation and for caches. Here all accesses are
// visible to all threads.
var (
	scopeModifiers = []string{"cta", "cluster", "gpu", "sys"}
	cacheModifiers = []string{
		"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
		"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
		"L2::64B", "L2::128B", "L2::256B",
	}
)

func decodeLoad(d *decoder) {
	d.in.access.read = true
	t, n := d.memoryModifiers()
	d.want(2, 2)
	d.address(d.args[1], d.in.access.space)
	if n == 1 {
		d.in.d = d.target(d.args[0], t, true)
		d.emit(loadExec(t, d.in.access.strong))
		return
	}
	d.in.slots = d.elements(d.args[0], n, func(o operand) int32 { return d.target(o, t, true) })
	d.emit(loadVectorExec(t))
}

func decodeStore(d *decoder) {
	d.in.access.write = true
	t, n := d.memoryModifiers()
	switch d.in.access.space {
	case constSpace, paramSpace:
		d.emit(nil)
	}
	d.want(2, 2)
	d.address(d.args[0], d.in.access.space)
	if n == 1 {
		d.in.b = d.value(d.args[1], t, true)
		d.emit(storeExec(t, d.in.access.strong))
		return
	}
	d.in.slots = d.elements(d.args[1], n, func(o operand) int32 { return d.value(o, t, true) })
	d.emit(storeVectorExec(t))
}

// memoryModifiers decodes the modifiers of a load or store into in.access. It returns the
// type and number of the elements.
func (d *decoder) memoryModifiers() (t dataType, n int) {
	a := &d.in.access
	switch d.mod("weak", "volatile", "relaxed", "acquire", "release", "mmio") {
	case "volatile", "relaxed", "mmio":
		d.mod("relaxed")
		a.strong = true
	case "acquire":
		a.strong, a.acquire = true, true
	case "release":
		a.strong, a.release = true, true
	}
	d.drop(scopeModifiers...)
	d.drop(cacheModifiers...)
	a.space, _ = d.space()
	n = 1
	switch d.mod("v2", "v4") {
	case "v2":
		n = 2
	case "v4":
		n = 4
	}
	t = d.typ()
	if t == pred || t.size()*n > 16 {
		d.emit(nil)
	}
	a.size = uint8(t.size() * n)
	return t, n
}

func loadExec(t dataType, strong bool) exec {
	switch t {
	case b8, u8:
		return load[uint8]
	case s8:
		return load[int8]
	case b16, u16, f16, bf16:
		return load[uint16]
	case s16:
		return load[int16]
	case s32:
		if !strong {
			return load[int32]
		}
		return func(t *thread, in *instr) {
			if p := t.pointer(in); p != nil {
				t.regs[in.d] = uint64(int32(atomic.LoadUint32((*uint32)(p))))
			}
		}
	case b64, u64, s64, f64:
		if !strong {
			return load[uint64]
		}
		return func(t *thread, in *instr) {
			if p := t.pointer(in); p != nil {
				t.regs[in.d] = atomic.LoadUint64((*uint64)(p))
				t.pause()
			}
		}
	}
	if !strong {
		return load[uint32]
	}
	return func(t *thread, in *instr) {
		if p := t.pointer(in); p != nil {
			t.regs[in.d] = uint64(atomic.LoadUint32((*uint32)(p)))
			t.pause()
		}
	}
}

// load sign-extends or zero-extends the value to the whole slot, as T says. PTX does this
// for registers wider than the access.
func load[T anyInteger](t *thread, in *instr) {
	if p := t.pointer(in); p != nil {
		t.regs[in.d] = uint64(*(*T)(p))
	}
}

func loadVectorExec(t dataType) exec {
	switch t {
	case b8, u8:
		return loadVector[uint8]
	case s8:
		return loadVector[int8]
	case b16, u16, f16, bf16:
		return loadVector[uint16]
	case s16:
		return loadVector[int16]
	case s32:
		return loadVector[int32]
	case b64, u64, s64, f64:
		return loadVector[uint64]
	}
	return loadVector[uint32]
}

func loadVector[T anyInteger](t *thread, in *instr) {
	p := t.pointer(in)
	if p == nil {
		return
	}
	for i, v := range unsafe.Slice((*T)(p), len(in.slots)) {
		t.regs[in.slots[i]] = uint64(v)
	}
}

func storeExec(t dataType, strong bool) exec {
	switch t.size() {
	case 1:
		return store[uint8]
	case 2:
		return store[uint16]
	case 4:
		if !strong {
			return store[uint32]
		}
		return func(t *thread, in *instr) {
			if p := t.pointer(in); p != nil {
				atomic.StoreUint32((*uint32)(p), uint32(t.regs[in.b]))
			}
		}
	}
	if !strong {
		return store[uint64]
	}
	return func(t *thread, in *instr) {
		if p := t.pointer(in); p != nil {
			atomic.StoreUint64((*uint64)(p), t.regs[in.b])
		}
	}
}

func store[T anyInteger](t *thread, in *instr) {
	if p := t.pointer(in); p != nil {
		*(*T)(p) = T(t.regs[in.b])
	}
}

func storeVectorExec(t dataType) exec {
	switch t.size() {
	case 1:
		return storeVector[uint8]
	case 2:
		return storeVector[uint16]
	case 4:
		return storeVector[uint32]
	}
	return storeVector[uint64]
}

func storeVector[T anyInteger](t *thread, in *instr) {
	p := t.pointer(in)
	if p == nil {
		return
	}
	elements := unsafe.Slice((*T)(p), len(in.slots))
	for i, s := range in.slots {
		elements[i] = T(t.regs[s])
	}
}

// address returns the address of the access in. The sum of a 32-bit register and an offset
// wraps around at 32 bits, as on the hardware for shared and local memory.
func (t *thread) address(in *instr) uint64 {
	sum := t.regs[in.a] + in.offset
	if in.access.narrow {
		sum &= 1<<32 - 1
	}
	return sum
}

// pointer performs all checks of the access in and returns a host pointer to its memory.
// It returns nil if a fault has stopped t.
func (t *thread) pointer(in *instr) unsafe.Pointer {
	address := t.address(in)
	if address&uint64(in.access.size-1) != 0 {
		t.misaligned(in, address)
		return nil
	}
	if in.access.strong && t.b.checks {
		t.publish(in.access)
	}
	switch in.access.space {
	case globalSpace, constSpace:
		return t.globalPointer(in, address)
	case genericSpace:
		if address < firstWindow {
			return t.globalPointer(in, address)
		}
		sp := t.b.spaceOf(address)
		if sp == globalSpace {
			t.outOfBounds(in, globalSpace, address, "no memory there")
			return nil
		}
		return t.blockPointer(in, sp, address&windowOffset)
	}
	return t.blockPointer(in, in.access.space, address)
}

// globalPointer is pointer for global and constant memory.
func (t *thread) globalPointer(in *instr, address uint64) unsafe.Pointer {
	b := t.b
	if b.direct {
		if address < pageZero || address >= firstWindow {
			t.outOfBounds(in, globalSpace, address, "no memory there")
			return nil
		}
		return hostPointer(address)
	}
	slot := address >> slotShift
	if slot >= uint64(len(b.table)) || b.table[slot] == nil {
		t.outOfBounds(in, globalSpace, address, describeAddress(nil, address)).inGlobal(nil, in, address)
		return nil
	}
	a := b.table[slot]
	size := uint64(in.access.size)
	off := address - a.base
	switch {
	case a.freed:
		t.fault(UseAfterFree, in, address, "%s: %s%s", in.access.describe(globalSpace), describeAddress(a, address), freedSuffix).inGlobal(a, in, address)
		return nil
	case off >= a.size || a.size-off < size:
		t.outOfBounds(in, globalSpace, address, describeAddress(a, address)).inGlobal(a, in, address)
		return nil
	case a.readOnly:
		if in.access.write {
			t.fault(ReadOnly, in, address, "%s", describeAddress(a, address))
			return nil
		}
	case b.checks:
		if other, ok := t.check(in, a.init, a.race, off, b.launchStart); !ok {
			t.violation(in, globalSpace, address, other, describeAddress(a, address)).inGlobal(a, in, address)
			return nil
		}
	case in.access.write && !a.untracked.Load():
		a.untracked.Store(true)
	}
	return unsafe.Pointer(&a.bytes[off])
}

// blockPointer is pointer for shared, local and parameter memory.
func (t *thread) blockPointer(in *instr, sp space, off uint64) unsafe.Pointer {
	b := t.b
	var memory []byte
	owner := b
	switch sp {
	case sharedSpace:
		if off>>rankShift != 0 {
			if owner, off = t.peer(in, off); owner == nil {
				return nil
			}
		}
		memory = owner.shared
	case localSpace:
		stride := b.entry.localStride()
		start := int(t.index) * stride
		memory = b.local[start : start+b.entry.LocalSize]
	case paramSpace:
		memory = b.params
	}
	size := uint64(in.access.size)
	if n := uint64(len(memory)); off >= n || n-off < size {
		t.outOfBounds(in, sp, off, fmt.Sprintf("byte %d of %d", off, len(memory)))
		return nil
	}
	switch {
	case !b.checks:
	case sp == sharedSpace:
		if other, ok := t.check(in, owner.sharedInit, owner.sharedRace, off, owner.blockStart); !ok {
			t.violation(in, sp, off, other, fmt.Sprintf("byte %d of %d", off, len(memory)))
			return nil
		}
	case sp == localSpace:
		init := b.localInit[t.index]
		if in.access.read && !init.has(off, in.access.size) {
			t.violation(in, sp, off, 0, fmt.Sprintf("byte %d of %d", off, len(memory)))
			return nil
		}
		if in.access.write {
			init.set(off, in.access.size)
		}
	}
	return unsafe.Pointer(&memory[off])
}

// check reports whether the checks allow an access at off. If it is not ok, other is the
// access that races with it, or zero if the access reads bytes that were never written.
func (t *thread) check(in *instr, init initialized, race shadow, off uint64, floor uint32) (other record, ok bool) {
	size := in.access.size
	if in.access.read && !init.has(off, size) {
		return 0, false
	}
	if other = race.check(t, in, off, floor); other != 0 {
		return other, false
	}
	if in.access.write {
		init.set(off, size)
	}
	return 0, true
}

// violation stops t because of a failed check. where locates the access in its memory.
func (t *thread) violation(in *instr, sp space, address uint64, other record, where string) *Fault {
	detail := in.access.describe(sp) + ": " + where
	switch {
	case other == 0 && sp == sharedSpace && t.b.copying(address, in.access.size):
		return t.fault(Uninitialised, in, address, "%s, which an asynchronous copy is still to write", detail)
	case other == 0:
		return t.fault(Uninitialised, in, address, "%s", detail)
	case sp == sharedSpace:
		return t.raceFault(SharedRace, in, address, other, detail)
	default:
		return t.raceFault(GlobalRace, in, address, other, detail)
	}
}

func (t *thread) outOfBounds(in *instr, sp space, address uint64, where string) *Fault {
	return t.fault(OutOfBounds, in, address, "%s: %s", in.access.describe(sp), where)
}

// misaligned stops t because of an access whose address is not a multiple of its size.
func (t *thread) misaligned(in *instr, address uint64) {
	const text = "%s at an address that is not a multiple of it"
	b := t.b
	slot := address >> slotShift
	global := in.access.space == globalSpace || in.access.space == constSpace || in.access.space == genericSpace && address < firstWindow
	if !global || b.direct || slot >= uint64(len(b.table)) || b.table[slot] == nil {
		t.fault(Misaligned, in, address, text, in.access.describe(in.access.space))
		return
	}
	a := b.table[slot]
	t.fault(Misaligned, in, address, text+": %s", in.access.describe(globalSpace), describeAddress(a, address)).inGlobal(a, in, address)
}
