package proj

// candidates are the names of the library: 25 is PROJ 9, 22 and 19 are 8 and 7.2.
func candidates() []string {
	return []string{"libproj.so.25", "libproj.so.26", "libproj.so.27", "libproj.so.28", "libproj.so.22", "libproj.so.19", "libproj.so"}
}
