// Package culib calls cuBLASLt, cuFFT and cuSPARSE without cgo. Its [Provider] computes the
// operations of package engine with them.
//
// The libraries are opened when they are first needed, once per process ([Open] says where they
// are searched). A device has one handle of each library, made on first use and destroyed when
// the device is closed. Descriptors of products are kept for the shapes in use; Fourier
// transforms belong to the plans of package fft; those of sparse matrices live as long as a call.
//
// The libraries are told a stream and temporary memory before a call, so such calls hold a lock:
// one per shape for cuBLASLt and cuFFT, one per device for cuSPARSE. The locks are held while
// work is queued, not while it runs.
//
// The matrices of package blas are row-major, and those of cuBLASLt column-major, so the provider
// asks for the transpose of the product: Cᵀ = op(B)ᵀ*op(A)ᵀ.
//
// Constants and functions are those of the headers of CUDA 12.0 to 13.0.
package culib
