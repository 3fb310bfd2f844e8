//go:build linux || darwin || windows

package gdal

import (
	"reflect"

	"github.com/ebitengine/purego"

	"quern.dev/internal/dynlib"
)

// bind opens a library and finds its functions.
func bind(file string) (*functions, error) {
	lib, err := dynlib.Open(file)
	if err != nil {
		return nil, err
	}
	f := new(functions)
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		field, of := v.Field(i), v.Type().Field(i)
		switch {
		case of.Anonymous:
			for j := range field.NumField() {
				if address := lib.Lookup(field.Type().Field(j).Name); address != 0 {
					purego.RegisterFunc(field.Field(j).Addr().Interface(), address)
				}
			}
		case field.Kind() == reflect.Func:
			address := lib.Lookup(of.Name)
			if address == 0 {
				return nil, &versionError{file, of.Name}
			}
			purego.RegisterFunc(field.Addr().Interface(), address)
		}
	}
	if f.quiet = lib.Lookup("CPLQuietErrorHandler"); f.quiet == 0 {
		return nil, &versionError{file, "CPLQuietErrorHandler"}
	}
	return f, nil
}
