package gdal

import "fmt"

// Versions of the library's interface: 26 is GDAL 3.0, 38 is GDAL 3.12. Later ones are tried too.
const oldest, newest = 26, 50

// candidates are the names of the library, the newest first.
func candidates() []string {
	var names []string
	for v := newest; v >= oldest; v-- {
		names = append(names, fmt.Sprintf("libgdal.so.%d", v))
	}
	return append(names, "libgdal.so")
}
