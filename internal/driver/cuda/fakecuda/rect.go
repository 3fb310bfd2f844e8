package fakecuda

func init() {
	register(map[string]entry{
		"cuMemcpy2DAsync_v2": {true, copy2D},
		"cuMemcpy3DAsync_v2": {true, copy3D},
	})
}

// Values of CUmemorytype.
const (
	hostMemory   = 1
	deviceMemory = 2
	arrayMemory  = 3
)

// side is one side of a two- or three-dimensional copy.
type side struct{ at, pitch, rows uintptr }

// readSide reads one side of a structure. The kind of memory is at offset kind,
// followed by the host address and the device address; pitch is the offset of the
// pitch.
func readSide(structure, kind, pitch uintptr) (side, bool) {
	s := side{pitch: *at[uintptr](structure + pitch)}
	switch *at[uint32](structure + kind) {
	case hostMemory:
		s.at = *at[uintptr](structure + kind + 8)
	case deviceMemory:
		s.at = *at[uintptr](structure + kind + 16)
	}
	return s, s.at != 0
}

// copy2D reads a CUDA_MEMCPY2D.
func copy2D(l *Library, a []uintptr) int {
	if *at[uint32](a[0] + 72) == arrayMemory {
		return copyToArray(l, a)
	}
	src, ok := readSide(a[0], 16, 48)
	dst, ok2 := readSide(a[0], 72, 104)
	if !ok || !ok2 {
		return InvalidValue
	}
	return l.copyRows(a[1], dst, src, *at[uintptr](a[0] + 112), *at[uintptr](a[0] + 120), 1)
}

// copy3D reads a CUDA_MEMCPY3D.
func copy3D(l *Library, a []uintptr) int {
	const half = 88 // bytes of a side
	src, ok := readSide(a[0], 32, 72)
	dst, ok2 := readSide(a[0]+half, 32, 72)
	if !ok || !ok2 {
		return InvalidValue
	}
	src.rows, dst.rows = *at[uintptr](a[0] + 80), *at[uintptr](a[0] + half + 80)
	size := a[0] + 2*half
	return l.copyRows(a[1], dst, src, *at[uintptr](size), *at[uintptr](size + 8), *at[uintptr](size + 16))
}

func (l *Library) copyRows(queue uintptr, dst, src side, width, height, depth uintptr) int {
	if _, ok := object[stream](l, queue); !ok {
		return InvalidHandle
	}
	if dst.pitch < width || src.pitch < width || depth > 1 && (dst.rows < height || src.rows < height) {
		return InvalidValue
	}
	for z := range depth {
		for y := range height {
			to, from := dst.at+(z*dst.rows+y)*dst.pitch, src.at+(z*src.rows+y)*src.pitch
			copy(bytes(to, width), bytes(from, width))
		}
	}
	return Success
}
