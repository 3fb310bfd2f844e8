package kernels

import "quern.dev/kernel"

const (
	// RowSize is the number of points of a transform of fft256.
	RowSize = 256

	// RowsPerBlock is the number of transforms per block of fft256.
	RowsPerBlock = 4
)

// fft256 transforms every RowSize points of in, in four passes of radix 4 (Stockham). 64
// threads compute one transform. twiddles holds exp(-2*pi*i*k/RowSize) for each k.
//
//quern:kernel block=64x4 also=unchecked
func fft256(t kernel.Thread, twiddles, in, out []kernel.Vec2[float32]) {
	rows := kernel.Shared[[RowsPerBlock][RowSize]kernel.Vec2[float32]](t)
	j := t.ThreadIdx.X
	row := &rows[t.ThreadIdx.Y]
	base := (t.BlockIdx.X*RowsPerBlock + t.ThreadIdx.Y) * RowSize
	var v [4]kernel.Vec2[float32]
	//quern:unroll
	for r := range v {
		v[r] = in[base+j+64*r]
	}
	//quern:unroll
	for pass := range 4 {
		ns := 1 << (2 * pass)
		k := j % ns
		if pass > 0 {
			//quern:unroll
			for r := 1; r < 4; r++ {
				v[r] = times(v[r], twiddles[r*k*(64/ns)])
			}
		}
		v = fft4(v)
		to := (j-k)*4 + k
		if pass == 3 {
			//quern:unroll
			for r := range v {
				out[base+to+ns*r] = v[r]
			}
			break
		}
		t.Sync()
		//quern:unroll
		for r := range v {
			row[to+ns*r] = v[r]
		}
		t.Sync()
		//quern:unroll
		for r := range v {
			v[r] = row[j+64*r]
		}
	}
}

// times multiplies complex numbers.
func times(a, b kernel.Vec2[float32]) kernel.Vec2[float32] {
	return kernel.V2(a.X*b.X-a.Y*b.Y, a.X*b.Y+a.Y*b.X)
}

// fft4 transforms four points.
func fft4(v [4]kernel.Vec2[float32]) [4]kernel.Vec2[float32] {
	a, b := v[0].Add(v[2]), v[0].Sub(v[2])
	c, d := v[1].Add(v[3]), v[1].Sub(v[3])
	d = kernel.V2(d.Y, -d.X) // -i*d
	return [4]kernel.Vec2[float32]{a.Add(c), b.Add(d), a.Sub(c), b.Sub(d)}
}
