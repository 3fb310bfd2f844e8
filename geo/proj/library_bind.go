//go:build linux || darwin || windows

package proj

import (
	"reflect"
	"sync"

	"github.com/ebitengine/purego"

	"quern.dev/internal/dynlib"
)

// Callbacks are never freed, so there is one for all contexts.
var reporter = sync.OnceValue(func() uintptr {
	return purego.NewCallback(report)
})

// bind opens the library and finds its functions.
func (l *Library) bind() error {
	lib, err := dynlib.Open(l.file)
	if err != nil {
		return failure(ErrMissing, "open", l.file, "the library cannot be opened: %v", err)
	}
	switch {
	case lib.Lookup("proj_create") == 0:
		return failure(ErrVersion, "open", l.file, "it has no functions of PROJ, or they have other names, as in libraries that belong to one program")
	case lib.Lookup("proj_get_suggested_operation") == 0:
		return failure(ErrVersion, "open", l.file, "version 7.1 of PROJ is the oldest that is supported")
	}
	v := reflect.ValueOf(&l.functions).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		address := lib.Lookup(name)
		if address == 0 {
			return failure(ErrVersion, "open", l.file, "it lacks the function %s; version 7.1 of PROJ is the oldest that is supported", name)
		}
		// The fields are not exported, which reflection has no way around but their address.
		field := reflect.NewAt(v.Type().Field(i).Type, v.Field(i).Addr().UnsafePointer())
		purego.RegisterFunc(field.Interface(), address)
	}
	l.log = reporter()
	return nil
}
