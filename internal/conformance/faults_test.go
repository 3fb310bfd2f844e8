package conformance

import (
	"context"
	"embed"
	"errors"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// sources are the files in which tests look up lines, embedded for machines without the
// source tree.
//
//go:embed faults.go misuse.go
var sources embed.FS

// lineOf returns the line number of text in faults.go.
func lineOf(t *testing.T, text string) int {
	t.Helper()
	src, err := sources.ReadFile("faults.go")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(src), "\n") {
		if strings.Contains(line, text) {
			return i + 1
		}
	}
	t.Fatalf("faults.go has no line with %q", text)
	return 0
}

func TestFaultIsReportedAndDeviceStaysUsable(t *testing.T) {
	type launcher func(s *gpu.Stream, g gpu.Grid, at int, in, out *gpu.Buffer[int32]) error
	const at = 70 // block 2, thread 6 in blocks of 32 threads
	for _, c := range []struct {
		kernel        string
		launch        launcher
		line          string
		index, length int64
		text          string
	}{
		{"indexOutOfRange", LaunchIndexOutOfRange, "in[i+len(in)]", at + 100, 100, "index 170 out of range"},
		{"negativeIndex", LaunchNegativeIndex, "in[i-at-3]", -3, 100, "index -3 out of range"},
		{"arrayIndexOutOfRange", LaunchArrayIndexOutOfRange, "v[in[i]]", 1000, 8, "index 1000 out of range"},
		{"sharedIndexOutOfRange", LaunchSharedIndexOutOfRange, "s[in[i]]", 1000, 16, "index 1000 out of range"},
		{"divisionByZero", LaunchDivisionByZero, "in[i] / d", 0, 0, "zero"},
		{"negativeShift", LaunchNegativeShift, "1 << (int32(i)", 0, 0, "shift"},
		{"sliceOutOfRange", LaunchSliceOutOfRange, "len(in)+1]", 101, 100, "101"},
		{"panics", LaunchPanics, "panic(\"negative weight\")", 0, 0, "negative weight"},
		{"nilField", LaunchNilField, "// nil field", 0, 0, "nil pointer dereference"},
		{"nilNestedField", LaunchNilNestedField, "// nil nested field", 0, 0, "nil pointer dereference"},
		{"nilArray", LaunchNilArray, "// nil array", 0, 0, "nil pointer dereference"},
		{"nilElement", LaunchNilElement, "// nil element", 0, 0, "nil pointer dereference"},
		{"nilAgain", LaunchNilAgain, "// nil in the last iteration", 0, 0, "nil pointer dereference"},
		{"nilToPointer", LaunchNilToPointer, "// nil behind a pointer", 0, 0, "nil pointer dereference"},
		{"nilInStruct", LaunchNilInStruct, "// nil in a struct", 0, 0, "nil pointer dereference"},
		{"nilInArray", LaunchNilInArray, "// nil in an array", 0, 0, "nil pointer dereference"},
		{"nilReceiver", LaunchNilReceiver, "// of a nil node", 0, 0, "nil pointer dereference"},
		{"nilValueReceiver", LaunchNilValueReceiver, "// nil copied", 0, 0, "nil pointer dereference"},
		{"nilEmbedded", LaunchNilEmbedded, "// nil embedded", 0, 0, "nil pointer dereference"},
		{"nilFieldAddress", LaunchNilFieldAddress, "// nil address", 0, 0, "nil pointer dereference"},
		{"nilSliced", LaunchNilSliced, "// nil sliced", 0, 0, "nil pointer dereference"},
		{"nilRange", LaunchNilRange, "// nil range", 0, 0, "nil pointer dereference"},
		{"nilShared", LaunchNilShared, "// nil shared", 0, 0, "nil pointer dereference"},
		{"nilAtomic", LaunchNilAtomic, "// nil atomic", 0, 0, "nil pointer dereference"},
		{"nilOrdered", LaunchNilOrdered, "// nil ordered", 0, 0, "nil pointer dereference"},
		{"nilCopied", LaunchNilCopied, "// nil struct", 0, 0, "nil pointer dereference"},
		{"nilDropped", LaunchNilDropped, "// nil dropped", 0, 0, "nil pointer dereference"},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			gputest.Each(t, func(t *testing.T, d *gpu.Device) {
				ctx := context.Background()
				s := d.DefaultStream()
				host := make([]int32, 100)
				for i := range host {
					host[i] = 1000
				}
				in, err := gpu.Upload(s, host)
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				out, err := gpu.Alloc[int32](d, 100)
				if err != nil {
					t.Fatal(err)
				}
				defer out.Close()
				if err := c.launch(s, gpu.Blocks(dim(4), dim(32)), at, in, out); err != nil {
					t.Fatal("the launch itself must succeed:", err)
				}
				err = s.Synchronize(ctx)
				var ke *gpu.KernelError
				if !errors.As(err, &ke) {
					t.Fatalf("Synchronize returned %v, want a KernelError", err)
				}
				if ke.Kernel != c.kernel || ke.File != "quern.dev/internal/conformance/faults.go" || ke.Line != lineOf(t, c.line) {
					t.Errorf("reported %s at %s:%d, want %s at faults.go:%d", ke.Kernel, ke.File, ke.Line, c.kernel, lineOf(t, c.line))
				}
				if ke.Block != dim3(2, 0, 0) || ke.Thread != dim3(6, 0, 0) {
					t.Errorf("reported block %v thread %v, want (2,0,0) and (6,0,0)", ke.Block, ke.Thread)
				}
				if c.length != 0 && (ke.Index != c.index || ke.Length != c.length) {
					t.Errorf("reported index %d length %d, want %d and %d", ke.Index, ke.Length, c.index, c.length)
				}
				if !strings.Contains(err.Error(), c.text) {
					t.Errorf("error %q does not contain %q", err, c.text)
				}
				// The fault is reported once and the context survives.
				if err := s.Synchronize(ctx); err != nil {
					t.Errorf("a second wait returned %v", err)
				}
				if err := c.launch(s, gpu.Blocks(dim(4), dim(32)), -1, in, out); err != nil {
					t.Fatal(err)
				}
				if err := s.Synchronize(ctx); err != nil {
					t.Errorf("after the fault a good launch returned %v", err)
				}
				back := make([]int32, 100)
				if err := gpu.Download(ctx, s, back, in); err != nil {
					t.Fatal(err)
				}
				for i, v := range back {
					if v != 1000 {
						t.Fatalf("in[%d] = %d: the failing kernel changed its input", i, v)
					}
				}
			})
		})
	}
}

func dim3(x, y, z int) gpu.Dim3 { return gpu.Dim3{X: x, Y: y, Z: z} }
