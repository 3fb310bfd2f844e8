package kernels

import "quern.dev/kernel"

// ResizeRows is how many rows a thread of resizeLinear writes: it then waits for all of their pixels
// at once.
const ResizeRows = 4

// resizeLinear is warp between four pixels, for scaling only: pixel (x, y) of the output
// shows the position (sx*x + ox, sy*y + oy). Pixels beyond the edges are like those at the edges.
// A thread writes a value of [ResizeRows] rows, 8 rows apart.
//
//quern:kernel block=32x8 unchecked instantiate=uint8,uint16,float32
func resizeLinear[T kernel.Number](t kernel.Thread, sx, ox, sy, oy float64, dw, dh, w, h, c, srcStride, dstStride int, src, dst []T) {
	i := t.BlockIdx.X*32 + t.ThreadIdx.X
	y := t.BlockIdx.Y*8*ResizeRows + t.ThreadIdx.Y
	if i >= dw*c || y >= dh {
		return
	}
	px, channel := i, 0
	if c > 1 {
		px = i / c
		channel = i - px*c
	}
	x, fx := split(sx*float64(px) + ox)
	left := kernel.Clamp(x, 0, w-1)*c + channel
	right := kernel.Clamp(x+1, 0, w-1)*c + channel
	var p, q [ResizeRows][2]T // two pixels of two rows
	var fy [ResizeRows]float32
	//quern:unroll
	for k := range ResizeRows {
		var v int
		v, fy[k] = split(sy*float64(min(y+8*k, dh-1)) + oy)
		top, bottom := kernel.Clamp(v, 0, h-1)*srcStride, kernel.Clamp(v+1, 0, h-1)*srcStride
		p[k] = [2]T{src[top+left], src[top+right]}
		q[k] = [2]T{src[bottom+left], src[bottom+right]}
	}
	//quern:unroll
	for k := range ResizeRows {
		if row := y + 8*k; row < dh {
			top := float32(p[k][0]) + fx*(float32(p[k][1])-float32(p[k][0]))
			bottom := float32(q[k][0]) + fx*(float32(q[k][1])-float32(q[k][0]))
			dst[row*dstStride+i] = round[T](top + fy[k]*(bottom-top))
		}
	}
}
