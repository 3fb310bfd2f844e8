package algo

import (
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// moveWords writes to row i of out row index[i] of in. Rows have width words.
//
//quern:kernel unchecked instantiate=uint8,uint16,uint32,uint64
func moveWords[W uint8 | uint16 | uint32 | uint64](t kernel.Thread, width int, index []uint32, in, out []W) {
	// The launch has a thread per word; index has a row number of in for each row of out.
	i := t.Global()
	if i >= len(index)*width {
		return
	}
	if width == 1 {
		out[i] = in[index[i]]
		return
	}
	row := i / width
	out[i] = in[int(index[row])*width+i-row*width]
}

// moveByIndex writes in[index[i]] to out[i].
func moveByIndex[T any](s *gpu.Stream, tmp *gpu.Scratch, index *gpu.Buffer[uint32], in, out *gpu.Buffer[T]) error {
	var v T
	switch size := int(unsafe.Sizeof(v)); {
	case size == 0:
		return nil
	case size%8 == 0:
		return moveRows[uint64](s, tmp, size/8, index, in, out)
	case size%4 == 0:
		return moveRows[uint32](s, tmp, size/4, index, in, out)
	case size%2 == 0:
		return moveRows[uint16](s, tmp, size/2, index, in, out)
	default:
		return moveRows[uint8](s, tmp, size, index, in, out)
	}
}

func moveRows[W uint8 | uint16 | uint32 | uint64, T any](s *gpu.Stream, tmp *gpu.Scratch, width int, index *gpu.Buffer[uint32], in, out *gpu.Buffer[T]) error {
	return LaunchMoveWords(s, gpu.Linear(width*out.Len()), width, index, gpu.ViewAs[W](tmp, in), gpu.ViewAs[W](tmp, out))
}
