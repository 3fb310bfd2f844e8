package fft

import "quern.dev/kernel"

// A tile is a set of transforms that a block computes together in shared memory. The
// kernels in this file and in kernels_registers.go are unchecked: the place of a point is a
// sum over levels that the compiler cannot bound. NewPlan computes the largest place of each
// pass, and each call compares it with the lengths of the buffers.

// tile computes the transforms of one tile, for any length with prime factors up to 13.
// The block has Tile rows of threads. The steps go back and forth between the two halves of
// the dynamic shared memory (Stockham), so the result is in order.
//
//quern:kernel unchecked only=gpu instantiate=float32,float64
func tile[T kernel.Float](t kernel.Thread, p pass, tables, in, out []kernel.Vec2[T]) {
	shared := kernel.Dynamic[kernel.Vec2[T]](t)
	first, readAt, writeAt, twist := place(p, t.BlockIdx.X)
	x, y := int32(t.ThreadIdx.X), int32(t.ThreadIdx.Y)
	width, height := int32(t.BlockDim.X), int32(t.BlockDim.Y)
	count := min(int32(p.Levels[0].Count-first), height) // transforms of this tile
	pitch := pitch(p.N)
	number := y*width + x

	// Read the tile.
	row, column := y, x
	if p.ReadColumns {
		row, column = number%height, number/height
	}
	sign := T(p.Sign)
	at, skip := readAt+int(row)*p.Levels[0].In+int(column)*p.In, int(width)*p.In
	for i := column; i < p.N; i += width {
		var v kernel.Vec2[T]
		if row < count {
			v = in[at]
			v.Y *= sign
		}
		shared[row*pitch+padded(i)] = v
		at += skip
	}
	t.Sync()

	from, to := y*pitch, (height+y)*pitch
	done := int32(1)
	radices := p.Radices
	for range p.Steps {
		s := step[T]{width: width, done: done, inverse: 1 / float32(done), roots: p.Roots + done - 1, from: from, to: to}
		switch radices & 15 {
		case 0:
			s.stages = p.N / 16
			stages16(x, s, tables, shared)
			done *= 16
		case 2:
			s.stages = p.N / 2
			stages2(x, s, tables, shared)
			done *= 2
		case 3:
			s.stages = p.N / 3
			stages3(x, s, tables, shared)
			done *= 3
		case 4:
			s.stages = p.N / 4
			stages4(x, s, tables, shared)
			done *= 4
		case 5:
			s.stages = p.N / 5
			stages5(x, s, tables, shared)
			done *= 5
		case 6:
			s.stages = p.N / 6
			stages6(x, s, tables, shared)
			done *= 6
		case 7:
			s.stages = p.N / 7
			stages7(x, s, tables, shared)
			done *= 7
		case 8:
			s.stages = p.N / 8
			stages8(x, s, tables, shared)
			done *= 8
		case 9:
			s.stages = p.N / 9
			stages9(x, s, tables, shared)
			done *= 9
		case 10:
			s.stages = p.N / 10
			stages10(x, s, tables, shared)
			done *= 10
		case 11:
			s.stages = p.N / 11
			stages11(x, s, tables, shared)
			done *= 11
		case 12:
			s.stages = p.N / 12
			stages12(x, s, tables, shared)
			done *= 12
		case 13:
			s.stages = p.N / 13
			stages13(x, s, tables, shared)
			done *= 13
		}
		radices >>= 4
		from, to = to, from
		t.Sync()
	}

	// Write the tile.
	row, column = y, x
	if p.WriteColumns {
		row, column = number%height, number/height
	}
	if row < count {
		scaleX, scaleY := T(p.ScaleX), T(p.ScaleY)
		from += (row - y) * pitch
		if p.Twist == 1 {
			twist = first + int(row)
		}
		at, skip := writeAt+int(row)*p.Levels[0].Out+int(column)*p.Out, int(width)*p.Out
		for i := column; i < p.N; i += width {
			v := shared[from+padded(i)]
			if p.Twist > 0 {
				v = multiply(v, root(p, tables, twist*int(i)))
			}
			out[at] = kernel.Vec2[T]{X: v.X * scaleX, Y: v.Y * scaleY}
			at += skip
		}
	}
}

