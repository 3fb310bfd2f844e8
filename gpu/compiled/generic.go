package compiled

import (
	"fmt"
	"reflect"
	"strings"

	"quern.dev/internal/driver"
)

// NoInstance is the error of the launcher of a generic kernel for types that its
// directive does not list together. types is a nil function with parameters of these
// types. It matches gpu.ErrInvalid.
func NoInstance(kernel string, types any) error {
	var names []string
	if t := reflect.TypeOf(types); t != nil && t.Kind() == reflect.Func {
		for in := range t.Ins() {
			names = append(names, in.String())
		}
	}
	return &noInstance{kernel, names}
}

type noInstance struct {
	kernel string
	types  []string
}

func (e *noInstance) Error() string {
	return fmt.Sprintf("gpu: launch %s: the kernel has no instance for %s: add %s to instantiate= of its directive",
		e.kernel, strings.Join(e.types, ", "), strings.Join(e.types, ":"))
}

func (e *noInstance) Unwrap() error { return driver.ErrInvalid }
