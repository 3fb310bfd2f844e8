// The program runs each kernel twice, as a plain Go function and in generated
// form, and compares the results.
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/kernel/host"
)

type test struct {
	name        string
	kernel      any
	host        host.Func
	grid, block kernel.Dim3
	args        []any
}

func ramp[T int | int32 | int64 | uint8 | uint32 | uint64 | float32 | float64 | metres](n int, f func(i int) T) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

func noise(i int) uint32 {
	v := uint32(i)*2654435761 + 12345
	return v ^ v>>15
}

func small(i int) float32 { return float32(noise(i)%2000)/100 - 10 }

func d(x, y, z int) kernel.Dim3 { return kernel.Dim3{X: x, Y: y, Z: z} }

// square returns a matrix of different numbers.
func square(scale float64) matrix {
	var m matrix
	for i := range m.Rows {
		for j := range m.Rows[i] {
			m.Rows[i][j] = scale * float64(i*4+j)
		}
		m.Name[2*i] = uint8(i)
	}
	return m
}

func tests() []test {
	points := make([]point, 50)
	for i := range points {
		points[i] = point{metres(small(i)), metres(small(i + 100)), uint8(i)}
	}
	zeros := func(int) float32 { return 0 }
	integer := func(i int) float32 { return float32(noise(i) % 8) }
	return []test{
		{"saxpy", saxpy, quernHostSaxpy, d(5, 1, 1), d(32, 1, 1), []any{float32(2.5), ramp(150, small), ramp(141, small)}},
		{"transpose", transpose, quernHostTranspose, d(4, 4, 1), d(8, 8, 1), []any{27, 19, ramp(27*19, small), ramp(27*19, zeros)}},
		{"sum", sum, quernHostSum, d(3, 1, 1), d(64, 1, 1), []any{ramp(1000, integer), ramp(1, zeros)}},
		{"matmul", matmul, quernHostMatmul, d(3, 3, 1), d(16, 16, 1), []any{37, ramp(37*37, integer), ramp(37*37, integer), ramp(37*37, zeros)}},
		{"blocked", blocked, quernHostBlocked, d(3, 3, 1), d(4, 4, 1), []any{24, ramp(24*24, func(i int) float64 { return float64(integer(i)) }), ramp(24*24, func(i int) float64 { return float64(i % 5) }), make([]float64, 24*24)}},
		{"early", early, quernHostEarly, d(4, 1, 1), d(8, 2, 1), []any{int32(9), ramp(30, small)}},
		{"maxes", maxes, quernHostMaxes, d(3, 1, 1), d(64, 1, 1), []any{ramp(150, func(i int) float32 { return integer(i) * 170 }), ramp(3, zeros)}},
		{"structs", structs, quernHostStructs, d(2, 1, 1), d(32, 1, 1), []any{point{3, 4, 5}, points, make([]metres, 50), make([]int, 50)}},
		{"integers", integers, quernHostIntegers, d(4, 1, 1), d(32, 1, 1), []any{
			ramp(100, func(i int) int32 { return int32(noise(i)) }), ramp(100, func(i int) uint8 { return uint8(noise(i)) }),
			ramp(100, func(i int) uint64 { return uint64(noise(i)) << 20 }), ramp(100, func(i int) int { return int(int32(noise(i))) >> (i % 30) })}},
		{"floats", floats, quernHostFloats, d(4, 1, 1), d(32, 1, 1), []any{ramp(100, small), ramp(100, func(i int) float32 { return small(i + 500) }), ramp(100, func(i int) float64 { return float64(small(i)) })}},
		{"loops", loops, quernHostLoops, d(2, 1, 1), d(16, 1, 1), []any{9, make([]int, 32)}},
		{"atomics", atomics, quernHostAtomics, d(4, 1, 1), d(32, 1, 1), []any{ramp(100, func(i int) uint32 { return noise(i) >> 8 }), make([]uint32, 10), []int64{-5, 1 << 40, 0}, []int32{-1, -1, 3, -1, -1, -1, -1, -1}}},
		{"phases", phases, quernHostPhases, d(4, 1, 1), d(32, 1, 1), []any{[]int32{4, -1, 2, 0}, ramp(128, func(i int) int32 { return int32(noise(i) >> 20) })}},
		{"volume", volume, quernHostVolume, d(2, 2, 2), d(5, 4, 3), []any{9, 7, 5, make([]int32, 9*7*5)}},
		{"exchange", exchange, quernHostExchange, d(3, 1, 1), d(16, 1, 1), []any{ramp(48, func(i int) int32 { return int32(i) })}},
		{"blur", blur, quernHostBlur, d(3, 3, 1), d(16, 8, 1), []any{40, 20, ramp(800, small), ramp(800, zeros)}},
		{"shrink", shrink, quernHostShrink, d(3, 2, 1), d(16, 4, 1), []any{41, 7, 5, ramp(41*7, func(i int) int32 { return int32(noise(i) % 100) }), make([]int32, 41*7)}},
		{"passes", passes, quernHostPasses, d(1, 1, 1), d(64, 1, 1), []any{[]int32{3, 70, 90}, couples(256), make([]int32, 1)}},
		{"tiles", tiles, quernHostTiles, d(2, 1, 1), d(32, 1, 1), []any{100, ramp(57, func(i int) int32 { return int32(noise(i) % 100) }), make([]int32, 64)}},
		{"scan", scan, quernHostScan, d(3, 1, 1), d(32, 1, 1), []any{ramp(96, func(i int) int32 { return int32(noise(i) % 100) }), 3}},
		{"stencil", stencil, quernHostStencil, d(3, 1, 1), d(32, 1, 1), []any{int32(5), ramp(90, func(i int) int32 { return int32(noise(i)%50) - 20 })}},
		{"stencil", stencil, quernHostStencil, d(3, 1, 1), d(32, 1, 1), []any{int32(0), make([]int32, 90)}},
		{"costly", costly, quernHostCostly, d(3, 1, 1), d(32, 1, 1), []any{7, make([]float64, 90)}},
		{"configured", configured, quernHostConfigured, d(2, 3, 1), d(32, 4, 1), []any{settings{2, [3]int32{1, 2, 1}, true}, 64, ramp(64*12, small), make([]settings, 2)}},
		{"configured", configured, quernHostConfigured, d(2, 3, 1), d(32, 4, 1), []any{settings{}, 64, ramp(64*12, small), []settings{{1, [3]int32{3, 4, 5}, true}, {4, [3]int32{-1, 0, 1}, false}}}},
		{"leaver", leaver, quernHostLeaver, d(3, 1, 1), d(32, 1, 1), []any{4, ramp(96, func(i int) int32 { return int32(noise(i)%200) - 50 })}},
		{"leaver", leaver, quernHostLeaver, d(3, 1, 1), d(32, 1, 1), []any{1, ramp(96, func(i int) int32 { return int32(i) })}},
		{"stopped", stopped, quernHostStopped, d(3, 1, 1), d(32, 1, 1), []any{ramp(96, func(i int) int32 { return int32(noise(i)%200) - 100 })}},
		{"jumpers", jumpers, quernHostJumpers, d(3, 1, 1), d(32, 1, 1), []any{0, ramp(96, func(i int) int32 { return int32(noise(i) % 20) })}},
		{"jumpers", jumpers, quernHostJumpers, d(3, 1, 1), d(32, 1, 1), []any{1, ramp(96, func(i int) int32 { return int32(noise(i) % 20) })}},
		{"seekers", seekers, quernHostSeekers, d(3, 1, 1), d(32, 1, 1), []any{0, ramp(96, func(i int) int32 { return int32(noise(i) % 20) })}},
		{"seekers", seekers, quernHostSeekers, d(3, 1, 1), d(32, 1, 1), []any{1, ramp(96, func(i int) int32 { return int32(noise(i) % 20) })}},
		{"seekers", seekers, quernHostSeekers, d(3, 1, 1), d(32, 1, 1), []any{3, ramp(96, func(i int) int32 { return int32(noise(i) % 20) })}},
		{"large", large, quernHostLarge, d(3, 1, 1), d(32, 1, 1), []any{square(2), ramp(96, func(i int) float64 { return float64(i % 11) }), []matrix{square(1), square(3), square(4)}}},
		{"rowProducts", rowProducts, quernHostRowProducts, d(3, 1, 1), d(32, 1, 1), []any{75, 9, ramp(75*9, small), ramp(9, small), make([]float32, 80)}},
		{"rowProducts", rowProducts, quernHostRowProducts, d(3, 1, 1), d(32, 1, 1), []any{75, -3, ramp(9, small), ramp(9, small), make([]float32, 80)}},
		{"rowProducts", rowProducts, quernHostRowProducts, d(3, 1, 1), d(32, 1, 1), []any{75, 9, ramp(41*9+4, small), ramp(9, small), make([]float32, 80)}},
		{"rowProducts", rowProducts, quernHostRowProducts, d(3, 1, 1), d(32, 1, 1), []any{75, 9, ramp(75*9, small), ramp(8, small), make([]float32, 80)}},
		{"spans", spans, quernHostSpans, d(3, 1, 1), d(16, 2, 1), []any{7, 5, ramp(4, func(i int) int32 { return int32(i) - 2 }), ramp(42*7, func(i int) float64 { return float64(small(i)) }), make([]float64, 42)}},
		{"spans", spans, quernHostSpans, d(3, 1, 1), d(16, 2, 1), []any{2, 0, []int32{}, ramp(84, func(i int) float64 { return float64(small(i)) }), make([]float64, 42)}},
		{"spans", spans, quernHostSpans, d(3, 1, 1), d(16, 2, 1), []any{7, 5, ramp(4, func(i int) int32 { return int32(i) - 2 }), ramp(30*7+3, func(i int) float64 { return float64(small(i)) }), make([]float64, 42)}},
		{"barrier", barrier, quernHostBarrier, d(3, 1, 1), d(32, 1, 1), nil},
		{"barriers", barriers, quernHostBarriers, d(3, 1, 1), d(32, 1, 1), []any{3, ramp(96, func(i int) int32 { return int32(i) })}},
		{"indexFails", indexFails, quernHostIndexFails, d(4, 1, 1), d(8, 1, 1), []any{make([]int32, 32)}},
		{"divisionFails", divisionFails, quernHostDivisionFails, d(1, 1, 1), d(8, 1, 1), []any{[]int32{1, 2, 0, 4, 5, 6, 7, 8}}},
		{"panics", panics, quernHostPanics, d(4, 1, 1), d(8, 1, 1), []any{make([]int32, 32)}},
	}
}

