//go:build !linux

package profile

// openNVTX returns nil: the library is used on Linux only.
func openNVTX() *nvtx { return nil }
