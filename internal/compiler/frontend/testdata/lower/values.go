package p

import "quern.dev/kernel"

// Assignments in parallel read everything before they write.
//
//quern:kernel
func parallel(t kernel.Thread, i, j int, x []int32) {
	x[i], x[j] = x[j], x[i]
	i, x[i] = 3, 4
}

// The right side of && and || is evaluated only when it decides.
//
//quern:kernel
func lazy(t kernel.Thread, i int, x []int32) {
	if i >= 0 && i < len(x) && x[i] > 0 || i == -1 {
		x[0] = 1
	}
	ok := i > 3 && probe(x, i)
	if !ok || probe(x, 2) {
		x[1] = 1
	}
}

func probe(x []int32, i int) bool {
	x[i]++
	return x[i] > 2
}

// An if may declare, and else-if nests.
//
//quern:kernel
func ifs(t kernel.Thread, x []int32) {
	if v := x[0]; v < 0 {
		x[1] = v
	} else if w := -v; w < -9 {
		x[1] = w
	} else {
		x[1] = 0
	}
}

const debug = false

// A constant condition selects code.
//
//quern:kernel
func constantCondition(t kernel.Thread, x []int32) {
	if debug {
		println(x[0])
	} else {
		x[0] = 1
	}
}

// Shadowing declares another variable.
//
//quern:kernel
func shadows(t kernel.Thread, x []int32) {
	v := x[0]
	{
		v := v + 1
		x[1] = v
	}
	x[2] = v
}

// A variable without a value is zero, again in each iteration.
//
//quern:kernel
func zeros(t kernel.Thread, x []int32) {
	for i := range 3 {
		var sum int32
		var grid [2][2]int32
		sum += x[i]
		grid[1][i&1] = sum
		x[i] = grid[1][0]
	}
}

// Constants take the type they are used at.
//
//quern:kernel
func constants(t kernel.Thread, a []uint8, f []float32, d []float64) {
	const c = 1 << 7
	a[0] = c | 'A'
	a[1] = ^a[0] &^ 3
	f[0] = 1.0 / 3
	d[0] = 1.0 / 3
	f[1] = -f[0] + 1e-3
	d[1] = 2 * d[0]
}

// Conversions show both types; one to the same float kind stays because it prevents fusing.
//
//quern:kernel
func conversions(t kernel.Thread, f []float32, x []int64) {
	x[0] = int64(int8(x[1])) + int64(uint16(f[0]))
	f[1] = float32(x[0])
	f[2] = float32(f[0]*f[1]) + f[2]
	x[2] = int64(float64(f[3]))
}

// Integer division by a variable and shifts by a signed variable are checked; constants are not.
//
//quern:kernel
func checks(t kernel.Thread, n int, u uint, x []int32) {
	x[0] = x[1] / x[2]
	x[0] = x[1] % 7
	x[1] <<= n
	x[1] >>= u
	x[1] <<= 3
	x[2] /= x[3]
}

// Increment and the assignment operators evaluate the place once.
//
//quern:kernel
func updates(t kernel.Thread, i int, x []int32) {
	x[probeIndex(x, i)]++
	x[probeIndex(x, i)] ^= 5
	x[i]--
}

func probeIndex(x []int32, i int) int {
	x[i]++
	return i
}

// min and max are folded from the left; len and cap are nodes.
//
//quern:kernel
func builtins(t kernel.Thread, x []int32, f []float32) {
	x[0] = min(x[1], x[2], 3)
	f[0] = max(f[1], 0)
	x[1] = int32(len(x) + cap(x[1:3]) + len(f[2:]))
}

// panic carries its reason.
//
//quern:kernel
func panics(t kernel.Thread, x []int32) {
	if x[0] < 0 {
		panic("negative")
	}
	const why = "odd " + "value"
	if x[0]&1 == 1 {
		panic(why)
	}
}
