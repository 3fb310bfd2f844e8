package dynlib

import (
	"os"
	"path/filepath"
	"slices"
)

// Installed returns the files that match the patterns in the folders of PATH and of OSGeo4W, by folder and pattern, and
// those of a pattern from the last to the first. The current folder is not searched.
func Installed(patterns ...string) []string {
	folders := filepath.SplitList(os.Getenv("PATH"))
	if root := os.Getenv("OSGEO4W_ROOT"); root != "" {
		folders = append(folders, filepath.Join(root, "bin"))
	}
	var names []string
	for _, folder := range append(folders, `C:\OSGeo4W\bin`) {
		if !filepath.IsAbs(folder) {
			continue
		}
		for _, pattern := range patterns {
			found, _ := filepath.Glob(filepath.Join(folder, pattern)) // the patterns are valid
			slices.Reverse(found)
			names = append(names, found...)
		}
	}
	return names
}
