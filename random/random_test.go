package random_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"testing"
	"unsafe"

	"quern.dev/gentest"
	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
	"quern.dev/random"
)

func TestGenerated(t *testing.T) { gentest.UpToDate(t) }

// source is one with bits in every word of the counter and of the key.
var source = random.Source{Seed: 0x1234567890abcdef, Stream: 0xfedcba0987654321, Offset: 0}

// hashes are those of the first 1000 numbers of source.
var hashes = map[string]uint64{
	"bits":                0x67484e7fdca76c89,
	"bits of 64":          0xc5c95d9918d16217,
	"unit float32":        0xd9e894b964ffa19,
	"uniform float32":     0xcc48548890aade92,
	"unit float64":        0xf131dce81ddb8350,
	"standard float32":    0x5648b68cf849ff95,
	"normal float32":      0xa21dea23f891ee44,
	"standard float64":    0xdb25ccc8f3fa62b0,
	"exponential float32": 0xdaf4f8bd81406e33,
	"gamma float32":       0x5719ff9f8bc61ce,
	"beta float32":        0xd4c0c65807cd96e1,
	"exponential float64": 0xa0cdfeed6ae38b20,
	"gamma 0.01":          0x6622586f93055127,
	"gamma 0.5":           0x12b79678dd1d5f0f,
	"gamma 1":             0x304068147af56ad2,
	"gamma 1000":          0xbb8933c1f76f62ce,
	"gamma 1e+09":         0x66a83e14740853fb,
	"beta 0.001 0.002":    0xc9b5a9d20013d026,
	"beta 2 3":            0x4e987c02ae5ae2d8,
	"poisson int32":       0x350a13db86fcf6b5,
	"int32":               0x394eb7e90f1a7f27,
	"uint32":              0x66660d14ba8abb42,
	"poisson 0.001":       0x51e78e744621f425,
	"poisson 9.99":        0xca3c126426bd074e,
	"poisson 10":          0xe74d1ebdf59277f0,
	"poisson 12345.6":     0xdd028d0329680495,
	"poisson 1e+15":       0xf602e946b605ee45,
	"int64":               0x91f1021067a913b7,
	"int":                 0xbbdff83bbeb43c43,
	"bernoulli":           0xc3efdcd7c657cdbe,
}

// distribution fills a buffer, and returns the same numbers one by one.
type distribution[T comparable] struct {
	name string
	fill func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[T]) error
	at   func(src random.Source, i uint64) T
}

// verify checks that every device computes the numbers of plain Go, bit for bit, from
// any offset, in any pieces, and that they never change between versions.
func verify[T comparable](t *testing.T, distributions ...distribution[T]) {
	for _, d := range distributions {
		h := fnv.New64a()
		for i := range uint64(1000) {
			x := d.at(source, i)
			h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&x)), unsafe.Sizeof(x)))
		}
		if h.Sum64() != hashes[d.name] {
			t.Errorf("%s: the numbers have changed: hash %#x, want %#x", d.name, h.Sum64(), hashes[d.name])
		}
		t.Run(d.name, func(t *testing.T) {
			gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
				s := dev.DefaultStream()
				for _, offset := range []uint64{0, 1, 2, 3, 5, 1 << 33, 1<<48 - 1000} {
					for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 1000} {
						if (offset > 5) != (n == 1000) {
							continue
						}
						src := source.At(offset)
						dst := gputest.Alloc[T](t, dev, n)
						if err := d.fill(s, src, dst); err != nil {
							t.Fatal(err)
						}
						compare(t, fmt.Sprintf("offset %d", offset), gputest.Download(t, dev, dst), func(i int) T { return d.at(src, uint64(i)) })
					}
				}
				dst := gputest.Alloc[T](t, dev, 1000)
				for lo, hi := 0, 0; lo < 1000; lo = hi {
					hi = min(lo+1+lo, 1000)
					if err := d.fill(s, source.At(uint64(lo)), dst.Slice(lo, hi)); err != nil {
						t.Fatal(err)
					}
				}
				compare(t, "in pieces", gputest.Download(t, dev, dst), func(i int) T { return d.at(source, uint64(i)) })
			})
		})
	}
}

