package engine

import "testing"

func TestSizesOfOneClassDifferByAFifth(t *testing.T) {
	last, first := -1, 0
	for n := range 1 << 14 {
		size := Size(n)
		if size < last {
			t.Fatalf("Size(%d) is %d, less than %d", n, size, last)
		}
		if size != last {
			last, first = size, n
		}
		if n >= 8 && float64(n) >= 1.25*float64(first) {
			t.Fatalf("%d and %d have the same size", first, n)
		}
	}
	if Size(4096) == Size(4095) || Size(4096) != Size(5000) || Size(1<<40) <= Size(1<<39) {
		t.Error("sizes are wrong")
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"Quern": Quern.String(), "Vendor": Vendor.String(), "Auto": Auto.String(), "Engine(9)": Engine(9).String(),
		"cuFFT": FFT.String(), "cuSPARSE": Sparse.String(),
		"cuFFT: cufftCreate (5): bad; try again": (&Error{Library: "cuFFT", Function: "cufftCreate", Code: 5, Reason: "bad", Advice: "try again"}).Error(),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
