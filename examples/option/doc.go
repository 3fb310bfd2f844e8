// Option computes the prices of options by simulation on all devices of the machine, and
// compares those of European options with the formula of Black and Scholes. The formula
// has no equivalent for the Asian options, which depend on the average price.
//
//	go run ./examples/option
//	go run ./examples/option -device cpu -paths 1000000 -verify
//
// The random numbers of a path depend on its index only, paths are summarized in pieces of
// constant size, and the host merges the pieces in their order. So the prices have the same
// bits for any number of devices of one kind.
package main