func compare[T comparable](t *testing.T, name string, got []T, want func(i int) T) {
	t.Helper()
	for i, x := range got {
		if w := want(i); x != w {
			t.Errorf("%s: element %d of %d is %v, want %v", name, i, len(got), x, w)
			return
		}
	}
}

func TestUniformNumbersAreTheSameOnEveryDevice(t *testing.T) {
	verify(t, distribution[uint32]{"bits", random.Bits[uint32], random.Source.Uint32})
	verify(t, distribution[uint64]{"bits of 64", random.Bits[uint64], random.Source.Uint64})
	verify(t,
		distribution[float32]{"unit float32",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float32]) error {
				return random.Uniform(s, src, dst, 0, 1)
			}, random.Source.Float32},
		distribution[float32]{"uniform float32",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float32]) error {
				return random.Uniform(s, src, dst, -3, 0.1)
			},
			func(src random.Source, i uint64) float32 {
				u := src.Float32(i) * (float32(0.1) + 3)
				return min(-3+u, math.Nextafter32(0.1, -3))
			}})
	verify(t, distribution[float64]{"unit float64",
		func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float64]) error {
			return random.Uniform(s, src, dst, 0, 1)
		}, random.Source.Float64})
}

func TestNormalNumbersAreTheSameOnEveryDevice(t *testing.T) {
	verify(t,
		distribution[float32]{"standard float32",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float32]) error {
				return random.Normal(s, src, dst, 0, 1)
			}, random.Source.Normal32},
		distribution[float32]{"normal float32",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float32]) error {
				return random.Normal(s, src, dst, 10, 0.3)
			},
			func(src random.Source, i uint64) float32 { return 10 + float32(0.3*src.Normal32(i)) }})
	verify(t, distribution[float64]{"standard float64",
		func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float64]) error {
			return random.Normal(s, src, dst, 0, 1)
		}, random.Source.Normal64})
}

func TestOtherContinuousNumbersAreTheSameOnEveryDevice(t *testing.T) {
	gamma := func(shape float64) distribution[float64] {
		return distribution[float64]{fmt.Sprint("gamma ", shape),
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float64]) error {
				return random.Gamma(s, src, dst, shape, 1)
			},
			func(src random.Source, i uint64) float64 { return src.Gamma(i, shape) }}
	}
	beta := func(a, b float64) distribution[float64] {
		return distribution[float64]{fmt.Sprint("beta ", a, b),
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float64]) error {
				return random.Beta(s, src, dst, a, b)
			},
			func(src random.Source, i uint64) float64 { return src.Beta(i, a, b) }}
	}
	verify(t,
		distribution[float32]{"exponential float32",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float32]) error {
				return random.Exponential(s, src, dst, 1)
			}, random.Source.Exponential32},
		distribution[float32]{"gamma float32",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float32]) error {
				return random.Gamma(s, src, dst, 2.5, 3)
			},
			func(src random.Source, i uint64) float32 { return float32(3 * src.Gamma(i, 2.5)) }},
		distribution[float32]{"beta float32",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float32]) error {
				return random.Beta(s, src, dst, 2, 5)
			},
			func(src random.Source, i uint64) float32 { return float32(src.Beta(i, 2, 5)) }})
	verify(t,
		distribution[float64]{"exponential float64",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[float64]) error {
				return random.Exponential(s, src, dst, 1)
			}, random.Source.Exponential64},
		gamma(0.01), gamma(0.5), gamma(1), gamma(1000), gamma(1e9), beta(0.001, 0.002), beta(2, 3))
}

