//go:build !linux

package nvml

// openLibrary returns an error: the library is used on Linux only.
func openLibrary() (Library, error) { return nil, &MissingError{"NVML is used on Linux only"} }
