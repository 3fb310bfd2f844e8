package gpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestBufferRoundTrip(t *testing.T) {
	type vertex struct {
		Place [3]float32
		Index uint16
	}
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		ints := upload(t, s, 1, 2, 3, 4, 5)
		if got := download(t, s, ints); !slices.Equal(got, []int{1, 2, 3, 4, 5}) {
			t.Errorf("int: %v", got)
		}
		vertices := upload(t, s, vertex{[3]float32{1, 2, 3}, 7}, vertex{[3]float32{4, 5, 6}, 8})
		if got := download(t, s, vertices); got[1] != (vertex{[3]float32{4, 5, 6}, 8}) {
			t.Errorf("struct: %v", got)
		}
		if got := download(t, s, ints.Slice(1, 4).Slice(1, 2)); !slices.Equal(got, []int{3}) {
			t.Errorf("part of a part: %v", got)
		}
		if ints.Device() != d || ints.Len() != 5 || ints.Slice(2, 2).Len() != 0 {
			t.Error("a buffer does not know its device or length")
		}
		do(t, CopyIn(s, ints.Slice(0, 2), []int{8, 9}))
		copied := must[*Buffer[int]](t)(Alloc[int](d, 5))
		do(t, Copy(s, copied, ints))
		do(t, Copy(s, copied.Slice(3, 5), copied.Slice(0, 2)))
		if got := download(t, s, copied); !slices.Equal(got, []int{8, 9, 3, 8, 9}) {
			t.Errorf("copied: %v", got)
		}
		closeAll(t, ints, vertices, copied)
	})
}

func TestSourcesMayChangeOnceTheyAreCopied(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		host := make([]uint32, 1<<21)
		for i := range host {
			host[i] = uint32(i)
		}
		b := upload(t, s, host...)
		first := must[*Buffer[uint32]](t)(Alloc[uint32](d, len(host)))
		do(t, Copy(s, first, b))
		for i := range host {
			host[i] = ^uint32(i)
		}
		do(t, CopyIn(s, b, host))
		clear(host)
		for i, v := range download(t, s, first) {
			if v != uint32(i) {
				t.Fatalf("first copy: element %d is %d", i, v)
			}
		}
		for i, v := range download(t, s, b) {
			if v != ^uint32(i) {
				t.Fatalf("second copy: element %d is %d", i, v)
			}
		}
		closeAll(t, b, first)
	})
}

func TestEmptyBuffersWork(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		b := upload[float64](t, s)
		do(t, Fill(s, b, 1))
		do(t, Copy(s, b, b.Slice(0, 0)))
		if got := download(t, s, b); len(got) != 0 {
			t.Errorf("downloaded %v", got)
		}
		closeAll(t, b)
	})
}

func fillAndRead[T comparable](t *testing.T, s *Stream, n int, v, before T) {
	t.Helper()
	host := make([]T, n)
	for i := range host {
		host[i] = before
	}
	b := upload(t, s, host...)
	do(t, Fill(s, b.Slice(1, n-1), v))
	got := download(t, s, b)
	for i, g := range got {
		want := v
		if i == 0 || i == n-1 {
			want = before
		}
		if g != want {
			t.Fatalf("%T: element %d of %d is %v, want %v", v, i, n, g, want)
		}
	}
	do(t, Zero(s, b))
	var zero T
	for i, g := range download(t, s, b) {
		if g != zero {
			t.Fatalf("%T: element %d after Zero is %v", v, i, g)
		}
	}
	do(t, b.Close())
}

func TestFillWritesEveryElementAndNoOther(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		for _, n := range []int{3, 1000, 30001} {
			fillAndRead(t, s, n, true, false)
			fillAndRead(t, s, n, int8(-3), 9)
			fillAndRead(t, s, n, uint16(0x1234), 9)
			fillAndRead(t, s, n, float32(1.5), 9)
			fillAndRead(t, s, n, 3.25, 9)
			fillAndRead(t, s, n, complex(1, -2), 9)
			fillAndRead(t, s, n, [3]uint8{1, 2, 3}, [3]uint8{7, 7, 7})
			fillAndRead(t, s, n, [3]int64{1, 2, 3}, [3]int64{7, 7, 7})
		}
	})
}

