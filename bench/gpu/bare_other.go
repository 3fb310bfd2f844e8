//go:build !linux

package main

import "errors"

func newBareLauncher() (launcher, error) {
	return launcher{}, errors.New("the bare driver call is measured on Linux only")
}
