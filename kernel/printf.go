package kernel

import (
	"fmt"
	"reflect"
	"sync/atomic"
)

// Printf prints, with the verbs of package fmt but %T. The format is a constant;
// the arguments are integers, floats, bools and constant strings, which print as
// such whatever methods their types have. In a kernel that runs on a device the
// text appears where gpu.Config.Output says, by default on standard output, when
// the host waits for the stream; what one thread prints is in order. If more than
// 1 MiB is printed between two waits, the rest is left out and counted.
//
// It is meant for finding mistakes: it is slow.
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

// SetPrinter says what becomes of the messages of [Printf] where Go runs it; nil
// is for standard output. It is for package host.
func SetPrinter(print func(message string)) {
	if print == nil {
		printer.Store(nil)
		return
	}
	printer.Store(&print)
}

// withoutMethods returns the value of the predeclared type under a's.
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
