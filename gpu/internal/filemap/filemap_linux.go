package filemap

import "syscall"

// noReserve makes a mapping reserve no swap space.
const noReserve = syscall.MAP_NORESERVE
