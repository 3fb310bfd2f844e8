//go:build !linux && !darwin && !windows

package proj

import "runtime"

func (l *Library) bind() error {
	return failure(ErrMissing, "open", l.file, "libraries cannot be opened without cgo on %s", runtime.GOOS)
}

func candidates() []string { return []string{"libproj.so"} }
