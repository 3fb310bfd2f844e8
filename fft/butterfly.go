package fft

import "quern.dev/kernel"

// Complex numbers in kernels are kernel.Vec2: X is the real part, Y the imaginary one. A
// butterfly is a Fourier transform of a few points in registers. Its sign is that of a
// forward transform; an inverse transform is a forward one of conjugates.

const (
	half3   = 0.866025403784438646763723170752936183 // sin(pi/3)
	half8   = 0.707106781186547524400844362104849039 // cos(pi/4)
	cos16   = 0.923879532511286756128183189396788287 // cos(pi/8)
	sin16   = 0.382683432365089771728459984030398867 // sin(pi/8)
	cos5    = 0.309016994374947424102293417182819059 // cos(2*pi/5)
	cos5two = -0.80901699437494742410229341718281906 // cos(4*pi/5)
	sin5    = 0.951056516295153572116439333379382143 // sin(2*pi/5)
	sin5two = 0.587785252292473129168705954639072769 // sin(4*pi/5)
)

// multiply returns the product of two complex numbers.
func multiply[T kernel.Float](a, b kernel.Vec2[T]) kernel.Vec2[T] {
	return kernel.Vec2[T]{X: a.X*b.X - a.Y*b.Y, Y: a.X*b.Y + a.Y*b.X}
}

// turn returns -i*a.
func turn[T kernel.Float](a kernel.Vec2[T]) kernel.Vec2[T] {
	return kernel.Vec2[T]{X: a.Y, Y: -a.X}
}

func butterfly2[T kernel.Float](v *[2]kernel.Vec2[T]) {
	v[0], v[1] = v[0].Add(v[1]), v[0].Sub(v[1])
}

func butterfly3[T kernel.Float](v *[3]kernel.Vec2[T]) {
	v[0], v[1], v[2] = three(v[0], v[1], v[2])
}

func three[T kernel.Float](a, b, c kernel.Vec2[T]) (x, y, z kernel.Vec2[T]) {
	sum, difference := b.Add(c), turn(b.Sub(c)).Scale(half3)
	middle := a.AddScaled(-0.5, sum)
	return a.Add(sum), middle.Add(difference), middle.Sub(difference)
}

func butterfly4[T kernel.Float](v *[4]kernel.Vec2[T]) {
	v[0], v[1], v[2], v[3] = four(v[0], v[1], v[2], v[3])
}

func four[T kernel.Float](a, b, c, d kernel.Vec2[T]) (w, x, y, z kernel.Vec2[T]) {
	p, q, r, s := a.Add(c), a.Sub(c), b.Add(d), turn(b.Sub(d))
	return p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
}

func butterfly5[T kernel.Float](v *[5]kernel.Vec2[T]) {
	s, d := v[1].Add(v[4]), turn(v[1].Sub(v[4]))
	s2, d2 := v[2].Add(v[3]), turn(v[2].Sub(v[3]))
	a := v[0].AddScaled(cos5, s).AddScaled(cos5two, s2)
	b := v[0].AddScaled(cos5two, s).AddScaled(cos5, s2)
	p := d.Scale(sin5).AddScaled(sin5two, d2)
	q := d.Scale(sin5two).AddScaled(-sin5, d2)
	v[0] = v[0].Add(s).Add(s2)
	v[1], v[4] = a.Add(p), a.Sub(p)
	v[2], v[3] = b.Add(q), b.Sub(q)
}

func butterfly8[T kernel.Float](v *[8]kernel.Vec2[T]) {
	v[0], v[2], v[4], v[6] = four(v[0], v[2], v[4], v[6])
	v[1], v[3], v[5], v[7] = four(v[1], v[3], v[5], v[7])
	// v[2k] and v[2k+1] hold element k of the transforms of the even and the odd points.
	a := v[3]
	v[3] = kernel.Vec2[T]{X: a.X + a.Y, Y: a.Y - a.X}.Scale(half8)
	v[5] = turn(v[5])
	a = v[7]
	v[7] = kernel.Vec2[T]{X: a.Y - a.X, Y: -a.X - a.Y}.Scale(half8)
	v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7] =
		v[0].Add(v[1]), v[2].Add(v[3]), v[4].Add(v[5]), v[6].Add(v[7]),
		v[0].Sub(v[1]), v[2].Sub(v[3]), v[4].Sub(v[5]), v[6].Sub(v[7])
}

