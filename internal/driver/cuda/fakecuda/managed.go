package fakecuda

func init() {
	register(map[string]entry{
		"cuMemAllocManaged":  {true, allocateManaged},
		"cuMemPrefetchAsync": {true, prefetch},
		"cuMemAdvise":        {true, advise},
	})
	deviceAttributes[83], deviceAttributes[89] = 1, 1 // managed memory, concurrently
}

// allocateManaged allocates memory that uses no device memory until it is prefetched.
func allocateManaged(l *Library, a []uintptr) int {
	code := l.allocate(a[0], a[1])
	if code == Success && a[2] != 1 {
		code = InvalidValue
	}
	if code == Success {
		l.place(*at[uintptr](a[0]), false)
	}
	return code
}

// place moves managed memory to a device or to the host.
func (l *Library) place(address uintptr, device bool) {
	if device == !l.onHost[address] {
		return
	}
	size := int64(len(l.memory[address])) * 8
	if device {
		l.used += size
		delete(l.onHost, address)
		return
	}
	l.used -= size
	l.onHost[address] = true
}

func prefetch(l *Library, a []uintptr) int {
	if _, ok := object[stream](l, a[3]); !ok {
		return InvalidHandle
	}
	if l.memory[a[0]] == nil || !l.known(a[2]) {
		return InvalidValue
	}
	l.place(a[0], int32(a[2]) >= 0)
	return Success
}

// known reports whether a number is a device or the host (-1).
func (l *Library) known(device uintptr) bool {
	return int32(device) >= -1 && int(int32(device)) < l.Devices
}

func advise(l *Library, a []uintptr) int {
	if l.memory[a[0]] == nil || a[2] < 1 || a[2] > 6 || !l.known(a[3]) {
		return InvalidValue
	}
	l.Advised = append(l.Advised, int(a[2]))
	return Success
}
