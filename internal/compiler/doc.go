// Package compiler compiles a kernel from the front end's representation to PTX.
// Package generate uses it to write the files of quern gen, and package gpu uses it to
// compile source text at run time.
package compiler
