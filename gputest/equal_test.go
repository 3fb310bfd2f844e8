package gputest

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"quern.dev/kernel"
)

// recorder is a testing.TB that records its messages.
type recorder struct {
	testing.TB
	messages []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Error(args ...any) { r.messages = append(r.messages, fmt.Sprint(args...)) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.messages = append(r.messages, "fatal: "+fmt.Sprintf(format, args...))
	runtime.Goexit()
}

// messageOf returns the message of Equal for two slices, or "" if they are equal.
func messageOf[T any](t *testing.T, got, want []T, opts ...Option) string {
	r, done := &recorder{TB: t}, make(chan bool, 1)
	go func() {
		equal := false
		defer func() { done <- equal }()
		equal = Equal(r, got, want, opts...)
	}()
	if equal := <-done; equal != (len(r.messages) == 0) {
		t.Errorf("Equal(%v, %v) returns %v and says %q", got, want, equal, r.messages)
	}
	return strings.Join(r.messages, "\n")
}

// f32 returns the float32 the given number of steps above x.
func f32(x float32, steps int) float32 {
	to := float32(math.Inf(1))
	if steps < 0 {
		to = -to
	}
	for range max(steps, -steps) {
		x = math.Nextafter32(x, to)
	}
	return x
}

func TestEqualNumbers(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	otherNaN := math.Float32frombits(0x7fc00001)
	negative := float32(math.Copysign(0, -1))
	ones := func(v float32) []float32 { return []float32{v} }
	for _, c := range []struct {
		name      string
		got, want float32
		opts      []Option
		equal     bool
	}{
		{"the same", 1.5, 1.5, nil, true},
		{"zeros of both signs", 0, negative, nil, true},
		{"neighbors", f32(1, 1), 1, nil, false},
		{"neighbors, within 1 ULP", f32(1, 1), 1, []Option{ULP(1)}, true},
		{"neighbors across a power of two", f32(1, -1), 1, []Option{ULP(1)}, true},
		{"3 steps, within 2 ULP", f32(1, 3), 1, []Option{ULP(2)}, false},
		{"the smallest numbers of both signs, within 2 ULP", f32(0, 1), f32(0, -1), []Option{ULP(2)}, true},
		{"the smallest numbers of both signs, within 1 ULP", f32(0, 1), f32(0, -1), []Option{ULP(1)}, false},
		{"numbers of both signs, within the largest ULP", -1, 1, []Option{ULP(math.MaxUint32)}, true},
		{"numbers within an absolute difference", 100.5, 100, []Option{Abs(0.5)}, true},
		{"numbers beyond an absolute difference", 100.75, 100, []Option{Abs(0.5)}, false},
		{"numbers within a relative difference", 101, 100, []Option{Rel(0.01)}, true},
		{"numbers beyond a relative difference", 101, 100, []Option{Rel(0.009)}, false},
		{"one of several tolerances is enough", f32(1e-30, 5), 1e-30, []Option{ULP(2), Abs(1e-6)}, true},
		{"infinities", inf, inf, nil, true},
		{"infinities of both signs", inf, -inf, []Option{Abs(math.Inf(1))}, false},
		{"infinity and the largest number, within 1 ULP", inf, math.MaxFloat32, []Option{ULP(1)}, false},
		{"infinity and a number, by a relative difference", 1, inf, []Option{Rel(1)}, false},
		{"NaN", nan, nan, nil, false},
		{"NaN, allowed", nan, otherNaN, []Option{NaNEqual}, true},
		{"NaN and a number, allowed", nan, 0, []Option{NaNEqual, ULP(math.MaxUint32), Abs(math.Inf(1)), Rel(math.Inf(1))}, false},
		{"a number and NaN, allowed", 0, nan, []Option{NaNEqual, ULP(math.MaxUint32), Abs(math.Inf(1))}, false},
		{"the same bits of NaN", nan, nan, []Option{Bits}, true},
		{"other bits of NaN", nan, otherNaN, []Option{Bits}, false},
		{"other bits of NaN, allowed", nan, otherNaN, []Option{Bits, NaNEqual}, true},
		{"other bits of zero", 0, negative, []Option{Bits}, false},
		{"no option", 1, 1, []Option{{}}, true},
	} {
		if got := messageOf(t, ones(c.got), ones(c.want), c.opts...) == ""; got != c.equal {
			t.Errorf("%s: equal is %v", c.name, got)
		}
		if f := float64(c.got); c.equal && len(c.opts) == 0 && messageOf(t, []float64{f}, []float64{float64(c.want)}) != "" {
			t.Errorf("%s: not as float64", c.name)
		}
	}
}

type inner struct {
	A int16
	_ int16
	B [2]complex64
}

type outer struct {
	X    float64
	Rows [2]inner
	H    kernel.Float16
	G    kernel.BFloat16
	OK   bool
}

func TestEqualReportsDifferences(t *testing.T) {
	long, other := make([]int32, 1000), make([]int32, 1000)
	for i := range other {
		if i%50 == 7 {
			other[i] = int32(i)
		}
	}
	a := outer{X: 1, H: kernel.ToFloat16(1), G: kernel.ToBFloat16(1), OK: true}
	b := a
	b.X, b.OK = 1.5, false
	b.Rows[1].A, b.Rows[1].B[1] = -3, 2i
	b.H, b.G = kernel.Float16FromBits(a.H.Bits()+1), kernel.BFloat16FromBits(a.G.Bits()+2)
	for _, c := range []struct {
		got  string
		want string
	}{
		{messageOf(t, []int{1, 2}, []int{1, 2}), ""},
		{messageOf[int](t, nil, []int{}), ""},
		{messageOf(t, []int{1, 2}, []int{1, 3}), "1 of 2 elements differs:\n\t[1]: got 2, want 3 (1 apart)"},
		{messageOf(t, []int{1}, []int{1, 3}), "length: got 1, want 2"},
		{messageOf(t, []int8{-128}, []int8{127}), "1 of 1 elements differs:\n\t[0]: got -128, want 127 (255 apart)"},
		{messageOf(t, []uint64{0}, []uint64{math.MaxUint64}, Abs(10)), "1 of 1 elements differs:\n\t[0]: got 0, want 18446744073709551615 (1.8446744073709552e+19 apart)"},
		{messageOf(t, []uint8{200, 100}, []uint8{201, 98}, Abs(1)), "1 of 2 elements differs:\n\t[1]: got 100, want 98 (2 apart)"},
		{messageOf(t, []bool{true}, []bool{false}, Abs(1)), "1 of 1 elements differs:\n\t[0]: got true, want false"},
		{messageOf(t, []float32{f32(1, 3)}, []float32{1}, ULP(2), Name("y")), "y: 1 of 1 elements differs:\n\t[0]: got 1.0000004, want 1 (3 ULP, 3.58e-07 apart)"},
		{messageOf(t, []float32{float32(math.NaN())}, []float32{1}), "1 of 1 elements differs:\n\t[0]: got NaN, want 1"},
		{messageOf(t, []float64{math.Copysign(0, -1)}, []float64{0}, Bits), "1 of 1 elements differs:\n\t[0]: got -0, want 0 (the signs of the zeros differ)"},
		{messageOf(t, []complex128{1 + 2i}, []complex128{1 + 2.5i}), "1 of 1 elements differs:\n\t[0].imag: got 2, want 2.5 (1125899906842624 ULP, 0.5 apart)"},
		{messageOf(t, [][2]float32{{1, 2}}, [][2]float32{{1, 3}}), "1 of 1 elements differs:\n\t[0][1]: got 2, want 3 (4194304 ULP, 1 apart)"},
		{messageOf(t, []outer{b}, []outer{a}), "1 of 1 elements differs:" +
			"\n\t[0].X: got 1.5, want 1 (2251799813685248 ULP, 0.5 apart)" +
			"\n\t[0].Rows[1].A: got -3, want 0 (3 apart)" +
			"\n\t[0].Rows[1].B[1].imag: got 2, want 0 (1073741824 ULP, 2 apart)" +
			"\n\t[0].H: got 1.0009766, want 1 (1 ULP, 0.000977 apart)" +
			"\n\t[0].G: got 1.015625, want 1 (2 ULP, 0.0156 apart)" +
			"\n\t[0].OK: got false, want true"},
		{messageOf(t, []outer{b}, []outer{a}, Abs(3)), "1 of 1 elements differs:\n\t[0].OK: got false, want true"},
		{messageOf(t, []string{"a"}, []string{"a"}), "fatal: gputest.Equal: values of type string cannot be compared"},
		{messageOf(t, []*int{nil}, []*int{nil}), "fatal: gputest.Equal: values of type *int cannot be compared"},
		{messageOf(t, [][]int{nil}, [][]int{nil}), "fatal: gputest.Equal: values of type []int cannot be compared"},
	} {
		if strings.TrimSpace(c.got) != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
	message := messageOf(t, other, long)
	if lines := strings.Split(message, "\n"); lines[0] != "20 of 1000 elements differ:" || len(lines) != maxListed+2 || lines[2] != "\t[57]: got 57, want 0 (57 apart)" || lines[maxListed+1] != "\t..." {
		t.Errorf("a long list is %s", message)
	}
}

// huge does not fit in memory.
type huge struct {
	Before [1 << 40]int32
	Rows   [1 << 20][1 << 20]struct{ A, B uint8 }
	Empty  [1 << 62]struct{}
}

func TestSizeOfTheTypeCostsNothing(t *testing.T) {
	if message := messageOf(t, []huge{}, []huge{}); message != "" {
		t.Errorf("compared: %s", message)
	}
	fill([]huge{}, ofDevice)
	value := must(partOf(reflect.TypeFor[huge]()))
	if got, want := value.path(4<<40+2*(3<<20+5)+1), ".Rows[3][5].B"; got != want {
		t.Errorf("a part has the path %s, want %s", got, want)
	}
}

func TestPoisonIsEqualToNothing(t *testing.T) {
	device, host := make([]outer, 3), make([]outer, 3)
	fill(device, ofDevice)
	fill(host, ofHost)
	value := must(partOf(reflect.TypeFor[outer]()))
	value.leaves(0, func(at uintptr, f form) {
		if f.kind == reflect.Bool {
			return
		}
		if d, h := ofDevice.bits(f), ofHost.bits(f); d == h || !ofDevice.is(f, d) || ofHost.is(f, d) {
			t.Errorf("%s: the poison is %#x and %#x", value.path(at), d, h)
		}
		if f.isFloat() && !math.IsNaN(f.float(ofDevice.bits(f))) {
			t.Errorf("%s: the poison is no NaN", value.path(at))
		}
	})
	if message := messageOf(t, device, host, NaNEqual); !strings.Contains(message, "[2].Rows[1].A: got -23131, want 23130") {
		t.Errorf("compared: %s", message)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
