package monitor

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Optional is a value that may be absent, because the driver or the GPU does not report it. The
// zero Optional is absent. In JSON, fields that are absent are omitted.
type Optional[T any] struct {
	value T
	known bool
}

// Some returns a value that is known.
func Some[T any](v T) Optional[T] { return Optional[T]{v, true} }

// Get returns the value, and whether it is known.
func (o Optional[T]) Get() (v T, known bool) { return o.value, o.known }

// Or returns the value, or v if it is absent.
func (o Optional[T]) Or(v T) T {
	if o.known {
		return o.value
	}
	return v
}

// IsZero reports whether the value is absent.
func (o Optional[T]) IsZero() bool { return !o.known }

// String returns the value, or "-" if it is absent.
func (o Optional[T]) String() string {
	if !o.known {
		return "-"
	}
	return fmt.Sprint(o.value)
}

// MarshalJSON returns the value, or null if it is absent.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.known {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	*o = Optional[T]{}
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	o.known = true
	return json.Unmarshal(text, &o.value)
}
