package fakecuda

// pool is a memory pool. Bytes that it keeps are in use but belong to no allocation.
type pool struct {
	threshold uint64 // bytes in use and kept
	out, kept int64
}

func init() {
	deviceAttributes[115] = 1 // memory pools
	register(map[string]entry{
		"cuMemPoolCreate":         {true, func(l *Library, a []uintptr) int { return l.add(a[0], new(pool)) }},
		"cuMemPoolDestroy":        {true, destroyPool},
		"cuMemPoolSetAttribute":   {true, setPoolAttribute},
		"cuMemPoolTrimTo":         {true, trimPool},
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
	p, ok := object[*pool](l, a[2])
	if !ok {
		return InvalidHandle
	}
	if _, ok := object[stream](l, a[3]); !ok {
		return InvalidHandle
	}
	again := min(p.kept, int64(a[1]))
	l.used -= again
	before := l.used
	if code := l.allocate(a[0], a[1]); code != Success {
		l.used += again
		return code
	}
	p.kept -= again
	p.out += l.used - before
	l.pools[*at[uintptr](a[0])] = p
	return Success
}

func freeInOrder(l *Library, a []uintptr) int {
	if _, ok := object[stream](l, a[1]); !ok {
		return InvalidHandle
	}
	return l.freeInOrder(a[0])
}

// freeInOrder frees memory. The memory's pool may keep it.
func (l *Library) freeInOrder(address uintptr) int {
	p, before := l.pools[address], l.used
	code := l.release(address)
	if p != nil {
		more := before - l.used
		if room := p.threshold - min(p.threshold, uint64(p.out+p.kept)); room < uint64(more) {
			more = int64(room)
		}
		p.kept += more
		l.used += more
	}
	return code
}

func trimPool(l *Library, a []uintptr) int {
	p, ok := object[*pool](l, a[0])
	if !ok {
		return InvalidHandle
	}
	l.used -= p.kept
	p.kept = 0
	return Success
}

func destroyPool(l *Library, a []uintptr) int {
	if code := trimPool(l, a); code != Success {
		return code
	}
	return destroy(l, a)
}
