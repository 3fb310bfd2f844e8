package frontend

import (
	"fmt"
	"os"
	"runtime/debug"

	"quern.dev/internal/compiler/ir"
)

// DebugVariable is the environment variable that adds stacks to faults.
const DebugVariable = "QUERN_DEBUG"

// Fault is a panic of the compiler: an error of the compiler, not of the kernel.
type Fault struct {
	Package string
	Kernel  string // "" if the panic was not in work on a kernel
	Value   any    // of the panic
	Stack   []byte // nil unless DebugVariable is set
}

func (f *Fault) Error() string {
	where := "package " + f.Package
	if f.Kernel != "" {
		where = "kernel " + f.Kernel + " of " + where
	}
	text := fmt.Sprintf("internal error in %s: %v; please report it", where, f.Value)
	if f.Stack == nil {
		return text + ", with what " + DebugVariable + "=1 adds to this message"
	}
	return text + "\n" + string(f.Stack)
}

// Catch, when deferred, converts a panic to an error in err: that of [ir.Poll] to the
// cause of the cancellation, others to a *Fault.
func Catch(err *error, pkg, kernel string) {
	if v := recover(); v != nil {
		*err = panicError(pkg, kernel, v)
	}
}

// catch is Catch for the kernel being lowered.
func (l *lowering) catch(err *error) {
	if v := recover(); v != nil {
		kernel := ""
		if l.kernel != nil {
			kernel = l.kernel.Name
		}
		*err = panicError(l.pkg.Path, kernel, v)
	}
}

func panicError(pkg, kernel string, value any) error {
	if e, ok := value.(ir.Ended); ok {
		return e.Cause
	}
	f := &Fault{Package: pkg, Kernel: kernel, Value: value}
	if os.Getenv(DebugVariable) != "" {
		f.Stack = debug.Stack()
	}
	return f
}
