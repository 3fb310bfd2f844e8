//go:build !linux

package main

import "quern.dev/bench/bare"

func startBare(*phases, []float32, []float32) error {
	_, err := bare.Open()
	return err
}
