// Package fft computes discrete Fourier transforms.
package fft

//go:generate go tool quern gen
