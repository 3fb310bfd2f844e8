// Package generate writes the files of quern gen. For a package with kernels, these are
// quern_gen.zip with the PTX, and quern_gen.go with a typed launcher and the CPU
// version of each kernel. The output is deterministic.
package generate
