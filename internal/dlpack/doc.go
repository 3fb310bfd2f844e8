// Package dlpack is the C structures of DLPack 1.0 (dlpack.h), by which libraries
// of one process hand each other arrays, and calls across that border.
//
// A [Managed] tensor that [New] makes is Go memory that stays where it is until
// its consumer calls the deleter, on any thread. One of another library is read
// in place, and ended by [Delete].
package dlpack
