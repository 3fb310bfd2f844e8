package fakecuda

func init() {
	register(map[string]entry{
		"cuMemHostRegister_v2": {true, registerHost},
		"cuMemHostUnregister":  {true, unregisterHost},
	})
}

// registration is a range of registered memory.
type registration struct{ lo, hi uintptr }

func registerHost(l *Library, a []uintptr) int {
	if a[0] == 0 || a[1] == 0 {
		return InvalidValue
	}
	lo, hi := a[0], a[0]+a[1]
	for _, o := range l.objects {
		if r, ok := o.(registration); ok && r.lo < hi && lo < r.hi {
			return AlreadyRegistered
		}
	}
	l.objects[a[0]] = registration{lo, hi}
	return Success
}

func unregisterHost(l *Library, a []uintptr) int {
	if _, ok := object[registration](l, a[0]); !ok {
		return NotRegistered
	}
	return l.remove(a[0])
}
