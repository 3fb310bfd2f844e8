package callsite_test

import (
	"runtime"
	"strings"
	"testing"

	"quern.dev/internal/callsite"
)

//go:noinline
func capture(pcs []uintptr) int { return callsite.Callers(pcs) }

func inner(pcs []uintptr) int { return capture(pcs) }

//go:noinline
func outer(pcs []uintptr) int { return inner(pcs) + grow(0) }

//go:noinline
func grow(n int) int {
	if n == 0 {
		return 0
	}
	var room [1 << 12]byte
	room[n]++
	return grow(n-1) + int(room[n]) - 1
}

func functions(pcs []uintptr) []string {
	var names []string
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		names = append(names, f.Function[strings.LastIndex(f.Function, ".")+1:])
		if !more {
			return names
		}
	}
}

func TestCallersFollowsTheStack(t *testing.T) {
	pcs := make([]uintptr, 32)
	pcs = pcs[:outer(pcs)]
	got := strings.Join(functions(pcs), " ")
	if want := "inner outer TestCallersFollowsTheStack tRunner "; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " goexit") {
		t.Errorf("callers are %q, want %q and goexit at the end", got, want)
	}
}

func TestCallersStopsAtTheEndOfTheSlice(t *testing.T) {
	pcs := make([]uintptr, 2, 4)
	if n := outer(pcs); n != 2 || pcs[:3][2] != 0 {
		t.Errorf("%d callers for a slice of 2, and %#x after it", n, pcs[:3][2])
	}
}

func TestCallersInManyGoroutinesWithGrowingStacks(t *testing.T) {
	done := make(chan string)
	for range 64 {
		go func() {
			pcs := make([]uintptr, 32)
			grow(20)
			names := functions(pcs[:outer(pcs)])
			done <- names[0] + " " + names[len(names)-1]
		}()
	}
	for range 64 {
		if got := <-done; got != "inner goexit" {
			t.Errorf("the first and the last caller are %q", got)
		}
	}
}

func TestGoroutinesDiffer(t *testing.T) {
	if callsite.Goroutine() == 0 {
		t.Skip("not known on this processor")
	}
	other := make(chan uintptr)
	go func() { other <- callsite.Goroutine() }()
	if <-other == callsite.Goroutine() {
		t.Error("two goroutines have one number")
	}
}

func BenchmarkCallers(b *testing.B) {
	pcs := make([]uintptr, 32)
	b.ReportAllocs()
	for b.Loop() {
		outer(pcs)
	}
}

func BenchmarkRuntimeCallers(b *testing.B) {
	pcs := make([]uintptr, 32)
	b.ReportAllocs()
	for b.Loop() {
		runtime.Callers(1, pcs)
	}
}
