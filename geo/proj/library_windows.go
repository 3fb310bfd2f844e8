package proj

import (
	"os"
	"path/filepath"
)

// candidates are the files proj*.dll in the folders of PATH and of OSGeo4W. The current folder is not searched.
func candidates() []string {
	folders := filepath.SplitList(os.Getenv("PATH"))
	if root := os.Getenv("OSGEO4W_ROOT"); root != "" {
		folders = append(folders, filepath.Join(root, "bin"))
	}
	var names []string
	for _, folder := range append(folders, `C:\OSGeo4W\bin`) {
		if !filepath.IsAbs(folder) {
			continue
		}
		for _, pattern := range []string{"proj_9*.dll", "proj_8*.dll", "proj_7_2.dll", "proj.dll", "libproj*.dll"} {
			found, _ := filepath.Glob(filepath.Join(folder, pattern)) // the patterns are valid
			for i := len(found) - 1; i >= 0; i-- {
				names = append(names, found[i])
			}
		}
	}
	return names
}
