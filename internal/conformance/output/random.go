package output

import "quern.dev/kernel"

// words stores n words of each thread's sequence.
//
//quern:kernel
func words(t kernel.Thread, seed uint64, n int, out []uint32) {
	random := kernel.NewRandom(seed, uint64(t.Global()))
	for i := range n {
		out[t.Global()*n+i] = random.Uint32()
	}
}

// draws stores one number of each distribution.
//
//quern:kernel
func draws(t kernel.Thread, seed uint64, out []float64) {
	random := kernel.NewRandom(seed, uint64(t.Global()))
	random.Skip(3)
	at := out[t.Global()*8:]
	w := random.Uint32x4()
	at[0] = float64(w[0] ^ w[1] ^ w[2] ^ w[3])
	at[1] = float64(random.Float32())
	at[2] = random.Float64()
	at[3] = float64(random.Uint32N(1000))
	x, y := random.Normal()
	at[4], at[5] = float64(x), float64(y)
	at[6] = float64(random.Exponential())
	at[7] = float64(random.Uint64() >> 12)
}
