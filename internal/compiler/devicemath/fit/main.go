// Command fit derives the polynomials of package devicemath.
//
//	go run ./internal/compiler/devicemath/fit
//
// prints, for each, its coefficients as float32 constants, lowest power first,
// and the largest error of the polynomial with these coefficients, weighted as
// stated, in units of 2**-24, half an ULP of a result just above 1. The
// arithmetic of the function adds its rounding errors to that.
//
// A fit minimises the largest weighted error on a grid of points by Lawson's
// iteration: least squares, with each point's weight multiplied by its error
// after each step (Rice and Usow, The Lawson algorithm and extensions, 1968).
// The coefficients are rounded to float32 one after another, from the lowest
// power, and those that remain are fitted again.
package main

import (
	"fmt"
	"math"
)

// fit is one polynomial p that approximates f on [low, high] with len(powers)
// coefficients.
type fit struct {
	name      string
	low, high float64
	terms     int
	f         func(x float64) float64
	// weight is what an error of p counts, the derivative of the function's
	// relative error by p.
	weight func(x float64) float64
}

// The functions below take differences such as exp(r)-1-r, which lose all
// digits near zero; there they are summed as series.

func series(x float64, term func(k int) float64) float64 {
	sum, power := 0.0, 1.0
	for k := range 60 {
		sum += power * term(k)
		power *= x
	}
	return sum
}

func factorial(n int) float64 { return math.Gamma(float64(n) + 1) }

var fits = []fit{
	{
		name: "exp: exp(r) = 1 + r + r*r*p(r), relative to expm1(r)",
		low:  -math.Ln2 / 2, high: math.Ln2 / 2, terms: 5,
		f:      func(r float64) float64 { return series(r, func(k int) float64 { return 1 / factorial(k+2) }) },
		weight: func(r float64) float64 { return r * r / math.Abs(math.Expm1(r)) },
	},
	{
		name: "log: log1p(f) = f + f*f*p(f)",
		low:  -1.0 / 3, high: 1.0 / 3, terms: 9,
		f: func(f float64) float64 {
			return series(f, func(k int) float64 { return -math.Pow(-1, float64(k)) / float64(k+2) })
		},
		weight: func(f float64) float64 { return f * f / math.Abs(math.Log1p(f)) },
	},
	{
		name: "sin: sin(r) = r + r*z*p(z), z = r*r",
		high: square(math.Pi / 4), terms: 3,
		f: func(z float64) float64 {
			return series(z, func(k int) float64 { return -math.Pow(-1, float64(k)) / factorial(2*k+3) })
		},
		weight: func(z float64) float64 { r := math.Sqrt(z); return r * z / math.Sin(r) },
	},
	{
		name: "cos: cos(r) = 1 - z/2 + z*z*p(z), z = r*r",
		high: square(math.Pi / 4), terms: 3,
		f: func(z float64) float64 {
			return series(z, func(k int) float64 { return math.Pow(-1, float64(k)) / factorial(2*k+4) })
		},
		weight: func(z float64) float64 { return z * z / math.Cos(math.Sqrt(z)) },
	},
	{
		name: "tan: tan(r) = r + r*z*p(z), z = r*r",
		high: square(math.Pi / 4), terms: 6,
		f: func(z float64) float64 {
			if r := math.Sqrt(z); r > 0.05 {
				return (math.Tan(r) - r) / (r * z)
			}
			return 1.0/3 + z*(2.0/15+z*(17.0/315+z*(62.0/2835+z*1382.0/155925)))
		},
		weight: func(z float64) float64 { r := math.Sqrt(z); return r * z / math.Tan(r) },
	},
	{
		name: "asin: asin(x) = x + x*z*p(z), z = x*x",
		high: 0.25, terms: 5,
		f: func(z float64) float64 {
			c, n := 1.0, 0
			return series(z, func(k int) float64 {
				for ; n <= k; n++ {
					c *= float64(2*n+1) / float64(2*n+2)
				}
				return c / float64(2*k+3)
			})
		},
		weight: func(z float64) float64 { x := math.Sqrt(z); return x * z / math.Asin(x) },
	},
	{
		name: "atan: atan(x) = x + x*z*p(z), z = x*x",
		high: 1, terms: 8,
		f: func(z float64) float64 {
			if x := math.Sqrt(z); x > 0.3 {
				return (math.Atan(x) - x) / (x * z)
			}
			return series(z, func(k int) float64 { return -math.Pow(-1, float64(k)) / float64(2*k+3) })
		},
		weight: func(z float64) float64 { x := math.Sqrt(z); return x * z / math.Atan(x) },
	},
	{
		name: "sinh: sinh(x) = x + x*z*p(z), z = x*x",
		high: 1, terms: 3,
		f:      func(z float64) float64 { return series(z, func(k int) float64 { return 1 / factorial(2*k+3) }) },
		weight: func(z float64) float64 { x := math.Sqrt(z); return x * z / math.Sinh(x) },
	},
	{
		name: "tanh: tanh(x) = x + x*z*p(z), z = x*x",
		high: square(0.55), terms: 5,
		f: func(z float64) float64 {
			if x := math.Sqrt(z); x > 0.05 {
				return (math.Tanh(x) - x) / (x * z)
			}
			return -1.0/3 + z*(2.0/15-z*(17.0/315-z*(62.0/2835-z*1382.0/155925)))
		},
		weight: func(z float64) float64 { x := math.Sqrt(z); return x * z / math.Tanh(x) },
	},
	{
		name: "pow: atanh(s) = s + s*z*(1/3 + z*p(z)), z = s*s",
		high: square((math.Sqrt2 - 1) / (math.Sqrt2 + 1)), terms: 3,
		f:      func(z float64) float64 { return series(z, func(k int) float64 { return 1 / float64(2*k+5) }) },
		weight: func(z float64) float64 { s := math.Sqrt(z); return s * z * z / math.Atanh(s) },
	},
}

