// Package routing has handlers of actors that send to each other, to groups and by
// reference, whose tests run on every device.
package routing

//go:generate go run quern.dev/cmd/quern gen
