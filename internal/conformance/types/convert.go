package types

import (
	"quern.dev/internal/conformance/types/levels"
	"quern.dev/kernel"
)

// truncated converts in a function, which generated Go could call directly.
func truncated[To kernel.Integer, From kernel.Float](x From) To { return To(x) }

// toIntegers converts floats in all ways, including floats out of the integers' range.
//
//quern:kernel instantiate=float32:int8,float32:uint8,float32:int16,float32:uint16,float32:int32,float32:uint32,float32:int64,float32:uint64,float32:int,float32:uint,float64:int8,float64:uint8,float64:int16,float64:uint16,float64:int32,float64:uint32,float64:int64,float64:uint64,float64:int,float64:uint
func toIntegers[From kernel.Float, To kernel.Integer](t kernel.Thread, x []From, direct, called, asked []To) {
	if i := t.Global(); i < len(x) && i < len(direct) && i < len(called) && i < len(asked) {
		direct[i] = To(x[i])
		called[i] = truncated[To](x[i])
		asked[i] = kernel.ToInteger[To](x[i])
	}
}

// level is a defined numeric type, duo a struct with methods.
type (
	level uint8
	duo   struct{ R, G float32 }
)

func (p *duo) levels() [2]level { return [2]level{level(p.R), level(255 * p.G)} }

// pack has a loop and several results.
func pack(p []duo) (sum uint32, high int8, ok bool) {
	for i := range p {
		l := p[i].levels()
		sum = sum<<8 | uint32(l[0])
		if l[1] > 200 {
			return sum, int8(p[i].G * 1e6), true
		}
	}
	return sum, -1, false
}

// toLevels converts in functions and methods, with several types, and computes with
// constants.
//
//quern:kernel
func toLevels(t kernel.Thread, x []float32, levelsOf [][2]level, packed []uint32, bytes []uint8, shorts []int16, tiny []int8, words []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	p := [2]duo{{x[i], x[i]}, {R: 1}}
	levelsOf[i] = p[0].levels()
	sum, high, ok := pack(p[:])
	if ok {
		sum += uint32(high)
	}
	packed[i] = sum
	s := levels.Scale{By: 2}
	bytes[i], shorts[i], tiny[i] = levels.Byte(x[i]), s.Level(x[i]), levels.NewGauge(3).Level(x[i])
	huge := float32(1e10)
	z := complex(float64(x[i]), -1e300)
	h := kernel.ToFloat16(x[i])
	words[6*i], words[6*i+1], words[6*i+2] = int32(huge), int32(real(z)), int32(imag(z))
	words[6*i+3], words[6*i+4] = int32(h.Float64()*1e6), kernel.FromFloat32[int32](x[i]*x[i])
	words[6*i+5] = int32(uint8(int32(x[i]))) + int32(float32(uint8(i))*0.5)
}
