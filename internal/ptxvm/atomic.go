package ptxvm

import (
	"math"
	"sync/atomic"
	"unsafe"
)

// decodeAtomic decodes atom, and red, which is atom without a result.
func decodeAtomic(d *decoder) {
	a := &d.in.access
	a.read, a.write, a.strong = true, true, true
	switch d.mod("relaxed", "acquire", "release", "acq_rel") {
	case "acquire":
		a.acquire = true
	case "release":
		a.release = true
	case "acq_rel":
		a.acquire, a.release = true, true
	}
	d.drop(scopeModifiers...)
	a.space, _ = d.space()
	op := d.mod("add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas")
	d.mod("noftz")
	t := d.typ()
	sources := 1
	if op == "cas" {
		sources = 2
	}
	first := 1
	if d.opcode == "red" {
		first = 0
	}
	d.want(first+1+sources, first+1+sources)
	result := operand{kind: sinkOperand}
	if first == 1 {
		result = d.args[0]
	}
	a.size = uint8(t.size())
	d.in.d = d.target(result, t.register(), false)
	d.address(d.args[first], a.space)
	d.in.b = d.source(first+1, t.register())
	if op == "cas" {
		d.in.c = d.source(first+2, t)
	}
	d.emit(atomicExec(op, t))
}

func atomicExec(op string, t dataType) exec {
	switch {
	case op == "cas" && t == b32:
		return compareAndSwap32
	case op == "cas" && t == b64:
		return compareAndSwap64
	case t.size() == 2 && op == "add" && (t == f16 || t == bf16):
		return addHalf(t)
	case t.size() == 4:
		if f := atomicInt32(op, t); f != nil {
			return update32(f)
		}
	case t.size() == 8:
		if f := atomicInt64(op, t); f != nil {
			return update64(f)
		}
	}
	return nil
}

// update32 returns the execution that atomically replaces a word with f(word, operand).
func update32(f func(old, operand uint32) uint32) exec {
	return func(t *thread, in *instr) {
		p := (*uint32)(t.pointer(in))
		if p == nil {
			return
		}
		operand := uint32(t.regs[in.b])
		for {
			old := atomic.LoadUint32(p)
			if atomic.CompareAndSwapUint32(p, old, f(old, operand)) {
				t.regs[in.d] = uint64(old)
				return
			}
		}
	}
}

// update64 is update32 for 64 bits.
func update64(f func(old, operand uint64) uint64) exec {
	return func(t *thread, in *instr) {
		p := (*uint64)(t.pointer(in))
		if p == nil {
			return
		}
		operand := t.regs[in.b]
		for {
			old := atomic.LoadUint64(p)
			if atomic.CompareAndSwapUint64(p, old, f(old, operand)) {
				t.regs[in.d] = old
				return
			}
		}
	}
}

func compareAndSwap32(t *thread, in *instr) {
	p := (*uint32)(t.pointer(in))
	if p == nil {
		return
	}
	compare, value := uint32(t.regs[in.b]), uint32(t.regs[in.c])
	for {
		old := atomic.LoadUint32(p)
		if old != compare || atomic.CompareAndSwapUint32(p, old, value) {
			t.regs[in.d] = uint64(old)
			return
		}
	}
}

func compareAndSwap64(t *thread, in *instr) {
	p := (*uint64)(t.pointer(in))
	if p == nil {
		return
	}
	compare, value := t.regs[in.b], t.regs[in.c]
	for {
		old := atomic.LoadUint64(p)
		if old != compare || atomic.CompareAndSwapUint64(p, old, value) {
			t.regs[in.d] = old
			return
		}
	}
}

