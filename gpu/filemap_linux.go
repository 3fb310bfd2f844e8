package gpu

import "syscall"

// noReserve keeps a mapping from needing as much memory as if all of it were
// written.
const noReserve = syscall.MAP_NORESERVE
