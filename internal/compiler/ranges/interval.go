package ranges

import (
	"math"
	"math/bits"

	"quern.dev/internal/compiler/ir"
)

// interval is a range of mathematical integers. math.MinInt64 as lo and math.MaxInt64
// as hi mean no bound.
type interval struct{ lo, hi int64 }

const (
	noLo = math.MinInt64
	noHi = math.MaxInt64
)

var int32s = interval{math.MinInt32, math.MaxInt32}

// exact reports whether the interval is a single value.
func (r interval) exact() bool { return r.lo == r.hi }

func (r interval) within(s interval) bool { return r.lo >= s.lo && r.hi <= s.hi }

func (r interval) hull(s interval) interval { return interval{min(r.lo, s.lo), max(r.hi, s.hi)} }

func (r interval) meet(s interval) interval { return interval{max(r.lo, s.lo), min(r.hi, s.hi)} }

func (r interval) add(s interval) interval {
	lo, hi := saturatedAdd(r.lo, s.lo), saturatedAdd(r.hi, s.hi)
	if r.lo == noLo || s.lo == noLo {
		lo = noLo
	}
	if r.hi == noHi || s.hi == noHi {
		hi = noHi
	}
	return interval{lo, hi}
}

func (r interval) mul(s interval) interval {
	a, b := saturatedMul(r.lo, s.lo), saturatedMul(r.lo, s.hi)
	c, d := saturatedMul(r.hi, s.lo), saturatedMul(r.hi, s.hi)
	return interval{min(a, b, c, d), max(a, b, c, d)}
}

func (r interval) scale(k int64) interval {
	a, b := saturatedMul(r.lo, k), saturatedMul(r.hi, k)
	return interval{min(a, b), max(a, b)}
}

func saturatedAdd(x, y int64) int64 {
	v := x + y
	if (x^v)&(y^v) >= 0 {
		return v
	}
	if x < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// saturatedMul multiplies bounds; an infinite bound stays infinite.
func saturatedMul(x, y int64) int64 {
	if x == 0 || y == 0 {
		return 0
	}
	if v, ok := exactMul(x, y); ok && !unbounded(x) && !unbounded(y) {
		return v
	}
	if (x < 0) != (y < 0) {
		return math.MinInt64
	}
	return math.MaxInt64
}

func unbounded(x int64) bool { return x == noLo || x == noHi }

func exactMul(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	signed := int64(hi) - x>>63&y - y>>63&x
	return int64(lo), signed == int64(lo)>>63
}

func exactAdd(x, y int64) (int64, bool) {
	v := x + y
	return v, (x^v)&(y^v) >= 0
}

// floorDiv returns x/y rounded down, for y > 0.
func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}

// ceilDiv returns x/y rounded up, for y > 0.
func ceilDiv(x, y int64) int64 {
	q := x / y
	if x%y > 0 {
		q++
	}
	return q
}

// kindRange returns the range of an integer kind. The upper end of uint64 and uint
// means no bound.
func kindRange(k ir.Kind) interval {
	switch k {
	case ir.Int8:
		return interval{math.MinInt8, math.MaxInt8}
	case ir.Int16:
		return interval{math.MinInt16, math.MaxInt16}
	case ir.Int32:
		return int32s
	case ir.Uint8:
		return interval{0, math.MaxUint8}
	case ir.Uint16:
		return interval{0, math.MaxUint16}
	case ir.Uint32:
		return interval{0, math.MaxUint32}
	case ir.Uint64, ir.Uint:
		return interval{0, noHi}
	}
	return interval{noLo, noHi}
}

// computable returns the range in which an arithmetic result of kind k cannot have
// wrapped: the range of the kind without the ends that mean no bound.
func computable(k ir.Kind) interval {
	r := kindRange(k)
	if r.lo == noLo {
		r.lo++
	}
	if r.hi == noHi {
		r.hi--
	}
	return r
}
