package kernels

import (
	"math"

	"quern.dev/kernel"
)

// key returns an integer in the order of the values: -0 is below 0, and NaN above all numbers.
func key[T kernel.Number](v T) int32 {
	if T(1)/2 == 0 {
		return int32(v)
	}
	f := float32(v)
	if f != f {
		return math.MaxInt32
	}
	b := int32(math.Float32bits(f))
	return b ^ (b>>31)&math.MaxInt32
}

// unkey returns the value of a key.
func unkey[T kernel.Number](k int32) T {
	if T(1)/2 == 0 {
		return T(k)
	}
	return T(math.Float32frombits(uint32(k ^ (k>>31)&math.MaxInt32)))
}

func order(a, b *int32) { *a, *b = min(*a, *b), max(*a, *b) }

// extremes moves the smallest of the first n keys to the front and the largest to the end.
func extremes(a *[14]int32, n int) {
	//quern:unroll
	for i := 0; i < n/2; i++ {
		order(&a[i], &a[n-1-i])
	}
	//quern:unroll
	for i := 1; i < (n+1)/2; i++ {
		order(&a[0], &a[i])
	}
	//quern:unroll
	for i := n / 2; i < n-1; i++ {
		order(&a[i], &a[n-1])
	}
}

// Sizes of the tiles of median kernels.
const (
	MedianRows    = 16
	MedianThreads = 8
)

// loadKeys fills a tile of rows of 32 elements with a margin of radius pixels.
func loadKeys[T kernel.Number](t kernel.Thread, tile *[MedianRows + 4][48]int32, radius, mode int, value T, w, h, c, stride int, src []T) {
	e0, y0 := t.BlockIdx.X*32-radius*c, t.BlockIdx.Y*MedianRows-radius
	for j := t.ThreadIdx.Y; j < MedianRows+2*radius; j += MedianThreads {
		y := inside(mode, y0+j, h)
		for i := t.ThreadIdx.X; i < 32+2*radius*c; i += 32 {
			e := e0 + i
			if e < 0 || e >= w*c {
				channel := modulo(e, c)
				x := inside(mode, (e-channel)/c, w)
				e = -1
				if x >= 0 {
					e = x*c + channel
				}
			}
			v := value
			if y >= 0 && e >= 0 {
				v = src[y*stride+e]
			}
			tile[j][i] = key(v)
		}
	}
}

// median3 computes the median of 3x3 pixels. The smallest and the largest of six of them
// cannot be the median: they are dropped, another one joins, and so on.
//
// Unchecked, because inside returns the pixels that are read, and the tile has room for the
// margins of four channels.
//
//quern:kernel block=32,MedianThreads unchecked instantiate=uint8,uint16,float32
func median3[T kernel.Number](t kernel.Thread, mode int, value T, w, h, c, srcStride, dstStride int, src, dst []T) {
	tile := kernel.Shared[[MedianRows + 4][48]int32](t)
	loadKeys(t, tile, 1, mode, value, w, h, c, srcStride, src)
	t.Sync()
	e := t.BlockIdx.X*32 + t.ThreadIdx.X
	for j := t.ThreadIdx.Y; j < MedianRows; j += MedianThreads {
		y := t.BlockIdx.Y*MedianRows + j
		if e >= w*c || y >= h {
			continue
		}
		var a [14]int32
		//quern:unroll
		for k := 0; k < 6; k++ {
			a[k] = tile[j+k/3][t.ThreadIdx.X+k%3*c]
		}
		//quern:unroll
		for n := 6; n > 3; n-- {
			extremes(&a, n)
			k := 12 - n
			a[0] = tile[j+k/3][t.ThreadIdx.X+k%3*c]
		}
		extremes(&a, 3)
		dst[y*dstStride+e] = unkey[T](a[1])
	}
}

// median5 computes the median of 5x5 pixels in the same way, beginning with 14.
//
// Unchecked like median3.
//
//quern:kernel block=32,MedianThreads unchecked instantiate=uint8,uint16,float32
func median5[T kernel.Number](t kernel.Thread, mode int, value T, w, h, c, srcStride, dstStride int, src, dst []T) {
	tile := kernel.Shared[[MedianRows + 4][48]int32](t)
	loadKeys(t, tile, 2, mode, value, w, h, c, srcStride, src)
	t.Sync()
	e := t.BlockIdx.X*32 + t.ThreadIdx.X
	for j := t.ThreadIdx.Y; j < MedianRows; j += MedianThreads {
		y := t.BlockIdx.Y*MedianRows + j
		if e >= w*c || y >= h {
			continue
		}
		var a [14]int32
		//quern:unroll
		for k := 0; k < 14; k++ {
			a[k] = tile[j+k/5][t.ThreadIdx.X+k%5*c]
		}
		//quern:unroll
		for n := 14; n > 3; n-- {
			extremes(&a, n)
			k := 28 - n
			a[0] = tile[j+k/5][t.ThreadIdx.X+k%5*c]
		}
		extremes(&a, 3)
		dst[y*dstStride+e] = unkey[T](a[1])
	}
}

// MedianWarps is the number of warps of a block of medianHistogram.
const MedianWarps = 4

