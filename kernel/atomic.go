package kernel

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// AtomicInteger is the set of integer types that the atomic operations support.
type AtomicInteger interface {
	~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~uint
}

// AtomicNumber is the set of types that most atomic operations support.
type AtomicNumber interface {
	AtomicInteger | Float
}

// AtomicAddend is the set of types that [AtomicAdd] supports.
type AtomicAddend interface {
	AtomicNumber | Float16 | BFloat16
}

// The operations below switch on the size and kind of T. Both are constants in
// each instance, so only one branch remains.

func words[T AtomicNumber]() bool {
	var v T
	return unsafe.Sizeof(v) == 4
}

func integral[T AtomicNumber]() bool {
	return T(1)/T(2) == 0
}

// word and dword return *p as an integer of the same size; from32 and from64
// convert back. The caller has checked the size. T is a number, so it has no
// pointers and is aligned to its size.
func word[T any](p *T) *uint32  { return (*uint32)(unsafe.Pointer(p)) }
func dword[T any](p *T) *uint64 { return (*uint64)(unsafe.Pointer(p)) }

func from32[T any](v uint32) T { return *(*T)(unsafe.Pointer(&v)) }
func from64[T any](v uint64) T { return *(*T)(unsafe.Pointer(&v)) }

func load[T AtomicNumber](p *T) T {
	if words[T]() {
		return from32[T](atomic.LoadUint32(word(p)))
	}
	return from64[T](atomic.LoadUint64(dword(p)))
}

// compareAndSwap replaces old with v at p and reports whether it did. It compares
// bits.
func compareAndSwap[T AtomicNumber](p *T, old, v T) bool {
	if words[T]() {
		return atomic.CompareAndSwapUint32(word(p), *word(&old), *word(&v))
	}
	return atomic.CompareAndSwapUint64(dword(p), *dword(&old), *dword(&v))
}

// AtomicAdd adds v to *p and returns the old value.
func AtomicAdd[T AtomicAddend](p *T, v T, _ ...Scope) T {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Float32:
		return update(p, func(old T) T { return sum[T, float32](old, v) })
	case reflect.Float64:
		return update(p, func(old T) T { return sum[T, float64](old, v) })
	case reflect.Struct:
		return addHalf(p, v)
	case reflect.Int32, reflect.Uint32:
		d := *word(&v)
		return from32[T](atomic.AddUint32(word(p), d) - d)
	}
	d := *dword(&v)
	return from64[T](atomic.AddUint64(dword(p), d) - d)
}

// sum adds two values of type T, whose underlying type is F.
func sum[T any, F Float](x, y T) T {
	s := *(*F)(unsafe.Pointer(&x)) + *(*F)(unsafe.Pointer(&y))
	return *(*T)(unsafe.Pointer(&s))
}

// update replaces *p, a value of 32 or 64 bits, with f(*p), and returns the old
// value.
func update[T any](p *T, f func(T) T) T {
	for {
		if unsafe.Sizeof(*p) == 4 {
			old := atomic.LoadUint32(word(p))
			v := f(from32[T](old))
			if atomic.CompareAndSwapUint32(word(p), old, *word(&v)) {
				return from32[T](old)
			}
			continue
		}
		old := atomic.LoadUint64(dword(p))
		v := f(from64[T](old))
		if atomic.CompareAndSwapUint64(dword(p), old, *dword(&v)) {
			return from64[T](old)
		}
	}
}

// addHalf adds v to a 16-bit float: it replaces the 32-bit word that contains the
// float. All supported machines are little-endian.
func addHalf[T any](p *T, v T) T {
	at := unsafe.Pointer(p)
	shift := uintptr(at) & 2 * 8
	// Reading the whole 32-bit word is safe: memory that kernels share is
	// allocated in whole words.
	w := (*uint32)(unsafe.Add(at, -int(uintptr(at)&2)))
	for {
		all := atomic.LoadUint32(w)
		bits := uint16(all >> shift)
		old := *(*T)(unsafe.Pointer(&bits))
		var sum uint16
		switch v := any(v).(type) {
		case Float16:
			sum = Float16FromBits(bits).Add(v).Bits()
		case BFloat16:
			sum = BFloat16FromBits(bits).Add(v).Bits()
		}
		if atomic.CompareAndSwapUint32(w, all, all&^(0xFFFF<<shift)|uint32(sum)<<shift) {
			return old
		}
	}
}

// AtomicSub subtracts v from *p and returns the old value.
func AtomicSub[T AtomicNumber](p *T, v T, _ ...Scope) T {
	return AtomicAdd(p, -v)
}

// AtomicMin stores the smaller of *p and v and returns the old value. For floats,
// -0 is smaller than +0, and a NaN is larger than every number. The result is
// undefined if *p is a NaN with its sign bit set.
func AtomicMin[T AtomicNumber](p *T, v T, _ ...Scope) T {
	for {
		old := load(p)
		if !less(v, old) || compareAndSwap(p, old, v) {
			return old
		}
	}
}

// AtomicMax stores the larger of *p and v and returns the old value. Floats are
// ordered as in [AtomicMin].
func AtomicMax[T AtomicNumber](p *T, v T, _ ...Scope) T {
	for {
		old := load(p)
		if !less(old, v) || compareAndSwap(p, old, v) {
			return old
		}
	}
}

// less reports whether x comes before y in the order of AtomicMin.
func less[T AtomicNumber](x, y T) bool {
	switch {
	case x != x:
		return false
	case y != y:
		return true
	case integral[T]() || x != y:
		return x < y
	}
	return 1/x < 1/y // both are zero: compare the signs
}

// AtomicAnd stores *p & v and returns the old value.
func AtomicAnd[T AtomicInteger](p *T, v T, _ ...Scope) T {
	if words[T]() {
		return T(atomic.AndUint32(word(p), uint32(v)))
	}
	return T(atomic.AndUint64(dword(p), uint64(v)))
}

// AtomicOr stores *p | v and returns the old value.
func AtomicOr[T AtomicInteger](p *T, v T, _ ...Scope) T {
	if words[T]() {
		return T(atomic.OrUint32(word(p), uint32(v)))
	}
	return T(atomic.OrUint64(dword(p), uint64(v)))
}

// AtomicXor stores *p ^ v and returns the old value.
func AtomicXor[T AtomicInteger](p *T, v T, _ ...Scope) T {
	for {
		old := load(p)
		if compareAndSwap(p, old, old^v) {
			return old
		}
	}
}

// AtomicExchange stores v and returns the old value.
func AtomicExchange[T AtomicNumber](p *T, v T, _ ...Scope) T {
	if words[T]() {
		return from32[T](atomic.SwapUint32(word(p), *word(&v)))
	}
	return from64[T](atomic.SwapUint64(dword(p), *dword(&v)))
}

// AtomicCompareAndSwap stores v if *p equals old. It returns the previous value
// of *p; the swap took place if that equals old. Floats are compared by their
// bits.
func AtomicCompareAndSwap[T AtomicNumber](p *T, old, v T, _ ...Scope) T {
	for {
		if now := load(p); !equalBits(now, old) {
			return now
		}
		if compareAndSwap(p, old, v) {
			return old
		}
	}
}

func equalBits[T AtomicNumber](x, y T) bool {
	if words[T]() {
		return *word(&x) == *word(&y)
	}
	return *dword(&x) == *dword(&y)
}
