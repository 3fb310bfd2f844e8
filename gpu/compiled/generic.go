package compiled

import (
	"fmt"
	"reflect"
	"strings"

	"quern.dev/internal/driver"
)

// NoInstance returns the error of a generic kernel's launcher for a combination of
// types that the kernel's directive does not list. types is a nil function whose
// parameters have these types. The error matches gpu.ErrInvalid.
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
