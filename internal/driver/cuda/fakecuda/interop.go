package fakecuda

import "runtime"

func init() {
	register(map[string]entry{
		"cuMemGetAddressRange_v2": {true, addressRange},
		"cuIpcGetMemHandle":       {true, shareMemory},
		"cuIpcOpenMemHandle_v2":   {true, openShared},
		"cuIpcCloseMemHandle":     {true, closeShared},
	})
}

// shared is a view of an allocation opened by its handle. The real driver gives it a
// separate address.
type shared struct{ start uintptr }

// allocation returns the allocation that contains an address.
func (l *Library) allocation(address uintptr) (start, size uintptr, ok bool) {
	for start, words := range l.memory {
		if size := uintptr(len(words)) * 8; address >= start && address < start+size {
			return start, size, true
		}
	}
	return 0, 0, false
}

func addressRange(l *Library, a []uintptr) int {
	start, size, ok := l.allocation(a[2])
	if !ok {
		return InvalidValue
	}
	set(a[0], uint64(start))
	return set(a[1], uint64(size))
}

// handleMark is the second word of this library's handles.
const handleMark = 0x71756572

func shareMemory(l *Library, a []uintptr) int {
	start, _, ok := l.allocation(a[1])
	if !ok {
		return InvalidValue
	}
	return set(a[0], [8]uint64{uint64(start), handleMark})
}

// openShared takes the handle by value: on AMD64 in the words after the sixth argument,
// elsewhere by its address.
func openShared(l *Library, a []uintptr) int {
	var start, mark uintptr
	if runtime.GOARCH == "amd64" && runtime.GOOS != "windows" {
		if len(a) != 14 || a[1] != 1 {
			return InvalidValue
		}
		start, mark = a[6], a[7]
	} else {
		h := at[[8]uint64](a[1])
		start, mark = uintptr(h[0]), uintptr(h[1])
	}
	if _, _, ok := l.allocation(start); !ok || mark != handleMark {
		return InvalidHandle
	}
	l.objects[start] = shared{start}
	return set(a[0], uint64(start))
}

func closeShared(l *Library, a []uintptr) int {
	if _, ok := object[shared](l, a[0]); !ok {
		return InvalidHandle
	}
	return l.remove(a[0])
}
