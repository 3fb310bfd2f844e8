//go:build race || !(amd64 || arm64)

package kernel

// storeRelaxed is an atomic store. The race detector recognizes it, and 32-bit
// processors write it in a single access.
func storeRelaxed[T AtomicNumber](p *T, v T) { store(p, v) }
