package host

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"quern.dev/kernel"
)

// Failure describes why a launch did not complete.
type Failure struct {
	Block, Thread kernel.Dim3 // the thread that failed
	File          string      // the position, in the kernel's own source if known
	Line          int
	Package       string // import path of the function at that position; "main" for a program's main package

	// Index is the index or bound that was out of range. Length is the length or
	// capacity against which it was checked.
	Index, Length int64
	HasIndex      bool

	// Reason is the text of the failure, such as "index out of range", "slice
	// bounds out of range", "integer divide by zero", or the message of a panic.
	Reason string

	// Canceled is the cause of a cancellation, if the launch was canceled before
	// every block had run. File is then empty if no thread was in a loop.
	Canceled error
}

// Fail ends the launch with the given reason.
func Fail(r *Run, reason string) {
	panic(reason)
}

// newFailure describes a panic with value v in the current thread of r. Call it
// from the function that recovers.
func newFailure(r *Run, v any) *Failure {
	f := &Failure{Block: r.BlockIdx, Thread: r.ThreadIdx}
	if r.further > 0 { // the row continues through several blocks
		f.Block.X += f.Thread.X / r.BlockDim.X
		f.Thread.X %= r.BlockDim.X
	}
	if e, ok := v.(*kernel.ThreadError); ok { // from a thread run by Plain
		f.Block, f.Thread, f.File, f.Line, f.Package, v = e.Block, e.Thread, e.File, e.Line, packageOf(e.Function), e.Value
	} else {
		var function string
		f.File, f.Line, function = panicSite()
		f.Package = packageOf(function)
	}
	switch v := v.(type) {
	case runtime.Error:
		f.describe(v.Error())
		if f.HasIndex && f.Index < 0 {
			f.Length = boundOf(v)
		}
	case error:
		f.Reason = v.Error()
	default:
		f.Reason = fmt.Sprint(v)
	}
	return f
}

// describe parses the text of a Go run-time error:
//
//	index out of range [5] with length 3
//	index out of range [-1]
//	slice bounds out of range [:5] with capacity 3
//	slice bounds out of range [4:2]
//	cannot convert slice with length 3 to array or pointer to array with length 4
func (f *Failure) describe(text string) {
	text = strings.TrimPrefix(text, "runtime error: ")
	if n := integers(text); strings.HasPrefix(text, "cannot convert slice") && len(n) == 2 {
		f.Reason, f.HasIndex, f.Index, f.Length = "slice bounds out of range", true, n[1], n[0]
		return
	}
	reason, rest, found := strings.Cut(text, " [")
	if !found || !strings.HasSuffix(reason, "out of range") {
		f.Reason = text
		return
	}
	f.Reason = reason
	numbers := integers(rest)
	if len(numbers) > 0 {
		f.HasIndex, f.Index = true, numbers[0]
	}
	if len(numbers) > 1 {
		f.Length = numbers[1]
	}
}

// boundOf returns the length against which a negative index was checked. The
// run-time error contains it but does not print it. The result is 0 if it cannot
// be read.
func boundOf(err runtime.Error) int64 {
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Struct {
		return 0
	}
	if y := v.FieldByName("y"); y.IsValid() && y.CanInt() {
		return y.Int()
	}
	return 0
}

// integers returns the decimal numbers in a text. The largest uint64 values,
// which can occur as indices of that type, become negative.
func integers(text string) []int64 {
	var list []int64
	isDigit := func(i int) bool { return i < len(text) && '0' <= text[i] && text[i] <= '9' }
	for i := 0; i < len(text); i++ {
		if !isDigit(i) {
			continue
		}
		negative := i > 0 && text[i-1] == '-'
		var v uint64
		for ; isDigit(i); i++ {
			v = v*10 + uint64(text[i]-'0')
		}
		if negative {
			v = -v
		}
		list = append(list, int64(v))
	}
	return list
}

// panicSite returns the position of the kernel statement that panicked. Only
// newFailure may call it.
func panicSite() (file string, line int, function string) {
	var pcs [32]uintptr
	// Callers, panicSite, newFailure, and the function that recovers.
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	for {
		f, more := frames.Next()
		if !isRuntime(f.Function) {
			return f.File, f.Line, f.Function
		}
		if !more {
			return "", 0, ""
		}
	}
}

// packageOf returns the import path of a function, given its name as the Go
// runtime formats it: "example.com/a%2eb/filters.(*Filter).Apply".
func packageOf(function string) string {
	last := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[last:], ".")
	return function[:last] + strings.ReplaceAll(name, "%2e", ".")
}

// isRuntime reports whether a function belongs to Go's or Quern's runtime rather
// than to a kernel.
func isRuntime(function string) bool {
	for _, prefix := range []string{
		"runtime.", "sync/atomic.", "internal/runtime/", "quern.dev/kernel.", "quern.dev/kernel/host.", "quern.dev/ring/actor.", "quern.dev/ring/internal/mail.",
	} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return !strings.Contains(function, ".") // assembly of the Go runtime
}
