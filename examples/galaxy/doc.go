// Galaxy lets two disk galaxies pass each other, and writes pictures of it. All bodies
// attract each other: a step computes the forces between all pairs, in tiles that the
// threads of a block share, and integrates them with the leapfrog method.
//
//	go run ./examples/galaxy
//	go run ./examples/galaxy -device cpu -bodies 2048 -verify
//	go run ./examples/galaxy -frames 100 -out frames.png
//
// The program prints the energy, which the leapfrog method keeps nearly constant. With
// -verify it also compares the last forces with sums in float64 on the host.
package main
