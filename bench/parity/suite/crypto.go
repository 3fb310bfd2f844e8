package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
)

// Ciphers and hashes.

func aes(z Size) *Case {
	n := z.of(300, 1<<17, 1<<23)
	keys := byhand.ExpandAESKey([16]byte(random(16, anyByte)))
	nonce := [3]uint32(random(3, word))
	table := in(byhand.AESTable())
	src := in(random(n, func(r *rand.Rand) [4]uint32 {
		return [4]uint32{r.Uint32(), r.Uint32(), r.Uint32(), r.Uint32()}
	}))
	dst := out[[4]uint32](n, exact)
	return &Case{
		Name: "aes", Kernel: kernels.AES, Grid: linear(n, kernels.AESThreads),
		Args: []any{keys, nonce, table, src, dst},
		Unit: Bytes, Work: 32 * float64(n),
		ByHand: func() { byhand.AES(keys, nonce, table.Host, src.Host, dst.Hand) },
	}
}

func sha3(z Size) *Case {
	n := z.of(150, 1<<14, 1<<21)
	messages := in(random(n*kernels.SHA3MessageWords, func(r *rand.Rand) uint64 { return r.Uint64() }))
	digests := out[uint64](n*kernels.SHA3DigestWords, exact)
	return &Case{
		Name: "sha3", Kernel: kernels.SHA3, Grid: linear(n, 128),
		Args: []any{messages, digests},
		Unit: Items, Work: float64(n), // messages
		ByHand: func() { byhand.SHA3(messages.Host, digests.Hand) },
	}
}