func square(x float64) float64 { return x * x }

func main() {
	for _, f := range fits {
		coefficients, worst := f.solve()
		fmt.Printf("%s\n\tlargest error %.2g\n", f.name, worst*0x1p24)
		for _, c := range coefficients {
			fmt.Printf("\t%x // %v\n", c, c)
		}
	}
}

// solve returns the coefficients and the largest weighted error.
func (f fit) solve() ([]float32, float64) {
	const points = 400
	var x, rest, weight [points]float64
	for i := range points {
		// Chebyshev points lie densely towards the ends, where errors peak.
		t := (1 - math.Cos(math.Pi*(float64(i)+0.5)/points)) / 2
		x[i] = f.low + (f.high-f.low)*t
		rest[i] = f.f(x[i])
		weight[i] = f.weight(x[i])
	}
	var fixed []float32
	for len(fixed) < f.terms {
		c := lawson(x[:], rest[:], weight[:], len(fixed), f.terms-len(fixed))
		rounded := float32(c)
		for i := range points {
			rest[i] -= float64(rounded) * math.Pow(x[i], float64(len(fixed)))
		}
		fixed = append(fixed, rounded)
	}
	worst := 0.0
	for i := range points {
		worst = max(worst, math.Abs(rest[i])*weight[i])
	}
	return fixed, worst
}

// lawson returns the first coefficient of the minimax fit of y by the given
// number of powers of x, from the power first.
func lawson(x, y, weight []float64, first, terms int) float64 {
	importance := make([]float64, len(x))
	for i := range importance {
		importance[i] = 1
	}
	scale := 0.0 // powers of x/scale keep the system well conditioned
	for i := range x {
		scale = max(scale, math.Abs(x[i]))
	}
	var c []float64
	for range 300 {
		rows := make([][]float64, len(x))
		for i := range x {
			w := weight[i] * math.Sqrt(importance[i])
			row := make([]float64, terms+1)
			p := math.Pow(x[i]/scale, float64(first))
			for k := range terms {
				row[k] = w * p
				p *= x[i] / scale
			}
			row[terms] = w * y[i]
			rows[i] = row
		}
		c = leastSquares(rows, terms)
		total := 0.0
		for i := range x {
			sum, p := y[i], math.Pow(x[i]/scale, float64(first))
			for k := range terms {
				sum -= c[k] * p
				p *= x[i] / scale
			}
			importance[i] *= math.Abs(sum) * weight[i]
			total += importance[i]
		}
		for i := range importance {
			importance[i] *= float64(len(x)) / total
		}
	}
	return c[0] / math.Pow(scale, float64(first))
}

// leastSquares solves an overdetermined linear system whose rows end in the
// right side, by Householder reflections. It overwrites rows.
func leastSquares(rows [][]float64, unknowns int) []float64 {
	for k := range unknowns {
		norm := 0.0
		for i := k; i < len(rows); i++ {
			norm = math.Hypot(norm, rows[i][k])
		}
		if rows[k][k] > 0 {
			norm = -norm
		}
		v := make([]float64, len(rows))
		length := 0.0
		for i := k; i < len(rows); i++ {
			v[i] = rows[i][k]
			if i == k {
				v[i] -= norm
			}
			length += v[i] * v[i]
		}
		for j := k; j <= unknowns; j++ {
			dot := 0.0
			for i := k; i < len(rows); i++ {
				dot += v[i] * rows[i][j]
			}
			for i := k; i < len(rows); i++ {
				rows[i][j] -= 2 * dot / length * v[i]
			}
		}
	}
	c := make([]float64, unknowns)
	for k := unknowns - 1; k >= 0; k-- {
		sum := rows[k][unknowns]
		for j := k + 1; j < unknowns; j++ {
			sum -= rows[k][j] * c[j]
		}
		c[k] = sum / rows[k][k]
	}
	return c
}
