package fft

// chirp adds transforms of n points, where n has a large prime factor.
func (b *builder) chirp(n int, from, to side, others []level, s scaling) { panic("todo") }
