package kernels

import "quern.dev/kernel"

const (
	// FFTSize is the number of points of a transform.
	FFTSize = 512

	// FFTThreads is the number of threads per block. Each has radix points.
	FFTThreads = FFTSize / radix

	radix = 8

	fftPadding = FFTSize / 32 // prevents bank conflicts of strided accesses
)

// Complex is a complex number.
type Complex struct{ Re, Im float32 }

// fft transforms every FFTSize points of in, one transform per block, in three passes of
// radix 8 (Stockham). twiddles holds exp(-2*pi*i*k/FFTSize) for each k.
//
//quern:kernel block=64
func fft(t kernel.Thread, twiddles, in, out []Complex) {
	fftBlock(t, twiddles, in, out)
}

// fftUnchecked is fft without bounds checks.
//
//quern:kernel block=64 unchecked
func fftUnchecked(t kernel.Thread, twiddles, in, out []Complex) {
	fftBlock(t, twiddles, in, out)
}

func fftBlock(t kernel.Thread, twiddles, in, out []Complex) {
	re := kernel.Shared[[FFTSize + fftPadding]float32](t)
	im := kernel.Shared[[FFTSize + fftPadding]float32](t)
	j, first := t.ThreadIdx.X, t.BlockIdx.X*FFTSize
	var v [radix]Complex
	for r := range radix {
		v[r] = in[first+j+r*FFTThreads]
	}
	butterfly(&v)
	for done := radix; done < FFTSize; done *= radix {
		// done is the size of the transforms from which the next pass starts.
		last := done / radix
		to := j/last*done + j%last
		for r := range radix {
			place := padded(to + r*last)
			re[place], im[place] = v[r].Re, v[r].Im
		}
		t.Sync()
		for r := range radix {
			place := padded(j + r*FFTThreads)
			v[r] = Complex{re[place], im[place]}
		}
		t.Sync()
		for r := 1; r < radix; r++ {
			v[r] = multiply(v[r], twiddles[r*(j%done)*(FFTSize/radix/done)])
		}
		butterfly(&v)
	}
	for r := range radix {
		out[first+j+r*FFTThreads] = v[r]
	}
}

func padded(i int) int { return i + i/32 }

func multiply(a, b Complex) Complex {
	return Complex{a.Re*b.Re - a.Im*b.Im, a.Re*b.Im + a.Im*b.Re}
}

func add(a, b Complex) Complex      { return Complex{a.Re + b.Re, a.Im + b.Im} }
func subtract(a, b Complex) Complex { return Complex{a.Re - b.Re, a.Im - b.Im} }

// turn multiplies by -i.
func turn(a Complex) Complex { return Complex{a.Im, -a.Re} }

// butterfly transforms radix points.
func butterfly(v *[radix]Complex) {
	const half = 0.70710678 // sqrt(1/2)
	a0, a4 := add(v[0], v[4]), subtract(v[0], v[4])
	a1, a5 := add(v[1], v[5]), subtract(v[1], v[5])
	a2, a6 := add(v[2], v[6]), turn(subtract(v[2], v[6]))
	a3, a7 := add(v[3], v[7]), subtract(v[3], v[7])
	// Multiply the odd ones by the first and third power of exp(-i*pi/4).
	a5 = Complex{half * (a5.Re + a5.Im), half * (a5.Im - a5.Re)}
	a7 = Complex{half * (a7.Im - a7.Re), -half * (a7.Im + a7.Re)}

	b0, b2 := add(a0, a2), subtract(a0, a2)
	b1, b3 := add(a1, a3), turn(subtract(a1, a3))
	b4, b6 := add(a4, a6), subtract(a4, a6)
	b5, b7 := add(a5, a7), turn(subtract(a5, a7))
	v[0], v[4] = add(b0, b1), subtract(b0, b1)
	v[2], v[6] = add(b2, b3), subtract(b2, b3)
	v[1], v[5] = add(b4, b5), subtract(b4, b5)
	v[3], v[7] = add(b6, b7), subtract(b6, b7)
}
