// Package generate writes the files of quern gen: for a package with kernels,
// quern_gen.zip with their PTX and quern_gen.go with a typed launcher and the
// CPU version of each. The same source gives the same bytes.
package generate
