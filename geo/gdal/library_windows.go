package gdal

import (
	"os"
	"path/filepath"
)

// candidates are the files gdal*.dll in the folders of PATH and of OSGeo4W. The current folder is not searched.
func candidates() []string {
	folders := filepath.SplitList(os.Getenv("PATH"))
	if root := os.Getenv("OSGEO4W_ROOT"); root != "" {
		folders = append(folders, filepath.Join(root, "bin"))
	}
	folders = append(folders, `C:\OSGeo4W\bin`)
	var names []string
	for _, folder := range folders {
		if !filepath.IsAbs(folder) {
			continue
		}
		for _, pattern := range []string{"gdal.dll", "gdal3*.dll", "libgdal*.dll"} {
			found, _ := filepath.Glob(filepath.Join(folder, pattern)) // the patterns are valid
			for i := len(found) - 1; i >= 0; i-- {
				names = append(names, found[i])
			}
		}
	}
	return names
}
