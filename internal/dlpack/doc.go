// Package dlpack contains the C structures of DLPack 1.0 (dlpack.h), with which
// libraries in one process exchange arrays.
//
// A [Managed] tensor that [New] creates is Go memory that stays pinned until its
// consumer calls the deleter, on any thread. A tensor of another library is read
// in place; [Delete] calls its deleter.
package dlpack