func TestDiscreteNumbersAreTheSameOnEveryDevice(t *testing.T) {
	poisson := func(mean float64) distribution[int64] {
		return distribution[int64]{fmt.Sprint("poisson ", mean),
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[int64]) error {
				return random.Poisson(s, src, dst, mean)
			},
			func(src random.Source, i uint64) int64 { return src.Poisson(i, mean) }}
	}
	// Of the words, 1/3 and 1/2 are rejected.
	const third, half = 1<<31 + 1<<29 + 1<<28, 1<<31 + 1
	verify(t,
		distribution[int32]{"poisson int32",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[int32]) error {
				return random.Poisson(s, src, dst, 3)
			},
			func(src random.Source, i uint64) int32 { return int32(src.Poisson(i, 3)) }},
		distribution[int32]{"int32",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[int32]) error {
				return random.Integers(s, src, dst, -1<<31, third-1<<31)
			},
			func(src random.Source, i uint64) int32 { return int32(src.Uint32N(i, third) - 1<<31) }})
	verify(t, distribution[uint32]{"uint32",
		func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[uint32]) error {
			return random.Integers(s, src, dst, 7, half+7)
		},
		func(src random.Source, i uint64) uint32 { return src.Uint32N(i, half) + 7 }})
	verify(t,
		poisson(0.001), poisson(9.99), poisson(10), poisson(12345.6), poisson(1e15),
		distribution[int64]{"int64",
			func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[int64]) error {
				return random.Integers(s, src, dst, -1<<62, 1<<62+1)
			},
			func(src random.Source, i uint64) int64 { return int64(src.Uint64N(i, 1<<63+1) - 1<<62) }})
	verify(t, distribution[int]{"int",
		func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[int]) error {
			return random.Integers(s, src, dst, 1, 7)
		},
		func(src random.Source, i uint64) int { return int(src.Uint64N(i, 6)) + 1 }})
	verify(t, distribution[bool]{"bernoulli",
		func(s *gpu.Stream, src random.Source, dst *gpu.Buffer[bool]) error {
			return random.Bernoulli(s, src, dst, 0.3)
		},
		func(src random.Source, i uint64) bool { return src.Bernoulli(i, 0.3) }})
}

// The expected words are the known answers of the Random123 distribution, and those
// of kernel.Random.
func TestBitsAreThoseOfPhilox(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		dst := gputest.Alloc[uint32](t, dev, 4)
		if err := random.Bits(dev.DefaultStream(), random.Source{}, dst); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, dev, dst), []uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8})
	})
	r, q := kernel.NewRandom(source.Seed, source.Stream), kernel.NewRandom(source.Seed, source.Stream)
	for i := range uint64(100) {
		if got, want := source.Uint32(i), r.Uint32(); got != want {
			t.Fatalf("word %d is %#x, kernel.Random has %#x", i, got, want)
		}
		if got, want := source.Uint64(i), q.Uint64(); got != want {
			t.Fatalf("word %d of 64 bits is %#x, kernel.Random has %#x", i, got, want)
		}
	}
}

func TestChoicesAreTheSameOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for _, weights := range [][]float64{{1}, {0, 3}, {1, 2, 3, 4}, {1e300, 1e300, 1e-300}, {0, 0, 5e-324}} {
			a, err := random.NewAlias(s, weights)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			table := gputest.Download(t, dev, a.Table())
			for _, offset := range []uint64{0, 1} {
				src := source.At(offset)
				dst := gputest.Alloc[int32](t, dev, 1001)
				if err := random.Choice(s, src, dst, a); err != nil {
					t.Fatal(err)
				}
				got := gputest.Download(t, dev, dst)
				compare(t, fmt.Sprint(weights), got, func(i int) int32 { return int32(random.Choose(src.Uint64(uint64(i)), table)) })
				for i, x := range got {
					if weights[x] == 0 {
						t.Fatalf("%v: element %d is %d, which has no weight", weights, i, x)
					}
				}
			}
		}
	})
}

