package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// moveBox does in Go what a copy of a box does.
func moveBox[T any](dst []T, to Box, src []T, from Box) {
	to, from = to.withDefaults(), from.withDefaults()
	for z := range to.Depth {
		for y := range to.Height {
			d, s := to, from
			d.Y, d.Z, s.Y, s.Z = d.Y+y, d.Z+z, s.Y+y, s.Z+z
			copy(dst[d.first():][:to.Width], src[s.first():])
		}
	}
}

func TestBoxesAreCopiedInAllDirections(t *testing.T) {
	const n = 4000
	tests := []struct {
		name     string
		to, from Box
	}{
		{"a rectangle", Rect(2, 3, 5, 4, 20), Rect(1, 1, 5, 4, 11)},
		{"a rectangle to dense rows", Rect(0, 0, 7, 6, 0), Rect(3, 2, 7, 6, 10)},
		{"dense rows to a rectangle", Rect(3, 2, 7, 6, 10), Rect(0, 0, 7, 6, 0)},
		{"all of a matrix", Rect(0, 0, 40, 50, 40), Rect(0, 0, 40, 50, 40)},
		{"one row", Rect(5, 7, 9, 1, 30), Rect(0, 0, 9, 1, 9)},
		{"one column", Rect(5, 0, 1, 30, 30), Rect(0, 2, 1, 30, 3)},
		{"nothing", Rect(5, 0, 0, 30, 30), Rect(0, 2, 0, 30, 3)},
		{"a box", Box{X: 1, Y: 2, Z: 3, Width: 4, Height: 5, Depth: 6, Pitch: 12, Rows: 9}, Box{X: 3, Y: 1, Z: 1, Width: 4, Height: 5, Depth: 6, Pitch: 8, Rows: 7}},
		{"a box to dense planes", Box{Width: 4, Height: 5, Depth: 6}, Box{X: 3, Y: 1, Z: 1, Width: 4, Height: 5, Depth: 6, Pitch: 8, Rows: 7}},
		{"planes without gaps in their rows", Box{Width: 4, Height: 5, Depth: 6, Rows: 10}, Box{Width: 4, Height: 5, Depth: 6, Rows: 7}},
		{"a dense box", Box{Width: 4, Height: 5, Depth: 6}, Box{Width: 4, Height: 5, Depth: 6}},
	}
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx, s := context.Background(), d.DefaultStream()
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				src, before := ramp(n), make([]float32, n)
				for i := range before {
					before[i] = -float32(i)
				}
				want := slices.Clone(before)
				moveBox(want, test.to, src, test.from)

				b := upload(t, s, before...)
				do(t, CopyInBox(s, b, test.to, src, test.from))
				if got := download(t, s, b); !slices.Equal(got, want) {
					t.Error("to the device: wrong elements")
				}
				x := upload(t, s, src...)
				got := slices.Clone(before)
				do(t, DownloadBox(ctx, s, got, test.to, x, test.from))
				if !slices.Equal(got, want) {
					t.Error("from the device: wrong elements")
				}
				do(t, CopyIn(s, b, before))
				do(t, CopyBox(s, b, test.to, x, test.from))
				if got := download(t, s, b); !slices.Equal(got, want) {
					t.Error("on the device: wrong elements")
				}
				pinned := must[*HostBuffer[float32]](t)(AllocHost[float32](d, n))
				copy(pinned.Data(), src)
				do(t, CopyIn(s, b, before))
				do(t, CopyInBoxAsync(s, b, test.to, pinned, test.from))
				if got := download(t, s, b); !slices.Equal(got, want) {
					t.Error("to the device from page-locked memory: wrong elements")
				}
				copy(pinned.Data(), before)
				do(t, CopyOutBoxAsync(s, pinned, test.to, x, test.from))
				do(t, s.Synchronize(ctx))
				if !slices.Equal(pinned.Data(), want) {
					t.Error("from the device to page-locked memory: wrong elements")
				}
				closeAll(t, b, x, pinned)
			})
		}
	})
}

