// Heat computes how heat spreads in a plate with a hot spiral and cold discs, and draws it
// with lines of equal temperature.
//
//	go run ./examples/heat
//	go run ./examples/heat -device cpu -width 384 -verify
//
// It does so twice. The simple version reads and writes the plate in every step, so it is
// as slow as the memory. The other one computes eight steps per launch (temporal blocking):
// a block of threads loads a tile with a margin of eight cells, keeps it in registers and
// shared memory, and writes the middle, which nothing outside the tile has reached by then.
// On a CPU, whose caches hold the plate anyway, this is slower. The program prints both
// times, and checks that the results have the same bits. With -verify, it also compares the
// first steps with those of plain Go.
package main
