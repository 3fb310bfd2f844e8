//go:build !linux

package cupti

import "errors"

// Open returns an error: the library is used on Linux only.
func Open() (Library, error) {
	return nil, errors.New("CUPTI is used on Linux only")
}
