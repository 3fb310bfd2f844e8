// Package elementwise has kernels that the compiler makes coarse, and tests that
// every device runs them alike: at lengths around multiples of a vector, on
// addresses that no vector access may have, and with faults in the middle of a
// vector. It has no API.
package elementwise
