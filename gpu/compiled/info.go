package compiled

import (
	"encoding/binary"
	"errors"
	"reflect"
)

// Info returns a kernel in the form in which an archive holds it: the fields that are
// numbers, strings, structs or slices, in their order. Numbers have a variable length, and
// strings and slices begin with theirs. Whoever changes the fields changes the format of
// archives; see package internal/archive.
func (k *Kernel) Info() string { return string(appendValue(nil, reflect.ValueOf(k).Elem())) }

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		return append(b, v.String()...)
	case reflect.Slice:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		for i := range v.Len() {
			b = appendValue(b, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			b = appendValue(b, v.Field(i))
		}
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint8:
		return append(b, byte(v.Uint()))
	}
	return b
}

var errInfo = errors.New("a description has an unknown form")

// parseInfo returns the kernel that Info described.
func parseInfo(info string) (k Kernel, err error) {
	rest, ok := parseValue([]byte(info), reflect.ValueOf(&k).Elem())
	if !ok || len(rest) > 0 {
		return Kernel{}, errInfo
	}
	return k, nil
}

// parseValue sets v and returns the rest of the data.
func parseValue(b []byte, v reflect.Value) (rest []byte, ok bool) {
	switch v.Kind() {
	case reflect.String, reflect.Slice:
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, false
		}
		b = b[size:]
		if v.Kind() == reflect.String {
			v.SetString(string(b[:n]))
			return b[n:], true
		}
		if n == 0 {
			return b, true
		}
		v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
		for i := range v.Len() {
			if b, ok = parseValue(b, v.Index(i)); !ok {
				return nil, false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if b, ok = parseValue(b, v.Field(i)); !ok {
				return nil, false
			}
		}
	case reflect.Bool, reflect.Uint8:
		if len(b) == 0 {
			return nil, false
		}
		if v.Kind() == reflect.Bool {
			v.SetBool(b[0] != 0)
		} else {
			v.SetUint(uint64(b[0]))
		}
		return b[1:], true
	case reflect.Int, reflect.Int64:
		n, size := binary.Varint(b)
		if size <= 0 {
			return nil, false
		}
		v.SetInt(n)
		return b[size:], true
	}
	return b, true
}
