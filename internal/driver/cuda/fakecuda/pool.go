package fakecuda

// pool is a memory pool.
type pool struct{ threshold uint64 }

func init() {
	deviceAttributes[115] = 1 // memory pools
	register(map[string]entry{
		"cuMemPoolCreate":         {true, func(l *Library, a []uintptr) int { return l.add(a[0], new(pool)) }},
		"cuMemPoolDestroy":        {true, destroy},
		"cuMemPoolSetAttribute":   {true, setPoolAttribute},
		"cuMemPoolTrimTo":         {true, known[*pool]},
		"cuMemAllocFromPoolAsync": {true, allocateFromPool},
		"cuMemFreeAsync":          {true, freeInOrder},
	})
}

func setPoolAttribute(l *Library, a []uintptr) int {
	p, ok := object[*pool](l, a[0])
	if !ok {
		return InvalidHandle
	}
	if a[1] != 4 {
		return InvalidValue
	}
	p.threshold = *at[uint64](a[2])
	return Success
}

func allocateFromPool(l *Library, a []uintptr) int {
	if _, ok := object[*pool](l, a[2]); !ok {
		return InvalidHandle
	}
	if _, ok := object[stream](l, a[3]); !ok {
		return InvalidHandle
	}
	return l.allocate(a[0], a[1])
}

func freeInOrder(l *Library, a []uintptr) int {
	if _, ok := object[stream](l, a[1]); !ok {
		return InvalidHandle
	}
	return l.release(a[0])
}
