package kernel

import (
	"fmt"
	"reflect"
	"sync/atomic"
)

// Printf prints with the verbs of package fmt except %T. The format must be a
// constant. Arguments are integers, floats, bools and constant strings; methods
// of their types are ignored. On a device, the output goes to gpu.Config.Output,
// by default standard output, when the host waits for the stream. The output of
// each thread is in order. Output beyond 1 MiB between two waits is dropped, and
// the dropped messages are counted.
//
// Printf is slow. It is meant for debugging.
func Printf(format string, args ...any) {
	plain := make([]any, len(args))
	for i, a := range args {
		plain[i] = withoutMethods(a)
	}
	if p := printer.Load(); p != nil {
		(*p)(fmt.Sprintf(format, plain...))
		return
	}
	fmt.Printf(format, plain...)
}

var printer atomic.Pointer[func(message string)]

// SetPrinter sets the function that receives the messages of [Printf] when a
// kernel runs as plain Go; nil means standard output. It is for package host.
func SetPrinter(print func(message string)) {
	if print == nil {
		printer.Store(nil)
		return
	}
	printer.Store(&print)
}

// withoutMethods returns a as a value of its predeclared underlying type.
func withoutMethods(a any) any {
	switch v := reflect.ValueOf(a); {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.Kind() == reflect.Float32:
		return float32(v.Float())
	case v.Kind() == reflect.Float64:
		return v.Float()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.Kind() == reflect.String:
		return v.String()
	}
	return a
}
