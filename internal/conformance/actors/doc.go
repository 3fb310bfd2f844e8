// Package actors has handlers of actors, whose tests run on every device.
package actors

//go:generate go run quern.dev/cmd/quern gen