func TestBoxesOfStructsAndPartsOfBuffers(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		pixels := make([][3]uint8, 12)
		for i := range pixels {
			pixels[i] = [3]uint8{uint8(i), uint8(i + 100), uint8(i + 200)}
		}
		b := must[*Buffer[[3]uint8]](t)(Alloc[[3]uint8](d, 20))
		do(t, Zero(s, b))
		do(t, CopyInBox(s, b.Slice(1, 13), Rect(1, 1, 2, 2, 4), pixels, Rect(2, 0, 2, 2, 6)))
		want := make([][3]uint8, 20)
		want[6], want[7], want[10], want[11] = pixels[2], pixels[3], pixels[8], pixels[9]
		if got := download(t, s, b); !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		do(t, b.Close())
	})
}

// TestLargeBoxesAreStaged copies boxes that are large enough to be staged.
func TestLargeBoxesAreStaged(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		host := make([][3]uint8, 1100*1000)
		for i := range host {
			host[i] = [3]uint8{uint8(i), uint8(i >> 8), uint8(i >> 16)}
		}
		from, to := Rect(50, 0, 1000, 1000, 1100), Rect(0, 0, 1000, 1000, 1000)
		want := make([][3]uint8, 1000*1000)
		moveBox(want, to, host, from)
		b := must[*Buffer[[3]uint8]](t)(Alloc[[3]uint8](d, len(want)))
		do(t, CopyInBox(s, b, to, host, from))
		if !slices.Equal(download(t, s, b), want) {
			t.Error("to the device: wrong elements")
		}
		got, back := make([][3]uint8, len(host)), make([][3]uint8, len(host))
		do(t, DownloadBox(context.Background(), s, got, from, b, to))
		moveBox(back, from, want, to)
		if !slices.Equal(got, back) {
			t.Error("from the device: wrong elements")
		}
		do(t, b.Close())
	})
}

func TestBadBoxesNameTheMistake(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx, s := context.Background(), d.DefaultStream()
		b := upload(t, s, ramp(100)...)
		closed := upload(t, s, ramp(100)...)
		do(t, closed.Close())
		host := ramp(100)
		all := Rect(0, 0, 10, 10, 10)
		pinned := must[*HostBuffer[float32]](t)(AllocHost[float32](d, 100))
		shut := must[*HostBuffer[float32]](t)(AllocHost[float32](d, 100))
		do(t, shut.Close())
		const big = math.MaxInt
		for _, test := range []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"a negative extent", CopyInBox(s, b, Rect(0, 0, -1, 2, 10), host, all), ErrInvalid, "gpu: copy box in: destination: box -1x2x1 at (0,0,0), pitch 10, 0 rows has a negative extent"},
			{"a box beyond the rows", CopyInBox(s, b, Rect(6, 0, 5, 2, 10), host, all), ErrInvalid, "is wider than the rows"},
			{"a box beyond the planes", CopyInBox(s, b, Box{Y: 3, Width: 2, Height: 3, Depth: 1, Pitch: 5, Rows: 5}, host, all), ErrInvalid, "is higher than the planes"},
			{"a box beyond the buffer", CopyInBox(s, b, Rect(0, 1, 10, 10, 10), host, all), ErrInvalid, "destination: box 10x10x1 at (0,1,0), pitch 10, 11 rows lies outside of 100 elements"},
			{"a box beyond the slice", DownloadBox(ctx, s, host[:99], all, b, all), ErrInvalid, "gpu: download box: destination: box 10x10x1 at (0,0,0), pitch 10, 10 rows lies outside of 99 elements"},
			{"a size that overflows", CopyBox(s, b, Box{X: 1, Y: 1, Z: big - 1, Width: 2, Height: 2, Depth: 2, Pitch: big, Rows: big}, b, all), ErrInvalid, "outside of 100 elements"},
			{"rows that overflow", CopyBox(s, b, Box{Width: 1, Height: big, Depth: 1, Pitch: big}, b, all), ErrInvalid, "outside of 100 elements"},
			{"rows that overflow by default", CopyBox(s, b, Box{X: big, Width: 2, Height: 1, Depth: 1}, b, all), ErrInvalid, "gpu: copy box: destination: box 2x1x1 at (9223372036854775807,0,0), pitch 0, 0 rows lies outside of 100 elements"},
			{"planes that overflow by default", CopyBox(s, b, Box{Y: big, Width: 1, Height: 2, Depth: 1}, b, all), ErrInvalid, "pitch 0, 0 rows lies outside of 100 elements"},
			{"a box without planes", CopyInBox(s, b, Box{Width: 10, Height: 10}, host, Box{Width: 10, Height: 10}), ErrInvalid, "gpu: copy box in: destination: box 10x10x0 at (0,0,0), pitch 0, 0 rows has no planes; set Depth to 1 for a part of one plane"},
			{"boxes of different sizes", CopyBox(s, b, Rect(0, 0, 3, 2, 10), b, Rect(0, 5, 2, 3, 10)), ErrInvalid, "gpu: copy box: source box of 2x3x1, destination box of 3x2x1"},
			{"a closed source", CopyBox(s, b, all, closed, all), ErrClosed, "gpu: copy box: source: buffer is closed"},
			{"a nil buffer", DownloadBox(ctx, s, host, all, nil, all), ErrInvalid, "gpu: download box: buffer is nil"},
			{"a box beyond the host buffer", CopyOutBoxAsync(s, pinned, Rect(0, 1, 10, 10, 10), b, all), ErrInvalid, "gpu: copy box out: destination: box 10x10x1 at (0,1,0), pitch 10, 11 rows lies outside"},
			{"a box of a host buffer beyond the buffer", CopyInBoxAsync(s, b.Slice(0, 99), all, pinned, all), ErrInvalid, "gpu: copy box in: destination: box 10x10x1 at (0,0,0), pitch 10, 10 rows lies outside of 99 elements"},
			{"a closed host buffer", CopyInBoxAsync(s, b, all, shut, all), ErrClosed, "gpu: copy box in: host buffer is closed"},
			{"a nil host buffer", CopyOutBoxAsync(s, nil, all, b, all), ErrInvalid, "gpu: copy box out: host buffer is nil"},
			{"a nil stream", CopyInBox(nil, b, all, host, all), ErrInvalid, "stream is nil"},
		} {
			if !errors.Is(test.err, test.is) || !strings.Contains(test.err.Error(), test.want) {
				t.Errorf("%s: %v", test.name, test.err)
			}
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if err := DownloadBox(cancelled, s, host, all, b, all); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled download: %v", err)
		}
		closeAll(t, b, pinned)
	})
}

