package gdal

import "quern.dev/internal/dynlib"

// candidates are the files of the library.
func candidates() []string { return dynlib.Installed("gdal.dll", "gdal3*.dll", "libgdal*.dll") }
