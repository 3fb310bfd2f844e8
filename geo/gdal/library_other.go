//go:build !linux && !darwin && !windows

package gdal

import (
	"fmt"
	"runtime"
)

func bind(file string) (*functions, error) {
	return nil, fmt.Errorf("libraries cannot be opened without cgo on %s", runtime.GOOS)
}

func candidates() []string { return nil }