// TestOverlappingBoxesAreRefused tries pairs of boxes in one small array: a copy is
// refused if and only if they have a common element.
func TestOverlappingBoxesAreRefused(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	s := d.DefaultStream()
	const pitch, rows, planes = 5, 4, 3
	b := upload(t, s, ramp(pitch*rows*planes)...)
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 3000 {
		w, h, depth := 1+random.IntN(pitch), 1+random.IntN(rows), 1+random.IntN(planes)
		any := func() Box {
			return Box{random.IntN(pitch - w + 1), random.IntN(rows - h + 1), random.IntN(planes - depth + 1), w, h, depth, pitch, rows}
		}
		to, from := any(), any()
		apart := to.X >= from.X+w || from.X >= to.X+w || to.Y >= from.Y+h || from.Y >= to.Y+h || to.Z >= from.Z+depth || from.Z >= to.Z+depth
		err := CopyBox(s, b, to, b, from)
		if (err == nil) != apart {
			t.Fatalf("%v to %v: %v", from, to, err)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 100 {
		t.Errorf("only %d pairs overlap", refused)
	}
	if err := CopyBox(s, b, Rect(0, 0, 2, 3, 4), b, Rect(3, 0, 2, 3, 5)); !errors.Is(err, ErrInvalid) {
		t.Errorf("different pitches: %v", err)
	}
	do(t, CopyBox(s, b, Rect(0, 0, 2, 2, pitch), b, Rect(2, 1, 2, 2, pitch)))
	do(t, CopyBox(s, b, Rect(0, 0, 2, 2, 4), b.Slice(20, 60), Rect(0, 0, 2, 2, 5)))
	closeAll(t, b, d)
}

// TestOverlappingBoxesOfPartsAreRefused does the same with boxes in views of one
// buffer that have different rows and planes.
func TestOverlappingBoxesOfPartsAreRefused(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	s := d.DefaultStream()
	const n = 60
	b := upload(t, s, ramp(n)...)
	random := rand.New(rand.NewPCG(3, 4))
	refused, copied := 0, 0
	for range 20000 {
		w, h, depth := 1+random.IntN(3), 1+random.IntN(3), 1+random.IntN(2)
		any := func() (*Buffer[float32], Box, int) {
			lo := random.IntN(n)
			box := Box{random.IntN(3), random.IntN(2), random.IntN(2), w, h, depth, 0, 0}
			box.Pitch, box.Rows = box.X+w+random.IntN(4), box.Y+h+random.IntN(2)
			return b.Slice(lo, n), box, lo
		}
		dst, to, first := any()
		src, from, second := any()
		if to.check(dst.Len()) != nil || from.check(src.Len()) != nil {
			continue
		}
		mark := func(box Box, first int) []bool {
			ones := make([]bool, w*h*depth)
			for i := range ones {
				ones[i] = true
			}
			all := make([]bool, n)
			moveBox(all[first:], box, ones, Box{Width: w, Height: h, Depth: depth})
			return all
		}
		apart, theirs := true, mark(from, second)
		for i, ours := range mark(to, first) {
			apart = apart && !(ours && theirs[i])
		}
		if err := CopyBox(s, dst, to, src, from); (err == nil) != apart {
			t.Fatalf("%v from %d on to %v from %d on: %v", from, second, to, first, err)
		}
		if apart {
			copied++
		} else {
			refused++
		}
	}
	if refused < 1000 || copied < 1000 {
		t.Errorf("%d pairs overlap, %d do not", refused, copied)
	}
	// Rows and planes may have any length if there is only one.
	row := Box{Width: 2, Height: 1, Depth: 1, Pitch: math.MaxInt, Rows: math.MaxInt}
	do(t, CopyBox(s, b.Slice(2, n), row, b, row))
	closeAll(t, b, d)
}

func TestBoxesOnOldDriversAndWithWidePitches(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Missing = map[string]bool{"cuMemcpy3DAsync_v2": true}
	d := openFake(t, lib)
	s := d.DefaultStream()
	to, from := Box{Width: 2, Height: 2, Depth: 2, Pitch: 3, Rows: 3}, Box{Width: 2, Height: 2, Depth: 2}
	b := must[*Buffer[float32]](t)(Alloc[float32](d, 18))
	do(t, Zero(s, b))
	do(t, CopyInBox(s, b, to, ramp(8), from))
	want := make([]float32, 18)
	moveBox(want, to, ramp(8), from)
	if got := download(t, s, b); !slices.Equal(got, want) {
		t.Errorf("without 3-D copies: %v", got)
	}
	closeAll(t, b, d)
	checkLeft(t, lib)
}

func TestDriverErrorsOfBoxesAreValues(t *testing.T) {
	for function, box := range map[string]Box{"cuMemcpy2DAsync": Rect(0, 0, 2, 2, 3), "cuMemcpy3DAsync": {Width: 2, Height: 2, Depth: 2, Pitch: 3, Rows: 3}} {
		lib := fakecuda.New(1)
		d := openFake(t, lib)
		b := must[*Buffer[float32]](t)(Alloc[float32](d, 18))
		lib.Fail(function+"_v2", fakecuda.InvalidValue)
		err := CopyInBox(d.DefaultStream(), b, box, ramp(18), box)
		if e, ok := errors.AsType[*Error](err); !ok || e.Op != function {
			t.Errorf("%s fails: %v", function, err)
		}
		closeAll(t, b, d)
		checkLeft(t, lib)
	}
}

func ExampleRect() {
	d, err := Open(Config{Device: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	s := d.DefaultStream()
	image, err := Alloc[uint8](d, 4*3) // 3 rows of 4
	if err != nil {
		fmt.Println(err)
		return
	}
	defer image.Close()
	result := make([]uint8, 4*3)
	err = errors.Join(
		Zero(s, image),
		CopyInBox(s, image, Rect(1, 1, 2, 2, 4), []uint8{1, 2, 3, 4}, Rect(0, 0, 2, 2, 2)),
		Download(context.Background(), s, result, image),
	)
	fmt.Println(result[:4], result[4:8], result[8:], err)
	// Output: [0 0 0 0] [0 1 2 0] [0 3 4 0] <nil>
}
