package gdal

import "path/filepath"

// candidates are the files of the library: those that Homebrew, MacPorts and the frameworks of GDAL install.
func candidates() []string {
	names := []string{"libgdal.dylib"}
	for _, folder := range []string{"/opt/homebrew/lib", "/usr/local/lib", "/opt/local/lib"} {
		names = append(names, filepath.Join(folder, "libgdal.dylib"))
	}
	return append(names, "/Library/Frameworks/GDAL.framework/GDAL", "/Applications/QGIS.app/Contents/MacOS/lib/libgdal.dylib")
}
