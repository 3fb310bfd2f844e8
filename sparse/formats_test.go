package sparse_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/sparse"
)

func testFormats[T sparse.Float](t *testing.T, dev *gpu.Device) {
	s := dev.DefaultStream()
	for name, e := range structures[T](dev) {
		if len(e.Value) > 3500 {
			continue
		}
		host := vector[T](e.Cols)
		x, old := gputest.Upload(t, dev, host), vector[T](e.Rows)
		want, size := product(false, 2, e, host, -1, old)
		csr, err := sparse.UploadCSR(s, e)
		if err != nil {
			t.Fatal(err)
		}
		if csr.Longest*e.Rows < 100000 {
			ell, err := sparse.AllocELL[T](dev, e.Rows, e.Cols, csr.Longest+1)
			if err != nil {
				t.Fatal(err)
			}
			if err := sparse.CSRToELL(s, ell, csr); err != nil {
				t.Fatal(err)
			}
			y := gputest.Upload(t, dev, old)
			if err := sparse.MulVecELL(s, 2, ell, x, -1, y); err != nil {
				t.Fatal(err)
			}
			near(t, name+" ELL", gputest.Download(t, dev, y), want, size)
			ell.Close()
		}
		for _, block := range []int{1, 2, 3, 4, 7} {
			bsr, err := sparse.UploadBSR(s, e, block)
			if err != nil {
				t.Fatal(err)
			}
			y := gputest.Upload(t, dev, old)
			if err := sparse.MulVecBSR(s, 2, bsr, x, -1, y); err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprint(name, " blocks of ", block), gputest.Download(t, dev, y), want, size)
			bsr.Close()
		}
		csr.Close()
	}
}

func TestFormats(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testFormats[float32](t, dev)
		if dev.Backend() != gpu.Sim {
			testFormats[float64](t, dev)
		}
	})
}

func TestRowsThatAreTooLongForELL(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		a, err := sparse.UploadCSR(s, &sparse.Entries[float32]{Rows: 1, Cols: 3, Row: []int32{0, 0}, Col: []int32{0, 1}, Value: []float32{1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		ell, err := sparse.AllocELL[float32](dev, 1, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer ell.Close()
		if err := sparse.CSRToELL(s, ell, a); !errors.Is(err, gpu.ErrInvalid) || !strings.Contains(err.Error(), "dst has a width of 1, but src has a row of 2 entries") {
			t.Errorf("a known length: %v", err)
		}
		a.Longest = 0
		if err := sparse.CSRToELL(s, ell, a); err != nil {
			t.Fatal(err)
		}
		var fault *gpu.KernelError
		if err := s.Synchronize(t.Context()); !errors.As(err, &fault) || !strings.Contains(err.Error(), "more entries") {
			t.Errorf("an unknown length: %v", err)
		}
	})
}
