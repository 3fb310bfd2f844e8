package gpu

import (
	"reflect"
	"strings"
	"sync"
)

// elements caches checkElement by type: nil or an error.
var elements sync.Map // reflect.Type -> error

// checkType reports why values of T cannot be in the memory of a device: they
// hold pointers.
func checkType[T any]() error {
	t := reflect.TypeFor[T]()
	if known, ok := elements.Load(t); ok {
		err, _ := known.(error)
		return err
	}
	err := checkElement(t)
	elements.Store(t, err)
	return err
}

func checkElement(t reflect.Type) error {
	if t.Size() == 0 {
		return invalid("elements of type %v have no size", t)
	}
	if inner, path := notData(t); inner != nil {
		if inner == t {
			return invalid("a device cannot hold elements of type %v", t)
		}
		return invalid("a device cannot hold elements of type %v: it contains %v, at %s", t, inner, strings.TrimPrefix(path, "."))
	}
	return nil
}

// notData returns the first type within t that a device cannot hold, and its path
// there, as in .rows[i].name; nil if there is none.
func notData(t reflect.Type) (inner reflect.Type, path string) {
	switch k := t.Kind(); {
	case k == reflect.Array:
		inner, path = notData(t.Elem())
		return inner, "[i]" + path
	case k == reflect.Struct:
		for i := range t.NumField() {
			if inner, path := notData(t.Field(i).Type); inner != nil {
				return inner, "." + t.Field(i).Name + path
			}
		}
		return nil, ""
	case reflect.Bool <= k && k <= reflect.Complex128 && k != reflect.Uintptr:
		return nil, ""
	default:
		return t, ""
	}
}
