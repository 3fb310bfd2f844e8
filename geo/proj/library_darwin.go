package proj

// candidates are the files that Homebrew, MacPorts and QGIS install.
func candidates() []string {
	return []string{"libproj.dylib", "/opt/homebrew/lib/libproj.dylib", "/usr/local/lib/libproj.dylib", "/opt/local/lib/proj9/lib/libproj.dylib",
		"/opt/local/lib/libproj.dylib", "/Applications/QGIS.app/Contents/MacOS/lib/libproj.dylib"}
}
