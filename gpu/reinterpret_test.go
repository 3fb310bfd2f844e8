package gpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReinterpretSharesTheBytes(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		bytes := upload(t, s, []byte{0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0}...)
		defer closeAll(t, bytes)
		words := Reinterpret[uint32](bytes)
		if got := download(t, s, words); !slices.Equal(got, []uint32{1 << 8, 2 << 8, 3 << 8}) {
			t.Errorf("words are %x", got)
		}
		if got := download(t, s, Reinterpret[[2]uint16](bytes.Slice(8, 12))); !slices.Equal(got, [][2]uint16{{3 << 8, 0}}) {
			t.Errorf("a part is %x", got)
		}
		if err := CopyIn(s, words.Slice(1, 2), []uint32{0xabcdef}); err != nil {
			t.Fatal(err)
		}
		if got := download(t, s, bytes); !slices.Equal(got[4:8], []byte{0xef, 0xcd, 0xab, 0}) {
			t.Errorf("bytes are %x", got)
		}
		if got := Reinterpret[float64](bytes.Slice(3, 3)); got.Len() != 0 || Download(t.Context(), s, []float64{}, got) == nil {
			t.Error("no elements at an odd address are elements")
		}
	})
}

func TestReinterpretSaysWhatDoesNotFit(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		bytes, closed := upload(t, s, make([]byte, 64)...), upload(t, s, make([]byte, 8)...)
		closeAll(t, closed)
		defer closeAll(t, bytes)
		ctx := context.Background()
		for _, test := range []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"a part of an element", Download(ctx, s, []uint64{}, Reinterpret[uint64](bytes.Slice(0, 9))), ErrInvalid, "9 bytes are not a whole number of elements of type uint64, which has 8"},
			{"an address between elements", Download(ctx, s, []uint32{}, Reinterpret[uint32](bytes.Slice(2, 6))), ErrInvalid, "do not begin at a multiple of 4, as elements of type uint32 do"},
			{"elements with pointers", Download(ctx, s, []*int{}, Reinterpret[*int](bytes)), ErrInvalid, "elements of type *int"},
			{"elements without bytes", Download(ctx, s, []struct{}{}, Reinterpret[struct{}](bytes)), ErrInvalid, "have no size"},
			{"a closed buffer", Download(ctx, s, make([]uint32, 2), Reinterpret[uint32](closed)), ErrClosed, "buffer is closed"},
			{"a part that does not exist", Download(ctx, s, []uint32{}, Reinterpret[uint32](bytes.Slice(60, 68))), ErrInvalid, "sub-buffer [60:68]"},
			{"no buffer", Download(ctx, s, []uint32{}, Reinterpret[uint32]((*Buffer[byte])(nil))), ErrInvalid, "buffer is nil"},
			{"a buffer that Alloc has not made", Download(ctx, s, []uint32{}, Reinterpret[uint32](&Buffer[byte]{})), ErrInvalid, "not made by Alloc"},
		} {
			if !errors.Is(test.err, test.is) || !strings.Contains(test.err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", test.name, test.err, test.want)
			}
		}
	})
}