// medianHistogram computes medians of windows of any size. A warp computes a pixel: it counts
// the values of the window by their upper 8 bits, finds the bin with the median, counts the
// values of this bin by their next 8 bits, and so on.
//
// Unchecked, because inside returns the pixels that are read, and a bin has 8 bits.
//
//quern:kernel block=32*MedianWarps unchecked only=gpu instantiate=uint8,uint16,float32
func medianHistogram[T kernel.Number](t kernel.Thread, mode int, value T, bits, kw, kh, w, h, c, srcStride, dstStride int, src, dst []T) {
	histograms := kernel.Shared[[MedianWarps][256]uint32](t)
	bins := &histograms[t.Warp()]
	lane := t.Lane()
	// All warps of a block compute adjacent elements of a row.
	e := t.BlockIdx.X*MedianWarps + t.Warp()
	y := t.BlockIdx.Y
	if e >= w*c {
		return
	}
	x := e / c
	channel := e - x*c
	flip := uint32(0) // makes keys unsigned
	if T(1)/2 != 0 {
		flip = 1 << 31
	}
	rank := uint32(kw*kh) / 2
	prefix := uint32(0)
	for shift := bits - 8; shift >= 0; shift -= 8 {
		for i := lane; i < 256; i += 32 {
			bins[i] = 0
		}
		t.SyncWarp()
		for i := lane; i < kw*kh; i += 32 {
			j := i / kw
			xx := inside(mode, x+i-j*kw-kw/2, w)
			yy := inside(mode, y+j-kh/2, h)
			v := value
			if xx >= 0 && yy >= 0 {
				v = src[yy*srcStride+xx*c+channel]
			}
			k := uint32(key(v)) ^ flip
			if uint64(k)>>(shift+8) == uint64(prefix) {
				kernel.AtomicAdd(&bins[k>>shift&255], 1, kernel.BlockScope)
			}
		}
		t.SyncWarp()
		var own uint32
		for i := range 8 {
			own += bins[lane*8+i]
		}
		before := kernel.WarpScanExclusiveAdd(t, own)
		mine := before <= rank && rank < before+own
		bin := uint32(0)
		if mine {
			bin = uint32(lane * 8)
			for before+bins[bin] <= rank {
				before += bins[bin]
				bin++
			}
		}
		from := int(kernel.WarpReduceMax(t, choose(mine, uint32(lane), 0)))
		prefix = prefix<<8 | kernel.Shuffle(t, bin, from)
		rank -= kernel.Shuffle(t, before, from)
		t.SyncWarp()
	}
	if lane == 0 {
		dst[y*dstStride+e] = unkey[T](int32(prefix ^ flip))
	}
}

func choose[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

// medianSlideCPU is the form of medianHistogram for bytes on processors: a block of one thread
// computes a row, with a histogram that moves along. Each step counts a column of the window.
//
//quern:kernel block=1 unchecked only=cpu
func medianSlideCPU(t kernel.Thread, mode int, value uint8, kw, kh, w, h, c, srcStride, dstStride int, src, dst []uint8) {
	var bins [256]int32
	y := t.BlockIdx.X
	out := dst[y*dstStride:][:w*c]
	rank := int32(kw * kh / 2)
	for channel := range c {
		clear(bins[:])
		below := int32(0) // values below median
		median := 0
		for x := -(kw - 1); x < w; x++ { // the first kw columns make the first window
			for j := range kh {
				yy := inside(mode, y+j-kh/2, h)
				enter, leave := value, value
				if yy >= 0 {
					if xx := inside(mode, x+kw/2, w); xx >= 0 {
						enter = src[yy*srcStride+xx*c+channel]
					}
					if xx := inside(mode, x-kw/2-1, w); xx >= 0 {
						leave = src[yy*srcStride+xx*c+channel]
					}
				}
				bins[enter]++
				if int(enter) < median {
					below++
				}
				if x > 0 {
					bins[leave]--
					if int(leave) < median {
						below--
					}
				}
			}
			if x < 0 {
				continue
			}
			for below > rank {
				median--
				below -= bins[median&255]
			}
			for below+bins[median&255] <= rank {
				below += bins[median&255]
				median++
			}
			out[x*c+channel] = uint8(median)
		}
	}
}

// medianSelectCPU is the form of medianHistogram for other types on processors: a block of one
// thread computes a row, and selects from a list of the window's keys.
//
//quern:kernel block=1 unchecked only=cpu instantiate=uint16,float32
func medianSelectCPU[T kernel.Number](t kernel.Thread, mode int, value T, kw, kh, w, h, c, srcStride, dstStride int, src, dst []T, lists []int32) {
	y := t.BlockIdx.X
	list := lists[y*kw*kh:][:kw*kh]
	out := dst[y*dstStride:][:w*c]
	for e := range w * c {
		x := e / c
		channel := e - x*c
		n := 0
		for j := range kh {
			yy := inside(mode, y+j-kh/2, h)
			for i := range kw {
				v := value
				if xx := inside(mode, x+i-kw/2, w); xx >= 0 && yy >= 0 {
					v = src[yy*srcStride+xx*c+channel]
				}
				list[n] = key(v)
				n++
			}
		}
		out[e] = unkey[T](selected(list, len(list)/2))
	}
}

// selected returns the element of rank k, and reorders the list.
func selected(list []int32, k int) int32 {
	low, high := 0, len(list)-1
	for low < high {
		pivot := list[(low+high)/2]
		i, j := low, high
		for i <= j {
			for list[i] < pivot {
				i++
			}
			for list[j] > pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return list[k]
		}
	}
	return list[k]
}
