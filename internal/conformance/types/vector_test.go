package types

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// fill sets every number in the value that v points to, to a random number.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Struct:
		if h, ok := v.Addr().Interface().(*kernel.Float16); ok {
			*h = kernel.ToFloat16(r.NormFloat64())
			return
		}
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(r.IntN(2000)-1000) / 8)
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	default:
		if v.CanInt() {
			v.SetInt(int64(r.IntN(200) - 100))
		} else {
			v.SetUint(uint64(r.IntN(100)))
		}
	}
}

func random[T any](n int) []T {
	out := make([]T, n)
	fill(rand.New(rand.NewPCG(1, uint64(n))), reflect.ValueOf(out))
	return out
}

func TestWholeElementsOfVectors(t *testing.T) {
	const n = 300
	x, want := random[kernel.Vec4[float32]](n), make([]kernel.Vec4[float32], n)
	for i := range x {
		want[i] = x[i].Scale(1.5)
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		dx, y := gputest.Upload(t, d, x), gputest.Upload(t, d, make([]kernel.Vec4[float32], n))
		launched(t, LaunchVec4Scale(d.DefaultStream(), blocks(n), 1.5, dx, y))
		expect(t, "y", gputest.Download(t, d, y), want)
	})
}

func TestAliasedWritesAreVisible(t *testing.T) {
	const n = 128
	x := random[kernel.Vec4[float32]](n)
	g, b := grid(n)
	apart, same := make([]kernel.Vec4[float32], n), make([]kernel.Vec4[float32], n)
	copy(same, x)
	kernel.Each(g, b, func(t kernel.Thread) {
		vec4Shift(t, x, apart)
		vec4Shift(t, same, same)
	})
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		dx, y := gputest.Upload(t, d, x), gputest.Upload(t, d, make([]kernel.Vec4[float32], n))
		launched(t, LaunchVec4Shift(d.DefaultStream(), blocks(n), dx, y))
		expect(t, "another buffer", gputest.Download(t, d, y), apart)
		launched(t, LaunchVec4Shift(d.DefaultStream(), blocks(n), dx, dx))
		expect(t, "the same buffer", gputest.Download(t, d, dx), same)
	})
}

func TestCheckedFieldsOfVectors(t *testing.T) {
	const n = 64
	x, want := random[kernel.Vec2[float64]](n), make([]float64, n)
	changed := append([]kernel.Vec2[float64](nil), x...)
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) { vec2Fields(t, changed, want) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		dx, out := gputest.Upload(t, d, x), gputest.Upload(t, d, make([]float64, n))
		launched(t, LaunchVec2Fields(d.DefaultStream(), blocks(n), dx, out))
		expect(t, "out", gputest.Download(t, d, out), want)
		expect(t, "x", gputest.Download(t, d, dx), changed)

		short := gputest.Upload(t, d, x[:n-1])
		err := LaunchVec2Fields(d.DefaultStream(), blocks(n), short, out)
		if err == nil {
			err = d.DefaultStream().Synchronize(t.Context())
		}
		var fault *gpu.KernelError
		if !errors.As(err, &fault) || fault.Kind != gpu.OutOfRange || fault.Index != n-1 || fault.Length != n-1 {
			t.Errorf("a launch past the slice returned %v, want index %d of %d out of range", err, n-1, n-1)
		}
	})
}

func TestMethodsOfVectors(t *testing.T) {
	const n = 100
	x3, y3, out3, dots := random[kernel.Vec3[int32]](n), random[kernel.Vec3[int32]](n + 1)[1:], make([]kernel.Vec3[int32], 9*n), make([]int32, n)
	x4, y4 := random[kernel.Vec4[int64]](n), random[kernel.Vec4[int64]](n + 1)[1:]
	out4, out2 := make([]kernel.Vec4[int64], 9*n), make([]kernel.Vec2[int64], 9*n)
	y4[3] = x4[3]
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) {
		vec3Methods(t, x3, y3, out3, dots)
		vec24Methods(t, x4, y4, out4, out2)
	})
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		o3, ds := gputest.Upload(t, d, make([]kernel.Vec3[int32], 9*n)), gputest.Upload(t, d, make([]int32, n))
		launched(t, LaunchVec3Methods(d.DefaultStream(), blocks(n), gputest.Upload(t, d, x3), gputest.Upload(t, d, y3), o3, ds))
		expect(t, "three components", gputest.Download(t, d, o3), out3)
		expect(t, "inner products", gputest.Download(t, d, ds), dots)
		o4, o2 := gputest.Upload(t, d, make([]kernel.Vec4[int64], 9*n)), gputest.Upload(t, d, make([]kernel.Vec2[int64], 9*n))
		launched(t, LaunchVec24Methods(d.DefaultStream(), blocks(n), gputest.Upload(t, d, x4), gputest.Upload(t, d, y4), o4, o2))
		expect(t, "four components", gputest.Download(t, d, o4), out4)
		expect(t, "two components", gputest.Download(t, d, o2), out2)
	})
}

