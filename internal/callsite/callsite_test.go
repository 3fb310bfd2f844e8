package callsite_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"quern.dev/internal/callsite"
)

//go:noinline
func plain() uintptr { return callsite.Caller() }

//go:noinline
func generic[T any](x T) (uintptr, T) { return callsite.Caller(), x }

func first(pc uintptr, _ string) uintptr { return pc }

//go:noinline
func large(n int) uintptr {
	var room [1 << 16]byte
	for i := range n {
		room[i]++
	}
	pc := callsite.Caller()
	if room[n] != 0 {
		return 0
	}
	return pc
}

func inlined() uintptr { return plain() }

func line(pc uintptr) string {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
}

func here() string {
	_, file, n, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), n)
}

func TestCallerReturnsTheLineOfTheCall(t *testing.T) {
	pc, want := plain(), here()
	if got := line(pc); got != want {
		t.Errorf("of a function: %s, want %s", got, want)
	}
	pc, want = first(generic("x")), here()
	if got := line(pc); got != want {
		t.Errorf("of a generic function: %s, want %s", got, want)
	}
	pc, want = large(7), here()
	if got := line(pc); got != want {
		t.Errorf("of a function whose stack has to grow: %s, want %s", got, want)
	}
}

func TestCallerInAnInlinedFunction(t *testing.T) {
	f, _ := runtime.CallersFrames([]uintptr{inlined()}).Next()
	if want := "quern.dev/internal/callsite_test.inlined"; f.Function != want {
		t.Errorf("called from %s, want %s", f.Function, want)
	}
}

func TestCallerInAGoroutine(t *testing.T) {
	found := make(chan string)
	go func() { found <- line(plain()) }()
	if got, want := <-found, "callsite_test.go:"; len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("called at %s, want a line of this file", got)
	}
}

func BenchmarkCaller(b *testing.B) {
	for b.Loop() {
		plain()
	}
}
