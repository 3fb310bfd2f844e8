//go:build !race && (amd64 || arm64)

package kernel

// storeRelaxed is a plain store: an aligned word is written in one piece, and the
// compiler keeps the order of stores. Those of sync/atomic order all others too,
// which takes ten times as long.
func storeRelaxed[T AtomicNumber](p *T, v T) { *p = v }
