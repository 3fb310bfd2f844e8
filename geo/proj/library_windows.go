package proj

import "quern.dev/internal/dynlib"

// candidates are the files of the library.
func candidates() []string {
	return dynlib.Installed("proj_9*.dll", "proj_8*.dll", "proj_7_2.dll", "proj.dll", "libproj*.dll")
}
