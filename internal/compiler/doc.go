// Package compiler takes a kernel from the front end's representation through
// the passes to PTX. Package generate builds the files of quern gen on it, and
// package gpu compiles source text at run time with it.
package compiler