// part returns b without its first element, so that no access to several elements is
// aligned.
func part[T any](t *testing.T, b *gpu.Buffer[T]) *gpu.Buffer[T] {
	t.Helper()
	s := b.Slice(1, b.Len())
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStructsAndArraysMoveByWideAccesses(t *testing.T) {
	const n = 131
	inP, wantP := random[pixel](n), make([]pixel, n)
	inB, wantB := random[body](n), make([]body, n)
	inH, wantH := random[[8]kernel.Float16](n), make([][8]kernel.Float16, n)
	inQ, wantQ := random[int32](4*n), make([]int32, 4*n)
	inR, wantR := random[[4][4]float32](n), make([]kernel.Vec4[float32], n)
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) {
		pixels(t, inP, wantP)
		bodies(t, 0.25, inB, wantB)
		halves8(t, inH, wantH)
		quads(t, inQ, wantQ)
		rows(t, 2, inR, wantR)
	})
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		p := gputest.Upload(t, d, make([]pixel, n))
		launched(t, LaunchPixels(s, blocks(n), gputest.Upload(t, d, inP), p))
		expect(t, "pixels", gputest.Download(t, d, p), wantP)
		bs := gputest.Upload(t, d, make([]body, n))
		launched(t, LaunchBodies(s, blocks(n), 0.25, gputest.Upload(t, d, inB), bs))
		expect(t, "bodies", gputest.Download(t, d, bs), wantB)
		h := gputest.Upload(t, d, make([][8]kernel.Float16, n))
		launched(t, LaunchHalves8(s, blocks(n), gputest.Upload(t, d, inH), h))
		expect(t, "halves", gputest.Download(t, d, h), wantH)
		r := gputest.Upload(t, d, make([]kernel.Vec4[float32], n))
		launched(t, LaunchRows(s, blocks(n), 2, gputest.Upload(t, d, inR), r))
		expect(t, "rows", gputest.Download(t, d, r), wantR)

		x, q := gputest.Upload(t, d, append([]int32{7}, inQ...)), gputest.Upload(t, d, make([]int32, 4*n+1))
		launched(t, LaunchQuads(s, blocks(n), part(t, x), part(t, q)))
		expect(t, "unaligned adjacent elements", gputest.Download(t, d, part(t, q)), wantQ)
		x, q = gputest.Upload(t, d, inQ), gputest.Upload(t, d, make([]int32, 4*n))
		launched(t, LaunchQuads(s, blocks(n), x, q))
		expect(t, "neighbours", gputest.Download(t, d, q), wantQ)
	})
}

// With few threads, and with so many that the coarse form runs.
func TestFieldsAreReadAndWrittenInOrder(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, n := range []int{100, 1 << 17} {
			b, from, which, rows, k := random[body](n), random[body](n), make([]int32, n), random[[4]int32](n), make([]int32, n)
			for i := range which {
				which[i], k[i] = int32((7*i+3)%n), int32(i%5)
			}
			s := d.DefaultStream()
			upB, upTo, upRows := gputest.Upload(t, d, b), gputest.Upload(t, d, make([]body, n)), gputest.Upload(t, d, rows)
			upFrom, upWhich, upK := gputest.Upload(t, d, from), gputest.Upload(t, d, which), gputest.Upload(t, d, k)
			to := make([]body, n)
			g, block := grid(n)
			kernel.Each(g, block, func(t kernel.Thread) {
				drift(t, 0.5, which, b)
				shuffle(t, 1, which, from, to)
				slots(t, k, rows)
			})
			launched(t, LaunchDrift(s, blocks(n), 0.5, upWhich, upB))
			launched(t, LaunchShuffle(s, blocks(n), 1, upWhich, upFrom, upTo))
			launched(t, LaunchSlots(s, blocks(n), upK, upRows))
			expect(t, "drift", gputest.Download(t, d, upB), b)
			expect(t, "shuffle", gputest.Download(t, d, upTo), to)
			expect(t, "slots", gputest.Download(t, d, upRows), rows)
		}
	})
}
