//go:build race || !(amd64 || arm64)

package kernel

// storeRelaxed is an atomic store, which the race detector knows, and which is in
// one piece on processors with words of 32 bits.
func storeRelaxed[T AtomicNumber](p *T, v T) { store(p, v) }
