// Flow computes how a fluid flows past a cylinder, with the lattice Boltzmann method
// (D2Q9), and draws the vortices that leave the cylinder alternately from both sides: a
// von Karman vortex street.
//
//	go run ./examples/flow
//	go run ./examples/flow -device cpu -diameter 16 -verify
//	go run ./examples/flow -reynolds 100 -out street.png
//
// It measures how often vortices leave (the Strouhal number) with a Fourier transform of
// the speed behind the cylinder. No mass enters or leaves: the channel is periodic, and in
// a fringe at its end the flow is made uniform again. With -verify, the program checks that
// the mass is constant, and compares the first steps with those that the host computes in
// float64.
package main
