package fakecuda

func init() {
	register(map[string]entry{
		"cuDeviceCanAccessPeer": {run: canAccessPeer},
		"cuCtxEnablePeerAccess": {true, enablePeer},
		"cuMemcpyPeerAsync":     {true, movePeer},
	})
}

func canAccessPeer(l *Library, a []uintptr) int {
	linked := int32(0)
	if !l.Unlinked && a[1] != a[2] {
		linked = 1
	}
	return set(a[0], linked)
}

func enablePeer(l *Library, a []uintptr) int {
	from, to := l.device(), int(a[0])-1
	pair := [2]int{from, to}
	switch {
	case l.Unlinked || from == to:
		return PeerAccessUnsupported
	case l.peers[pair]:
		return PeerAccessAlreadyEnabled
	default:
		l.peers[pair] = true
		return Success
	}
}

// movePeer copies between contexts, on a stream of either.
func movePeer(l *Library, a []uintptr) int {
	to, from, n := int(a[1])-1, int(a[3])-1, a[4]
	owner, known := l.owner[a[5]]
	_, ok := object[stream](l, a[5])
	switch {
	case !ok || !known:
		return InvalidHandle
	case owner != to && owner != from, !l.holds(to, a[0]), !l.holds(from, a[2]):
		return InvalidValue
	}
	l.Copied[[2]int{from, to}] += int64(n)
	transfer(a[0], a[2], n)
	return Success
}

// holds reports whether an address lies in memory of the device.
func (l *Library) holds(device int, address uintptr) bool {
	for base, words := range l.memory {
		if l.owner[base] == device && address >= base && address < base+8*uintptr(len(words)) {
			return true
		}
	}
	return false
}
