package kernel_test

import (
	"math"
	"testing"

	"quern.dev/kernel"
)

// The expected values are the known answers of the Random123 distribution.
func TestPhiloxGivesTheKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := kernel.Philox(c.counter, c.key); got != c.want {
			t.Errorf("Philox(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

func TestRandomDrawsWordsInOrder(t *testing.T) {
	const seed, sequence = 0x1122334455667788, 0x99aabbccddeeff00
	r := kernel.NewRandom(seed, sequence)
	for position := range uint32(3) {
		want := kernel.Philox([4]uint32{position, 0, 0xddeeff00, 0x99aabbcc}, [2]uint32{0x55667788, 0x11223344})
		for i, w := range want {
			if got := r.Uint32(); got != w {
				t.Fatalf("word %d of block %d is %x, want %x", i, position, got, w)
			}
		}
	}
	r.Uint32()
	r.Skip(2)
	if got, want := r.Uint32x4(), kernel.Philox([4]uint32{6, 0, 0xddeeff00, 0x99aabbcc}, [2]uint32{0x55667788, 0x11223344}); got != want {
		t.Errorf("after Skip(2): %x, want %x", got, want)
	}
}

// The test checks the mean, variance and, for the normal distribution, kurtosis
// of n draws to within five standard errors.
func TestDistributionsHaveTheExpectedMoments(t *testing.T) {
	const n = 1 << 20
	type moments struct{ mean, variance, fourth float64 }
	for name, c := range map[string]struct {
		draw func(r *kernel.Random) float64
		want moments
	}{
		"Float32":     {func(r *kernel.Random) float64 { return float64(r.Float32()) }, moments{0.5, 1.0 / 12, 1.0 / 80}},
		"Float64":     {func(r *kernel.Random) float64 { return r.Float64() }, moments{0.5, 1.0 / 12, 1.0 / 80}},
		"Normal x":    {func(r *kernel.Random) float64 { x, _ := r.Normal(); return float64(x) }, moments{0, 1, 3}},
		"Normal y":    {func(r *kernel.Random) float64 { _, y := r.Normal(); return float64(y) }, moments{0, 1, 3}},
		"Exponential": {func(r *kernel.Random) float64 { return float64(r.Exponential()) }, moments{1, 1, 9}},
		"Uint32N":     {func(r *kernel.Random) float64 { return float64(r.Uint32N(6)) }, moments{2.5, 35.0 / 12, 14.729166}},
	} {
		r := kernel.NewRandom(7, 0)
		var sum, squares float64
		for range n {
			x := c.draw(&r) - c.want.mean
			sum += x
			squares += x * x
		}
		if e := math.Abs(sum / n); e > 5*math.Sqrt(c.want.variance/n) {
			t.Errorf("%s: the mean is off by %g", name, e)
		}
		if e := math.Abs(squares/n - c.want.variance); e > 5*math.Sqrt((c.want.fourth-c.want.variance*c.want.variance)/n) {
			t.Errorf("%s: the variance is off by %g", name, e)
		}
	}
}

func TestUniformsStayBelowOne(t *testing.T) {
	if got := kernel.UnitFloat32(math.MaxUint32); got >= 1 || got != 1-0x1p-24 {
		t.Errorf("UnitFloat32(all ones) = %g", got)
	}
	if got := kernel.UnitFloat32(255); got != 0 {
		t.Errorf("UnitFloat32(255) = %g", got)
	}
}