func butterfly16[T kernel.Float](v *[16]kernel.Vec2[T]) {
	v[0], v[4], v[8], v[12] = four(v[0], v[4], v[8], v[12])
	v[1], v[5], v[9], v[13] = four(v[1], v[5], v[9], v[13])
	v[2], v[6], v[10], v[14] = four(v[2], v[6], v[10], v[14])
	v[3], v[7], v[11], v[15] = four(v[3], v[7], v[11], v[15])
	// v[i+4k] times exp(-2*pi*i*k/16)
	v[5] = multiply(v[5], kernel.Vec2[T]{X: cos16, Y: -sin16})
	v[9] = kernel.Vec2[T]{X: v[9].X + v[9].Y, Y: v[9].Y - v[9].X}.Scale(half8)
	v[13] = multiply(v[13], kernel.Vec2[T]{X: sin16, Y: -cos16})
	v[6] = kernel.Vec2[T]{X: v[6].X + v[6].Y, Y: v[6].Y - v[6].X}.Scale(half8)
	v[10] = turn(v[10])
	v[14] = kernel.Vec2[T]{X: v[14].Y - v[14].X, Y: -v[14].X - v[14].Y}.Scale(half8)
	v[7] = multiply(v[7], kernel.Vec2[T]{X: sin16, Y: -cos16})
	v[11] = kernel.Vec2[T]{X: v[11].Y - v[11].X, Y: -v[11].X - v[11].Y}.Scale(half8)
	v[15] = multiply(v[15], kernel.Vec2[T]{X: -cos16, Y: sin16})
	v[0], v[1], v[2], v[3] = four(v[0], v[1], v[2], v[3])
	v[4], v[5], v[6], v[7] = four(v[4], v[5], v[6], v[7])
	v[8], v[9], v[10], v[11] = four(v[8], v[9], v[10], v[11])
	v[12], v[13], v[14], v[15] = four(v[12], v[13], v[14], v[15])
	v[1], v[4] = v[4], v[1]
	v[2], v[8] = v[8], v[2]
	v[3], v[12] = v[12], v[3]
	v[6], v[9] = v[9], v[6]
	v[7], v[13] = v[13], v[7]
	v[11], v[14] = v[14], v[11]
}

// The transforms of 6, 10 and 12 points are those of their two factors without roots in
// between (Good and Thomas).

func butterfly6[T kernel.Float](v *[6]kernel.Vec2[T]) {
	a0, a1, a2 := three(v[0], v[2], v[4])
	b0, b1, b2 := three(v[3], v[5], v[1])
	v[0], v[3] = a0.Add(b0), a0.Sub(b0)
	v[4], v[1] = a1.Add(b1), a1.Sub(b1)
	v[2], v[5] = a2.Add(b2), a2.Sub(b2)
}

func butterfly10[T kernel.Float](v *[10]kernel.Vec2[T]) {
	a := [5]kernel.Vec2[T]{v[0], v[2], v[4], v[6], v[8]}
	b := [5]kernel.Vec2[T]{v[5], v[7], v[9], v[1], v[3]}
	butterfly5(&a)
	butterfly5(&b)
	v[0], v[5] = a[0].Add(b[0]), a[0].Sub(b[0])
	v[6], v[1] = a[1].Add(b[1]), a[1].Sub(b[1])
	v[2], v[7] = a[2].Add(b[2]), a[2].Sub(b[2])
	v[8], v[3] = a[3].Add(b[3]), a[3].Sub(b[3])
	v[4], v[9] = a[4].Add(b[4]), a[4].Sub(b[4])
}

func butterfly12[T kernel.Float](v *[12]kernel.Vec2[T]) {
	a0, a1, a2, a3 := four(v[0], v[3], v[6], v[9])
	b0, b1, b2, b3 := four(v[4], v[7], v[10], v[1])
	c0, c1, c2, c3 := four(v[8], v[11], v[2], v[5])
	v[0], v[4], v[8] = three(a0, b0, c0)
	v[9], v[1], v[5] = three(a1, b1, c1)
	v[6], v[10], v[2] = three(a2, b2, c2)
	v[3], v[7], v[11] = three(a3, b3, c3)
}

const (
	cos9   = 0.766044443118978035202392650555416674 // cos(2*pi/9)
	sin9   = 0.642787609686539326322643409907263433
	cos9x2 = 0.173648177666930348851716626769314796 // cos(4*pi/9)
	sin9x2 = 0.984807753012208059366743024589523014
	cos9x4 = -0.939692620785908384054109277324731470 // cos(8*pi/9)
	sin9x4 = 0.342020143325668733044099614682259581
)

