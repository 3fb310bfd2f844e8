package pool

import "math/bits"

// Block sizes are multiples of 512 bytes up to 4 KiB, then eight sizes per power of two
// up to 1 GiB, then multiples of 2 MiB (the page size of GPUs), which share one class.
const (
	smallStep  = 512
	smallCount = 8
	largest    = 1 << 30
	largeStep  = 2 << 20
	largeClass = smallCount + 8*(30-12)
	classCount = largeClass + 1
)

// classOf returns the class and the size of blocks that serve size > 0 bytes.
func classOf(size int64) (class int, rounded int64) {
	switch {
	case size <= smallStep*smallCount:
		n := (size + smallStep - 1) / smallStep
		return int(n - 1), n * smallStep
	case size <= largest:
		e := bits.Len64(uint64(size - 1)) // 1<<(e-1) < size <= 1<<e
		step := int64(1) << (e - 4)
		n := (size + step - 1) / step // 9 to 16
		return smallCount + 8*(e-13) + int(n-9), n * step
	default:
		return largeClass, max(size, (size+largeStep-1)/largeStep*largeStep)
	}
}