func TestBadBufferCallsNameTheMistake(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s := d.DefaultStream()
		other := must[*Device](t)(Open(Config{Device: "sim"}))
		defer other.Close()
		foreign := upload(t, other.DefaultStream(), 1, 2, 3)
		b, closed := upload(t, s, 1, 2, 3), upload(t, s, 1, 2, 3)
		closeAll(t, closed)
		host := make([]int, 3)
		tests := []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"pointers in elements", second(Alloc[*int](d, 1)), ErrInvalid, "gpu: alloc: a device cannot hold elements of type *int"},
			{"strings in elements", second(Upload(s, []string{"a"})), ErrInvalid, "elements of type string"},
			{"a map inside a struct", second(Alloc[struct{ A [2]struct{ M map[int]int } }](d, 1)), ErrInvalid, "it contains map[int]int, at A[i].M"},
			{"elements without size", second(Alloc[struct{}](d, 1)), ErrInvalid, "have no size"},
			{"negative length", second(Alloc[int](d, -1)), ErrInvalid, "gpu: alloc: negative length -1"},
			{"length that overflows", second(Alloc[[1 << 20]int](d, 1<<60)), ErrInvalid, "elements of 8388608 bytes"},
			{"nil device", second(Alloc[int](nil, 1)), ErrInvalid, "device is nil"},
			{"nil stream", second(Upload(nil, host)), ErrInvalid, "gpu: upload: stream is nil"},
			{"more memory than there is", second(Alloc[int](d, 1<<56)), ErrOutOfMemory, "gpu: alloc 576460752303423488 bytes: "},
			{"download of a nil buffer", Download(ctx, s, host, nil), ErrInvalid, "gpu: download: buffer is nil"},
			{"download of a closed buffer", Download(ctx, s, host, closed), ErrClosed, "gpu: download: buffer is closed"},
			{"download of another device's buffer", Download(ctx, s, host, foreign), ErrInvalid, "gpu: download: buffer is of another "},
			{"download to a short slice", Download(ctx, s, host[:2], b), ErrInvalid, "gpu: download: slice of 2 elements for a buffer of 3"},
			{"download to a slice of one", Download(ctx, s, host[:1], b), ErrInvalid, "gpu: download: slice of 1 element for a buffer of 3"},
			{"download on a nil stream", Download(ctx, nil, host, b), ErrInvalid, "stream is nil"},
			{"copy in of a long slice", CopyIn(s, b, make([]int, 4)), ErrInvalid, "gpu: copy in: slice of 4 elements for a buffer of 3"},
			{"copy in to a closed buffer", CopyIn(s, closed, host), ErrClosed, "gpu: copy in: buffer is closed"},
			{"copy of different lengths", Copy(s, b, b.Slice(0, 2)), ErrInvalid, "gpu: copy: 2 elements to a buffer of 3"},
			{"copy to itself", Copy(s, b.Slice(0, 2), b.Slice(1, 3)), ErrInvalid, "source and destination overlap"},
			{"copy from a closed buffer", Copy(s, b, closed), ErrClosed, "gpu: copy: source: buffer is closed"},
			{"copy to a nil buffer", Copy(s, nil, b), ErrInvalid, "gpu: copy: destination: buffer is nil"},
			{"fill of a range outside", Fill(s, b.Slice(2, 1), 4), ErrInvalid, "gpu: fill: sub-buffer [2:1] of a buffer of 3 elements"},
			{"fill of a closed buffer", Fill(s, closed, 4), ErrClosed, "gpu: fill: buffer is closed"},
			{"zeroes for a closed buffer", Zero(s, closed), ErrClosed, "gpu: zero: buffer is closed"},
			{"upload of elements with pointers", second(Upload(s, make([]*int, 1))), ErrInvalid, "gpu: upload: a device cannot hold elements of type *int"},
		}
		for _, test := range tests {
			switch {
			case test.err == nil:
				t.Errorf("%s: no error", test.name)
			case !errors.Is(test.err, test.is):
				t.Errorf("%s: %v does not match %v", test.name, test.err, test.is)
			case !strings.Contains(test.err.Error(), test.want):
				t.Errorf("%s: %q, want %q", test.name, test.err, test.want)
			}
		}
		if got := download(t, s, b); !slices.Equal(got, []int{1, 2, 3}) {
			t.Errorf("a bad call changed the buffer: %v", got)
		}
		closeAll(t, b, b, b.Slice(0, 1), foreign, (*Buffer[int])(nil))
	})
}

func second[T any](_ T, err error) error { return err }

func TestClosingADeviceReportsLeakedBuffers(t *testing.T) {
	for _, id := range []string{"cpu", "sim"} {
		t.Run(id, func(t *testing.T) {
			d := must[*Device](t)(Open(Config{Device: id}))
			s := d.DefaultStream()
			closed, kept := upload(t, s, 1, 2, 3), upload(t, s, 4, 5)
			view := upload(t, s, byte(1)).Slice(0, 1)
			closeAll(t, closed)
			leak, ok := errors.AsType[*LeakError](d.Close())
			if !ok || leak.Buffers != 2 || leak.Bytes != 17 || leak.Device != id {
				t.Fatalf("leak: %+v", leak)
			}
			if got, want := leak.Error(), "gpu: device "+id+": 2 buffers were not closed (17 bytes): gpu.upload (device_test.go:"; !strings.HasPrefix(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			closeAll(t, kept, view, d)
			if err := Download(context.Background(), s, make([]int, 2), kept); !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "device "+id+" is closed") {
				t.Errorf("download after the device was closed: %v", err)
			}
		})
	}
}

func TestErrTellsUnusableBuffersFromEmptyOnes(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) { testErr(t, d) })
}

func testErr(t *testing.T, d *Device) {
	b, err := Alloc[float32](d, 4)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*Buffer[float32]{"nil": nil, "the zero value": {}, "a view of it": new(Buffer[float32]).Slice(0, 0), "a view outside of its array": b.Slice(2, 9)} {
		if err := c.Err(); !errors.Is(err, ErrInvalid) || c.Len() != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(b.Err(), b.Slice(2, 2).Err()); err != nil {
		t.Error(err)
	}
	b.Close()
	if err := b.Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed buffer: %v", err)
	}
}
