// Argon simulates liquid argon: atoms that attract each other at a distance and repel each
// other where they touch (the Lennard-Jones potential). It prints temperature and energies,
// and draws the atoms.
//
//	go run ./examples/argon
//	go run ./examples/argon -device cpu -cells 8 -verify
//
// Forces end at a distance. In every step the atoms are sorted by cells of that width, so
// an atom looks for others in 27 cells only: a histogram of the cells and its running sum
// say where in the sorted order each cell begins. Velocity Verlet integration keeps the
// energy nearly constant. With -verify, the program limits its change, and compares forces
// with those that the host computes from all pairs of atoms in float64.
//
// Lengths are in diameters of an atom, energies in depths of the potential: 0.34 nm and
// 1.65e-21 J for argon. The unit of time is then 2.2 ps.
package main