// place returns, for a block, the first index in level 0, the places of the first point of
// that transform in the input and the output, and the index in level 1.
func place(p pass, block int) (first, in, out, second int) {
	rest := uint32(block)
	q := rest / uint32(p.Blocks)
	first = int(rest-q*uint32(p.Blocks)) * int(p.Tile)
	in, out = first*p.Levels[0].In, first*p.Levels[0].Out
	rest = q
	//quern:unroll
	for i := 1; i < levels; i++ {
		if l := p.Levels[i]; l.Count > 1 {
			q := rest / uint32(l.Count)
			index := int(rest - q*uint32(l.Count))
			in, out = in+index*l.In, out+index*l.Out
			rest = q
			if i == 1 {
				second = index
			}
		}
	}
	return first, in, out, second
}

// root returns root number m of the long transform that the pass is a part of.
func root[T kernel.Float](p pass, tables []kernel.Vec2[T], m int) kernel.Vec2[T] {
	coarse, fine := tables[int(p.Coarse)+m>>uint32(p.Shift)], tables[int(p.Fine)+m&(1<<uint32(p.Shift)-1)]
	return multiply(coarse, fine)
}

// padded returns the place of point i of a transform in shared memory. The gaps let threads
// access points that are a power of two apart without bank conflicts.
func padded(i int32) int32 { return i + i>>4 }

// pitch returns the distance between transforms of n points in shared memory. It is an odd
// multiple of two, so that columns are in different banks.
func pitch(n int32) int32 { return padded(n)&^3 + 6 }

// step describes a step of the transforms of one row of threads.
type step[T kernel.Float] struct {
	width, stages int32   // threads, and butterflies
	done          int32   // length of the transforms before the step
	inverse       float32 // 1/done
	roots         int32   // place in the tables
	from, to      int32   // places in shared memory
}

// split returns the position of butterfly j in its group: j modulo done. The quotient is
// exact, because (j+0.5)/done differs from an integer by at least 0.5/done, and j is small.
func (s step[T]) split(j int32) int32 {
	return j - int32((float32(j)+0.5)*s.inverse)*s.done
}

func stages2[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [2]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 2; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly2(&v)
		to := (j-k)*2 + k
		//quern:unroll
		for i := range int32(2) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages3[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [3]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 3; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly3(&v)
		to := (j-k)*3 + k
		//quern:unroll
		for i := range int32(3) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages4[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [4]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 4; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly4(&v)
		to := (j-k)*4 + k
		//quern:unroll
		for i := range int32(4) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages5[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [5]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 5; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly5(&v)
		to := (j-k)*5 + k
		//quern:unroll
		for i := range int32(5) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages7[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [7]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 7; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly7(&v)
		to := (j-k)*7 + k
		//quern:unroll
		for i := range int32(7) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages8[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [8]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 8; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly8(&v)
		to := (j-k)*8 + k
		//quern:unroll
		for i := range int32(8) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages11[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [11]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 11; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly11(&v)
		to := (j-k)*11 + k
		//quern:unroll
		for i := range int32(11) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages13[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [13]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 13; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly13(&v)
		to := (j-k)*13 + k
		//quern:unroll
		for i := range int32(13) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages16[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [16]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 16; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly16(&v)
		to := (j-k)*16 + k
		//quern:unroll
		for i := range int32(16) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages6[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [6]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 6; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly6(&v)
		to := (j-k)*6 + k
		//quern:unroll
		for i := range int32(6) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages9[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [9]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 9; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly9(&v)
		to := (j-k)*9 + k
		//quern:unroll
		for i := range int32(9) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages10[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [10]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 10; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly10(&v)
		to := (j-k)*10 + k
		//quern:unroll
		for i := range int32(10) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}

func stages12[T kernel.Float](x int32, s step[T], tables, shared []kernel.Vec2[T]) {
	for j := x; j < s.stages; j += s.width {
		k := s.split(j)
		var v [12]kernel.Vec2[T]
		v[0] = shared[s.from+padded(j)]
		//quern:unroll
		for i := int32(1); i < 12; i++ {
			v[i] = multiply(shared[s.from+padded(j+i*s.stages)], tables[s.roots+(i-1)*s.done+k])
		}
		butterfly12(&v)
		to := (j-k)*12 + k
		//quern:unroll
		for i := range int32(12) {
			shared[s.to+padded(to+i*s.done)] = v[i]
		}
	}
}
