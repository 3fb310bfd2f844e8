package gpu

import (
	"fmt"
	"reflect"
	"strings"
)

// NoInstance is the error of the launcher of a generic kernel for types that
// its directive does not list together. types is a nil function with parameters
// of these types. The launchers that quern gen writes use it.
func NoInstance(kernel string, types any) error {
	var names []string
	if t := reflect.TypeOf(types); t != nil && t.Kind() == reflect.Func {
		for in := range t.Ins() {
			names = append(names, in.String())
		}
	}
	return driverError("launch "+kernel, fmt.Errorf("%w: add %s to instantiate= of its directive", invalid("the kernel has no instance for %s", strings.Join(names, ", ")), strings.Join(names, ":")))
}
