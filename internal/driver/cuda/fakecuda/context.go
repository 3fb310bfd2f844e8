package fakecuda

// Contexts: each device has one. Its handle is the device number plus one. Objects
// created while a context is current belong to its device.

// setCurrent is cuCtxSetCurrent.
func setCurrent(l *Library, a []uintptr) int {
	if a[0] == 0 || a[0] > uintptr(l.Devices) {
		return InvalidContext
	}
	l.current++
	l.contexts[threadID()] = a[0]
	return Success
}

// device returns the number of the device whose context is current.
func (l *Library) device() int { return int(l.contexts[threadID()]) - 1 }

// Lose makes a device fail: its context answers every later call with the result code,
// and only releasing the context frees its objects.
func (l *Library) Lose(device, code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost[device] = code
}

// lostCode returns the result code of a call in the context of a lost device. Launches
// find their context through the stream.
func (l *Library) lostCode(name string, args []uintptr) int {
	switch {
	case len(l.lost) == 0:
		return Success
	case name == "cuLaunchKernel" || name == "cuLaunchCooperativeKernel":
		return l.lost[l.owner[args[8]]]
	case functions[name].inContext:
		return l.lost[l.device()]
	default:
		return Success
	}
}

// releaseContext is cuDevicePrimaryCtxRelease. Releasing the context of a lost device
// also frees the objects created in it.
func releaseContext(l *Library, a []uintptr) int {
	device := int(a[0])
	if l.lost[device] == Success {
		return Success
	}
	for handle, owner := range l.owner {
		if owner != device {
			continue
		}
		if p, ok := object[*pool](l, handle); ok {
			l.used -= p.kept
		}
		delete(l.objects, handle)
		delete(l.pools, handle)
		if words, ok := l.memory[handle]; ok {
			l.place(handle, true)
			l.used -= int64(len(words)) * 8
			l.forget(handle)
		}
		delete(l.owner, handle)
	}
	return Success
}

// together reports whether the handles belong to one device.
func (l *Library) together(handles ...uintptr) bool {
	for _, h := range handles[1:] {
		if l.owner[h] != l.owner[handles[0]] {
			return false
		}
	}
	return true
}
