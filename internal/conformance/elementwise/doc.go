// Package elementwise has kernels that the compiler coarsens, and tests that every device
// runs them correctly: with lengths near multiples of a vector, at addresses that are not
// aligned for vector access, and with faults in the middle of a vector. It has no API.
package elementwise