func butterfly9[T kernel.Float](v *[9]kernel.Vec2[T]) {
	v[0], v[3], v[6] = three(v[0], v[3], v[6])
	v[1], v[4], v[7] = three(v[1], v[4], v[7])
	v[2], v[5], v[8] = three(v[2], v[5], v[8])
	v[4] = multiply(v[4], kernel.Vec2[T]{X: cos9, Y: -sin9})
	v[7] = multiply(v[7], kernel.Vec2[T]{X: cos9x2, Y: -sin9x2})
	v[5] = multiply(v[5], kernel.Vec2[T]{X: cos9x2, Y: -sin9x2})
	v[8] = multiply(v[8], kernel.Vec2[T]{X: cos9x4, Y: -sin9x4})
	v[0], v[1], v[2] = three(v[0], v[1], v[2])
	v[3], v[4], v[5] = three(v[3], v[4], v[5])
	v[6], v[7], v[8] = three(v[6], v[7], v[8])
	v[1], v[3] = v[3], v[1]
	v[2], v[6] = v[6], v[2]
	v[5], v[7] = v[7], v[5]
}

// The cosines and sines of multiples of 2*pi/7, 2*pi/11 and 2*pi/13.
var (
	cos7  = [7]float64{1.0, 0.6234898018587336, -0.22252093395631434, -0.900968867902419, -0.9009688679024191, -0.2225209339563146, 0.6234898018587334}
	sin7  = [7]float64{0, 0.7818314824680298, 0.9749279121818236, 0.43388373911755823, -0.433883739117558, -0.9749279121818236, -0.7818314824680299}
	cos11 = [11]float64{1.0, 0.8412535328311812, 0.41541501300188644, -0.142314838273285, -0.654860733945285, -0.9594929736144974, -0.9594929736144975, -0.6548607339452852, -0.14231483827328523, 0.41541501300188605, 0.8412535328311812}
	sin11 = [11]float64{0, 0.5406408174555976, 0.9096319953545183, 0.9898214418809328, 0.7557495743542583, 0.28173255684142967, -0.2817325568414294, -0.7557495743542582, -0.9898214418809327, -0.9096319953545186, -0.5406408174555974}
	cos13 = [13]float64{1.0, 0.8854560256532099, 0.5680647467311559, 0.120536680255323, -0.35460488704253545, -0.7485107481711012, -0.970941817426052, -0.9709418174260521, -0.7485107481711013, -0.3546048870425359, 0.1205366802553232, 0.5680647467311548, 0.88545602565321}
	sin13 = [13]float64{0, 0.4647231720437685, 0.8229838658936564, 0.992708874098054, 0.9350162426854148, 0.6631226582407952, 0.23931566428755768, -0.23931566428755743, -0.663122658240795, -0.9350162426854147, -0.992708874098054, -0.822983865893657, -0.4647231720437684}
)

func butterfly7[T kernel.Float](v *[7]kernel.Vec2[T]) {
	var s, d [3]kernel.Vec2[T]
	//quern:unroll
	for k := range 3 {
		s[k], d[k] = v[k+1].Add(v[6-k]), turn(v[k+1].Sub(v[6-k]))
	}
	first := v[0]
	//quern:unroll
	for k := range 3 {
		v[0] = v[0].Add(s[k])
		a, b := first, kernel.Vec2[T]{}
		//quern:unroll
		for j := range 3 {
			a = a.AddScaled(T(cos7[(k+1)*(j+1)%7]), s[j])
			b = b.AddScaled(T(sin7[(k+1)*(j+1)%7]), d[j])
		}
		v[k+1], v[6-k] = a.Add(b), a.Sub(b)
	}
}

func butterfly11[T kernel.Float](v *[11]kernel.Vec2[T]) {
	var s, d [5]kernel.Vec2[T]
	//quern:unroll
	for k := range 5 {
		s[k], d[k] = v[k+1].Add(v[10-k]), turn(v[k+1].Sub(v[10-k]))
	}
	first := v[0]
	//quern:unroll
	for k := range 5 {
		v[0] = v[0].Add(s[k])
		a, b := first, kernel.Vec2[T]{}
		//quern:unroll
		for j := range 5 {
			a = a.AddScaled(T(cos11[(k+1)*(j+1)%11]), s[j])
			b = b.AddScaled(T(sin11[(k+1)*(j+1)%11]), d[j])
		}
		v[k+1], v[10-k] = a.Add(b), a.Sub(b)
	}
}

func butterfly13[T kernel.Float](v *[13]kernel.Vec2[T]) {
	var s, d [6]kernel.Vec2[T]
	//quern:unroll
	for k := range 6 {
		s[k], d[k] = v[k+1].Add(v[12-k]), turn(v[k+1].Sub(v[12-k]))
	}
	first := v[0]
	//quern:unroll
	for k := range 6 {
		v[0] = v[0].Add(s[k])
		a, b := first, kernel.Vec2[T]{}
		//quern:unroll
		for j := range 6 {
			a = a.AddScaled(T(cos13[(k+1)*(j+1)%13]), s[j])
			b = b.AddScaled(T(sin13[(k+1)*(j+1)%13]), d[j])
		}
		v[k+1], v[12-k] = a.Add(b), a.Sub(b)
	}
}