func TestPermutations(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for _, n := range []int{0, 1, 2, 3, 4, 5, 31, 32, 33, 1000, 1024, 1025, 5000} {
			b := source.Bijection(uint64(n))
			dst := gputest.Alloc[int32](t, dev, n)
			if err := random.Permutation(s, source, dst, n); err != nil {
				t.Fatal(err)
			}
			got := gputest.Download(t, dev, dst)
			compare(t, fmt.Sprint(n, " elements"), got, func(i int) int32 { return int32(b.At(uint64(i))) })
			seen := make([]bool, n)
			for _, x := range got {
				if seen[x] {
					t.Fatalf("%d elements: %d occurs twice", n, x)
				}
				seen[x] = true
			}
			wide := gputest.Alloc[int64](t, dev, n-n/3)
			if err := random.Permutation(s, source.At(uint64(n/3)), wide, n); err != nil {
				t.Fatal(err)
			}
			compare(t, "the rest", gputest.Download(t, dev, wide), func(i int) int64 { return int64(b.At(uint64(i + n/3))) })
		}
	})
}

// Numbers with more than 32 bits are permuted too.
func TestLargePermutationsAreBijections(t *testing.T) {
	for _, n := range []uint64{1<<32 + 1, 1<<40 - 5, 1 << 62, math.MaxUint64/2 + 1} {
		b := source.Bijection(n)
		seen := map[uint64]bool{}
		for i := range uint64(1000) {
			x, y := b.At(i), b.At(n-1-i)
			if x >= n || y >= n || seen[x] || seen[y] {
				t.Fatalf("%d elements: the images of %d and %d are %d and %d, out of range or seen before", n, i, n-1-i, x, y)
			}
			seen[x], seen[y] = true, true
		}
	}
}

func shuffles[T comparable](t *testing.T, dev *gpu.Device, value func(i int) T) {
	t.Helper()
	const n = 777
	values := make([]T, n)
	for i := range values {
		values[i] = value(i)
	}
	from, dst := gputest.Upload(t, dev, values), gputest.Alloc[T](t, dev, n-5)
	if err := random.Shuffle(dev.DefaultStream(), source.At(5), dst, from); err != nil {
		t.Fatal(err)
	}
	b := source.Bijection(n)
	compare(t, fmt.Sprintf("%T", values), gputest.Download(t, dev, dst), func(i int) T { return values[b.At(uint64(i+5))] })
}

func TestShuffle(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		shuffles(t, dev, func(i int) int8 { return int8(i) })
		shuffles(t, dev, func(i int) bool { return i%3 == 0 })
		shuffles(t, dev, func(i int) uint16 { return uint16(i) })
		shuffles(t, dev, func(i int) float32 { return float32(i) / 3 })
		shuffles(t, dev, func(i int) complex64 { return complex(float32(i), 1) })
		shuffles(t, dev, func(i int) [3]float32 { return [3]float32{float32(i), 1, 2} })
		shuffles(t, dev, func(i int) [4]float32 { return [4]float32{float32(i), 1, 2, 3} })
		shuffles(t, dev, func(i int) complex128 { return complex(float64(i), 1) })
	})
}

func TestWorkIsRecordedInGraphs(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		dst := gputest.Alloc[float32](t, dev, 100)
		g, err := dev.Capture(func(s *gpu.Stream) error { return random.Normal(s, source, dst, 0, 1) })
		if err != nil {
			t.Fatal(err)
		}
		e, err := g.Instantiate()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.Launch(dev.DefaultStream()); err != nil {
			t.Fatal(err)
		}
		compare(t, "graph", gputest.Download(t, dev, dst), func(i int) float32 { return source.Normal32(uint64(i)) })
	})
}