func clone(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a
		if v := reflect.ValueOf(a); v.Kind() == reflect.Slice {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			out[i] = c.Interface()
		}
	}
	return out
}

// reference runs the kernel as a Go function.
func reference(t test, args []any) (failure *kernel.ThreadError) {
	defer func() {
		if v := recover(); v != nil {
			err, ok := v.(error)
			if !ok || !errors.As(err, &failure) {
				panic(v)
			}
		}
	}()
	f := reflect.ValueOf(t.kernel)
	kernel.Each(t.grid, t.block, func(th kernel.Thread) {
		in := []reflect.Value{reflect.ValueOf(th)}
		for _, a := range args {
			in = append(in, reflect.ValueOf(a))
		}
		f.Call(in)
	})
	return nil
}

func compiled(t test, args []any, workers int) *host.Failure {
	var a host.Args
	for i, arg := range args {
		v := reflect.ValueOf(arg)
		if v.Kind() == reflect.Slice {
			a.SetSlice(i, v.UnsafePointer(), v.Len())
			continue
		}
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		a.SetValue(i, unsafe.Pointer(p.Pointer()), v.Type().Size())
	}
	return host.Execute(t.host, &host.Launch{Grid: t.grid, Block: t.block, Args: &a, Workers: workers})
}

// same compares arguments after the runs; NaNs are equal.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() != reflect.Slice {
		return true
	}
	for i := range x.Len() {
		p, q := x.Index(i), y.Index(i)
		if p.CanFloat() {
			if f, g := p.Float(), q.Float(); math.Float64bits(f) != math.Float64bits(g) && (f == f || g == g) {
				return false
			}
		} else if !p.Equal(q) {
			return false
		}
	}
	return true
}

func main() {
	bad := false
	complain := func(name, format string, args ...any) {
		fmt.Printf("%s: %s\n", name, fmt.Sprintf(format, args...))
		bad = true
	}
	for _, t := range tests() {
		for _, workers := range []int{1, 3} {
			want, got := clone(t.args), clone(t.args)
			expected := reference(t, want)
			failure := compiled(t, got, workers)
			if (expected == nil) != (failure == nil) {
				complain(t.name, "failed with %+v, want %v", failure, expected)
				continue
			}
			if expected != nil {
				file := filepath.Base(failure.File)
				if failure.Block != expected.Block || failure.Thread != expected.Thread || file != filepath.Base(expected.File) || failure.Line != expected.Line {
					complain(t.name, "failed with %+v, want %v", failure, expected)
				}
				continue
			}
			for i := range want {
				if !same(want[i], got[i]) {
					complain(t.name, "argument %d is\n%v, want\n%v", i, got[i], want[i])
				}
			}
		}
	}
	if bad {
		os.Exit(1)
	}
}

func couples(n int) []couple {
	list := make([]couple, n)
	for i := range list {
		list[i] = couple{int32(noise(i) % 100), int32(i)}
	}
	return list
}