// atomicInt32 returns the function of operation op on the 32-bit type t, or nil if there
// is none.
func atomicInt32(op string, t dataType) func(old, operand uint32) uint32 {
	switch t {
	case f32:
		switch op {
		case "add":
			return func(old, operand uint32) uint32 {
				return math.Float32bits(math.Float32frombits(old) + math.Float32frombits(operand))
			}
		case "exch":
			return exchange[uint32]
		}
		return nil
	case f16x2, bf16x2:
		return atomicHalf(op, t)
	case s32:
		switch op {
		case "min":
			return func(old, operand uint32) uint32 { return uint32(min(int32(old), int32(operand))) }
		case "max":
			return func(old, operand uint32) uint32 { return uint32(max(int32(old), int32(operand))) }
		}
	}
	return atomicUnsigned[uint32](op)
}

// atomicInt64 is atomicInt32 for 64-bit types.
func atomicInt64(op string, t dataType) func(old, operand uint64) uint64 {
	switch t {
	case f64:
		switch op {
		case "add":
			return func(old, operand uint64) uint64 {
				return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(operand))
			}
		case "exch":
			return exchange[uint64]
		}
		return nil
	case s64:
		switch op {
		case "min":
			return func(old, operand uint64) uint64 { return uint64(min(int64(old), int64(operand))) }
		case "max":
			return func(old, operand uint64) uint64 { return uint64(max(int64(old), int64(operand))) }
		}
	}
	return atomicUnsigned[uint64](op)
}

func exchange[T unsigned](_, operand T) T { return operand }

func atomicUnsigned[T unsigned](op string) func(old, operand T) T {
	switch op {
	case "add":
		return func(old, operand T) T { return old + operand }
	case "min":
		return func(old, operand T) T { return min(old, operand) }
	case "max":
		return func(old, operand T) T { return max(old, operand) }
	case "and":
		return func(old, operand T) T { return old & operand }
	case "or":
		return func(old, operand T) T { return old | operand }
	case "xor":
		return func(old, operand T) T { return old ^ operand }
	case "exch":
		return exchange[T]
	case "inc":
		return func(old, operand T) T {
			if old >= operand {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, operand T) T {
			if old == 0 || old > operand {
				return operand
			}
			return old - 1
		}
	}
	return nil
}

// atomicHalf returns the function that adds pairs of 16-bit floats, or nil if there is
// none.
func atomicHalf(op string, t dataType) func(old, operand uint32) uint32 {
	if op != "add" {
		return nil
	}
	format := halfFormats[t]
	one := func(a, b uint16) uint32 {
		return uint32(format.encode(sumToOdd(format.decode(a), format.decode(b)), toNearestEven))
	}
	return func(old, operand uint32) uint32 {
		return one(uint16(old), uint16(operand)) | one(uint16(old>>16), uint16(operand>>16))<<16
	}
}

// addHalf returns the execution that atomically adds to one 16-bit float. It replaces the
// aligned word that contains the float.
func addHalf(t dataType) exec {
	format := halfFormats[t]
	return func(t *thread, in *instr) {
		p := t.pointer(in)
		if p == nil {
			return
		}
		shift := uintptr(p) & 2 * 8
		word := (*uint32)(unsafe.Add(p, -int(uintptr(p)&2)))
		operand := uint16(t.regs[in.b])
		for {
			all := atomic.LoadUint32(word)
			old := uint16(all >> shift)
			sum := uint32(format.encode(sumToOdd(format.decode(old), format.decode(operand)), toNearestEven))
			if atomic.CompareAndSwapUint32(word, all, all&^(0xFFFF<<shift)|sum<<shift) {
				t.regs[in.d] = uint64(old)
				return
			}
		}
	}
}

// decodeFence decodes membar and fence. Every fence is a full fence.
func decodeFence(d *decoder) {
	d.drop("gl", "sc", "acq_rel", "acquire", "release", "proxy", "alias", "async", "mbarrier_init", "shared::cta")
	d.drop(scopeModifiers...)
	if d.mod("tensormap::generic") != "" {
		d.want(0, 2) // an acquire names the map
	} else {
		d.want(0, 0)
	}
	d.emit(func(t *thread, _ *instr) {
		if t.b.checks {
			t.fence()
			return
		}
		// On the host, an atomic access orders the plain accesses around it.
		atomic.AddUint32(&t.b.fences, 1)
	})
}
