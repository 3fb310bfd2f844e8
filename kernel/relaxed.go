//go:build !race && (amd64 || arm64)

package kernel

// storeRelaxed is a plain store. An aligned word is written in a single access,
// and the compiler keeps the order of stores. Stores of sync/atomic also order
// all other accesses, which takes ten times as long.
func storeRelaxed[T AtomicNumber](p *T, v T) { *p = v }