func TestFillingDoesNotAllocate(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	x, y, z := gputest.Alloc[float32](t, dev, 100), gputest.Alloc[float64](t, dev, 100), gputest.Alloc[int64](t, dev, 100)
	from, bools := gputest.Alloc[int64](t, dev, 100), gputest.Alloc[bool](t, dev, 100)
	for name, f := range map[string]func() error{
		"Uniform":     func() error { return random.Uniform(s, source, x, 0, 1) },
		"Normal":      func() error { return random.Normal(s, source, y, 0, 1) },
		"Exponential": func() error { return random.Exponential(s, source, y, 1) },
		"Gamma":       func() error { return random.Gamma(s, source, x, 2, 1) },
		"Beta":        func() error { return random.Beta(s, source, x, 2, 1) },
		"Poisson":     func() error { return random.Poisson(s, source, z, 20) },
		"Integers":    func() error { return random.Integers(s, source, z, 0, 10) },
		"Bernoulli":   func() error { return random.Bernoulli(s, source, bools, 0.5) },
		"Permutation": func() error { return random.Permutation(s, source, z, 100) },
		"Shuffle":     func() error { return random.Shuffle(s, source, z, from) },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(10, func() { f() }); n != 0 {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
}

func TestInvalidArgumentsAreRefused(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	f32, f64 := gputest.Alloc[float32](t, dev, 10), gputest.Alloc[float64](t, dev, 10)
	i32, i64 := gputest.Alloc[int32](t, dev, 10), gputest.Alloc[int64](t, dev, 10)
	before := gputest.Download(t, dev, i32)
	bools := gputest.Alloc[bool](t, dev, 10)
	triples := gputest.Alloc[[3]uint8](t, dev, 10)
	quads := gputest.Alloc[[4]int16](t, dev, 10)
	var src random.Source
	nan, inf := math.NaN(), math.Inf(1)
	none := func(_ any, err error) error { return err }
	q, err := random.NewSobol(s, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for want, err := range map[string]error{
		"random: Uniform: s is nil":                                                                  random.Uniform(nil, src, f32, 0, 1),
		"random: Uniform: dst is nil":                                                                random.Uniform[float32](s, src, nil, 0, 1),
		"random: Uniform: high is 1 and low is 1;":                                                   random.Uniform(s, src, f32, 1, 1),
		"random: Uniform: high is NaN and low is 0;":                                                 random.Uniform(s, src, f64, 0, nan),
		"random: Uniform: high is 3e+38 and low is -3e+38;":                                          random.Uniform(s, src, f32, -3e38, 3e38),
		"random: Uniform: src has offset 281474976710650, which with the 10 elements of dst exceeds": random.Uniform(s, src.At(1<<48-6), f32, 0, 1),
		"random: Normal: mean is +Inf;":                                                              random.Normal(s, src, f64, inf, 1),
		"random: Normal: deviation is -1;":                                                           random.Normal(s, src, f64, 0, -1),
		"random: Normal: deviation is NaN;":                                                          random.Normal(s, src, f64, 0, nan),
		"random: Exponential: mean is 0;":                                                            random.Exponential(s, src, f64, 0),
		"random: Gamma: shape is 0;":                                                                 random.Gamma(s, src, f64, 0, 1),
		"random: Gamma: scale is NaN;":                                                               random.Gamma(s, src, f64, 1, nan),
		"random: Beta: a is -1;":                                                                     random.Beta(s, src, f64, -1, 1),
		"random: Beta: b is +Inf;":                                                                   random.Beta(s, src, f64, 1, inf),
		"random: Poisson: mean is 3e+09; it must be positive and at most 2e+09":                      random.Poisson(s, src, i32, 3e9),
		"random: Poisson: mean is 1e+16; it must be positive and at most 1e+15":                      random.Poisson(s, src, i64, 1e16),
		"random: Poisson: mean is NaN;":                                                              random.Poisson(s, src, i64, nan),
		"random: Integers: high is -1 and low is 0;":                                                 random.Integers(s, src, i64, 0, -1),
		"random: Bernoulli: p is 1.5;":                                                               random.Bernoulli(s, src, bools, 1.5),
		"random: Bernoulli: p is NaN;":                                                               random.Bernoulli(s, src, bools, nan),
		"random: NewAlias: weights is empty;":                                                        none(random.NewAlias(s, nil)),
		"random: NewAlias: weights has -1 at index 1;":                                               none(random.NewAlias(s, []float64{1, -1})),
		"random: NewAlias: weights has +Inf at index 0;":                                             none(random.NewAlias(s, []float64{inf})),
		"random: NewAlias: weights are all 0;":                                                       none(random.NewAlias(s, []float64{0})),
		"random: Choice: weights was not made by NewAlias":                                           random.Choice(s, src, i32, nil),
		"random: Permutation: dst has 10 elements from offset 0, but the permutation has 9":          random.Permutation(s, src, i32, 9),
		"random: Permutation: n is 3000000000;":                                                      random.Permutation(s, src, i32, 3e9),
		"random: Permutation: n is -1;":                                                              random.Permutation(s, src, i64, -1),
		"random: Shuffle: dst overlaps from;":                                                        random.Shuffle(s, src, i32, i32),
		"random: Shuffle: dst overlaps from; shuffle":                                                random.Shuffle(s, src, i32.Slice(0, 6), i32.Slice(5, 10)),
		"random: Points: first is 4294967297,":                                                       random.Points(s, q, 1<<32+1, f32.Slice(0, 9)),
		"random: Bits: dst is nil":                                                                   random.Bits[uint32](s, src, nil),
		"random: Choice: weights was not made":                                                       random.Choice(s, src, i64, &random.Alias{}),
		"random: Shuffle: from is nil":                                                               random.Shuffle(s, src, i32, nil),
		"random: Shuffle: dst has 10 elements from offset 1, but from has 10":                        random.Shuffle(s, src.At(1), i32, gputest.Alloc[int32](t, dev, 10)),
		"random: Shuffle: dst has elements of 3 bytes with an alignment of 1;":                       random.Shuffle(s, src, triples, gputest.Alloc[[3]uint8](t, dev, 10)),
		"random: Shuffle: dst has elements of 8 bytes with an alignment of 2;":                       random.Shuffle(s, src, quads, gputest.Alloc[[4]int16](t, dev, 10)),
		"random: NewSobol: dimensions is 0;":                                                         none(random.NewSobol(s, 0)),
		"random: NewScrambledSobol: dimensions is 1025; it must be at least 1 and at most 1024":      none(random.NewScrambledSobol(s, 1025, src)),
		"random: Points: dst has 10 elements, which is not a multiple of the 3 dimensions":           random.Points(s, q, 0, f32),
		"random: Points: q was not made by":                                                          random.Points(s, nil, 0, f32),
		"random: Points: first is 4294967294, which with the 3 points of dst exceeds 2^32;":          random.Points(s, q, 1<<32-2, f32.Slice(0, 9)),
	} {
		var e *random.Error
		if !errors.As(err, &e) || !errors.Is(err, gpu.ErrInvalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	gputest.Equal(t, gputest.Download(t, dev, i32), before, gputest.Name("int32"))
	singles := gputest.Download(t, dev, f32)
	var noAlias *random.Alias
	var noSobol *random.Sobol
	if noAlias.Table() != nil || noAlias.Close() != nil || noSobol.Dimensions() != 0 || noSobol.Close() != nil {
		t.Error("a nil distribution or sequence has elements")
	}
	for i, x := range gputest.Download(t, dev, f64) {
		if !math.IsNaN(x) || singles[i] == singles[i] {
			t.Fatalf("element %d was written", i)
		}
	}
	closed, err := gpu.Alloc[float32](dev, 10)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if err := random.Normal(s, src, closed, 0, 1); !errors.Is(err, gpu.ErrClosed) || !strings.HasPrefix(err.Error(), "random: Normal: ") {
		t.Errorf("a closed buffer: %v", err)
	}
	for name, b := range map[string]*gpu.Buffer[float32]{"the zero value": {}, "a view outside of its array": f32.Slice(3, 99)} {
		if err := random.Normal(s, src, b, 0, 1); !errors.Is(err, gpu.ErrInvalid) || !strings.HasPrefix(err.Error(), "random: Normal: dst: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := random.Normal(s, src.At(7).At(math.MaxUint64-3), f32, 0, 1); !errors.Is(err, gpu.ErrInvalid) {
		t.Errorf("an offset beyond uint64: %v", err)
	}
}

func TestOffsets(t *testing.T) {
	if a, b := source.Bijection(10), source.At(100).Bijection(10); a != b {
		t.Error("a bijection depends on the offset")
	}
	var src random.Source
	if src.At(2).At(3) != (random.Source{Offset: 5}) {
		t.Error("At does not add offsets")
	}
	if src.At(2).At(math.MaxUint64-1).Offset != math.MaxUint64 {
		t.Error("At returns to the start of the sequence")
	}
}
