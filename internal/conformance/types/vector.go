package types

import "quern.dev/kernel"

// vec4Scale moves whole elements.
//
//quern:kernel
func vec4Scale(t kernel.Thread, a float32, x, y []kernel.Vec4[float32]) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = x[i].Scale(a)
	}
}

// vec4Shift reads elements that its other statements write, through the same buffer or
// another one.
//
//quern:kernel
func vec4Shift(t kernel.Thread, x, y []kernel.Vec4[float32]) {
	i := t.Global()
	y[i].X = x[i].Y
	y[i].Y = x[i].Z
	y[i].Z = x[i].W
	y[i].W = x[i].X
}

// vec2Fields reads individual fields with checks, and writes one.
//
//quern:kernel
func vec2Fields(t kernel.Thread, x []kernel.Vec2[float64], out []float64) {
	i := t.Global()
	sum := x[i].X*2 + x[i].Y
	x[i].Y = x[i].X
	out[i] = sum - x[i].Y
}

// vec3Methods calls every method of three-component vectors.
//
//quern:kernel
func vec3Methods(t kernel.Thread, x, y, out []kernel.Vec3[int32], dots []int32) {
	i := t.Global()
	if i >= len(x) || i >= len(y) || i >= len(dots) || len(out) < 9*len(x) {
		return
	}
	v, u := x[i], y[i]
	out = out[9*i:][:9]
	out[0] = v.Add(u)
	out[1] = v.Sub(u)
	out[2] = v.Mul(u)
	out[3] = v.Div(u.Max(kernel.V3[int32](1, 1, 1)))
	out[4] = v.Scale(3).Neg()
	out[5] = v.Cross(u)
	out[6] = v.Min(u)
	out[7] = v.Vec4(7).Vec3()
	out[8] = v.AddScaled(u.X, u)
	dots[i] = v.Dot(u)
}

// vec24Methods calls every method of two-component and four-component vectors.
//
//quern:kernel
func vec24Methods(t kernel.Thread, x, y, out []kernel.Vec4[int64], out2 []kernel.Vec2[int64]) {
	i := t.Global()
	if i >= len(x) || i >= len(y) || len(out) < 9*len(x) || len(out2) < 9*len(x) {
		return
	}
	v, u := x[i], y[i]
	p, q := kernel.V2(v.X, v.W), kernel.V2(u.Y, u.Z)
	out, out2 = out[9*i:][:9], out2[9*i:][:9]
	out[0], out2[0] = v.Add(u), p.Add(q)
	out[1], out2[1] = v.Sub(u), p.Sub(q)
	out[2], out2[2] = v.Mul(u), p.Mul(q)
	out[3], out2[3] = v.Div(u.Max(kernel.V4[int64](1, 1, 1, 1))), p.Div(q.Max(kernel.V2[int64](1, 1)))
	out[4], out2[4] = v.Scale(3), p.Scale(3)
	out[5], out2[5] = v.Neg(), p.Neg()
	out[6], out2[6] = v.Min(u), p.Min(q)
	out[7], out2[7] = v.AddScaled(2, u), p.AddScaled(2, q)
	out[8].X, out2[8].Y = v.Dot(u), p.Dot(q)
	if v == u || p != q {
		out[8].W = 1
	}
}

// pixel has four bytes.
type pixel struct{ R, G, B, A uint8 }

// pixels moves bytes as words.
//
//quern:kernel
func pixels(t kernel.Thread, in, out []pixel) {
	if i := t.Global(); i < len(in) && i < len(out) {
		p := in[i]
		out[i] = pixel{p.B, p.G, p.R, 255 - p.A}
	}
}

// body has 32 bytes, with adjacent fields of different kinds.
type body struct {
	Position, Velocity kernel.Vec3[float32]
	Mass               float32
	ID                 int32
}

// bodies moves half of a struct with one access.
//
//quern:kernel
func bodies(t kernel.Thread, dt float32, in, out []body) {
	if i := t.Global(); i < len(in) && i < len(out) {
		b := in[i]
		b.Position = b.Position.Add(b.Velocity.Scale(dt))
		b.ID++
		out[i] = b
	}
}

// halves8 moves eight 16-bit numbers with one access.
//
//quern:kernel
func halves8(t kernel.Thread, in, out [][8]kernel.Float16) {
	if i := t.Global(); i < len(in) && i < len(out) {
		h := in[i]
		for k := range h {
			h[k] = h[k].Add(h[(k+1)%8].Neg())
		}
		out[i] = h
	}
}

// quads reads and writes four adjacent elements of a plain slice, in range and with checks
// in between.
//
//quern:kernel
func quads(t kernel.Thread, x, y []int32) {
	i := t.Global()
	if 4*i+3 < len(x) {
		a, b, c, d := x[4*i], x[4*i+1], x[4*i+2], x[4*i+3]
		y[4*i] = d
		y[4*i+1] = c
		y[4*i+2] = b
		y[4*i+3] = a
	}
}

// rows reads parts of rows in an array of arrays by a variable index.
//
//quern:kernel
func rows(t kernel.Thread, k int, m [][4][4]float32, out []kernel.Vec4[float32]) {
	if i := t.Global(); i < len(m) && i < len(out) && 0 <= k && k < 4 {
		r := &m[i][k]
		out[i] = kernel.V4(r[3], r[2], r[1], r[0])
	}
}

// drift reads and writes fields in turn, of elements that it reads and writes as a whole.
//
//quern:kernel
func drift(t kernel.Thread, dt float32, which []int32, b []body) {
	if i := t.Global(); i < len(b) && i < len(which) {
		b[i].Position.X += b[i].Velocity.X * dt
		b[i].Position.Y += b[i].Velocity.Y * dt
		b[i].Velocity.X = b[i].Position.Z
		b[i].Position.Z += b[i].Velocity.X * dt
		b[i].ID += which[i]
		b[i].Mass = float32(b[i].ID) + b[i].Position.X
	}
}

// shuffle copies elements from where an index says, and changes some of each.
//
//quern:kernel
func shuffle(t kernel.Thread, k int32, which []int32, from []body, to []body) {
	if i := t.Global(); i < len(to) && i < len(which) && k >= 0 && k < 3 {
		to[i] = from[which[i]]
		to[i].ID = from[0].ID + from[1].ID
		to[i].Velocity = to[i].Position
	}
}

// slots changes numbers of rows at indices that may be equal.
//
//quern:kernel
func slots(t kernel.Thread, k []int32, x [][4]int32) {
	if i := t.Global(); i < len(x) && i < len(k) {
		j := k[i]
		if j >= 0 && j < 4 {
			x[i][j] = 10
			x[i][0] += x[i][1] + x[i][2]
			x[i][j] += x[i][3]
			x[i][2] = x[i][0]
			x[i][3] = x[i][2] + x[i][j]
		}
	}
}
