package nvml

import (
	"fmt"
	"os"
	"sync"

	"quern.dev/internal/dynlib"
)

// openLibrary opens the library, once per process.
var openLibrary = sync.OnceValues(func() (Library, error) {
	if file := os.Getenv(LibraryVariable); file != "" {
		lib, err := dynlib.Open(file)
		if err != nil {
			return nil, &MissingError{fmt.Sprintf("%s: %v", LibraryVariable, err)}
		}
		return lib, nil
	}
	lib, err := dynlib.Open("libnvidia-ml.so.1")
	if err != nil {
		return nil, &MissingError{fmt.Sprintf("there is no NVIDIA driver (%v)", err)}
	}
	return lib, nil
})
