// Package kernels has the kernels of package video: conversions of colors, and the measure of motion.
package kernels

//go:generate go tool quern gen
