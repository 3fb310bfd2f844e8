package culib

import (
	"os"
	"path/filepath"
	"slices"
)

// places returns where a file of a library may be, in the order of the search:
//
//   - the folders in QUERN_CUDALIB, which are a toolkit's, a library's own, or Python's
//     site-packages;
//   - what the dynamic loader finds: LD_LIBRARY_PATH and the system's folders;
//   - the folders of the toolkit: CUDA_HOME, CUDA_PATH, /usr/local/cuda, and /usr/local/cuda-*,
//     the latest first;
//   - the packages of the active Python environment: VIRTUAL_ENV, CONDA_PREFIX.
func places(d *description, file string, getenv func(string) string) []string {
	var list []string
	glob := func(pattern ...string) {
		found, _ := filepath.Glob(filepath.Join(pattern...)) // on a bad pattern, nothing
		slices.Sort(found)
		slices.Reverse(found)
		list = append(list, found...)
	}
	below := func(folder string) { // of Python packages
		glob(folder, "nvidia", d.pip, "lib", file)
		glob(folder, "nvidia", "cu1?", "lib", file)
	}
	for _, folder := range filepath.SplitList(getenv(Variable)) {
		if folder == "" {
			continue
		}
		glob(folder, file)
		glob(folder, "lib64", file)
		glob(folder, "targets", "*", "lib", file)
		below(folder)
	}
	list = append(list, file)
	for _, folder := range []string{getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/usr/local/cuda-*"} {
		if folder != "" {
			glob(folder, "lib64", file)
			glob(folder, "targets", "*", "lib", file)
		}
	}
	for _, folder := range []string{getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX")} {
		if folder != "" {
			glob(folder, "lib", file)
			for _, packages := range globAll(folder, "lib", "python3*", "site-packages") {
				below(packages)
			}
		}
	}
	return list
}

func globAll(pattern ...string) []string {
	found, _ := filepath.Glob(filepath.Join(pattern...))
	return found
}

// candidates returns the places of all releases that the driver can run, newest first. If the
// driver's version is not known, it is 0, which allows all.
func candidates(d *description, cuda int) []string {
	var list []string
	for _, r := range d.releases {
		if cuda > 0 && r.cuda > cuda {
			continue
		}
		for _, place := range places(d, r.file, os.Getenv) {
			if !slices.Contains(list, place) {
				list = append(list, place)
			}
		}
	}
	return list
}
