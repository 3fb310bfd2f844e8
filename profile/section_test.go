package profile

import (
	"bytes"
	"context"
	"runtime/trace"
	"slices"
	"testing"
	"unsafe"
)

// replaceRanges makes sections use n until the test ends.
func replaceRanges(t *testing.T, n *nvtx) {
	before := ranges
	ranges = func() *nvtx { return n }
	t.Cleanup(func() { ranges = before })
}

func TestASectionIsARangeOfNVTX(t *testing.T) {
	const start, end = 1, 2
	var calls []any
	n := &nvtx{rangeStart: start, rangeEnd: end}
	n.call = func(function uintptr, args ...uintptr) uintptr {
		switch function {
		case start:
			text := *(**byte)(unsafe.Pointer(&args[0]))
			calls = append(calls, string(unsafe.Slice(text, 4)))
		case end:
			calls = append(calls, args[0])
		}
		return 77
	}
	replaceRanges(t, n)
	Section(t.Context(), nil, "sum").End()
	if want := []any{"sum\x00", uintptr(77)}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

func TestASectionIsARegionOfGosTracer(t *testing.T) {
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err)
	}
	Section(context.Background(), nil, "a section of a test").End()
	trace.Stop()
	if !bytes.Contains(b.Bytes(), []byte("a section of a test")) {
		t.Error("the region is missing")
	}
}

// TestRealNVTX calls the library of this machine, without a tool attached.
func TestRealNVTX(t *testing.T) {
	n := openNVTX()
	if n == nil {
		t.Skip("the library of NVTX was not found")
	}
	replaceRanges(t, n)
	for range 3 {
		Section(t.Context(), nil, "sum").End()
	}
}
