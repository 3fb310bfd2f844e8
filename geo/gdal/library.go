package gdal

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// Environment is the environment variable that names the file of the library.
const Environment = "QUERN_GDAL"

// Numbers of gdal.h and cpl_error.h.
const (
	openReadOnly = 0x00
	openRaster   = 0x02
	openVerbose  = 0x40

	readFlag     = 0
	errorFailure = 3

	maskAllValid   = 1
	maskPerDataset = 2
	maskAlpha      = 4
	maskNoData     = 8
)

// handle is an object of GDAL.
type handle = uintptr

// functions are those of GDAL that the package calls, by their names in C.
type functions struct {
	GDALAllRegister                  func()
	GDALVersionInfo                  func(what string) string
	GDALOpenEx                       func(name string, flags uint32, drivers, options, siblings unsafe.Pointer) handle
	GDALClose                        func(dataset handle)
	GDALCreate                       func(driver handle, name string, width, height, bands, kind int32, options unsafe.Pointer) handle
	GDALGetDriverByName              func(name string) handle
	GDALGetDatasetDriver             func(dataset handle) handle
	GDALGetDriverShortName           func(driver handle) string
	GDALGetDriverLongName            func(driver handle) string
	GDALGetRasterXSize               func(dataset handle) int32
	GDALGetRasterYSize               func(dataset handle) int32
	GDALGetRasterCount               func(dataset handle) int32
	GDALGetGeoTransform              func(dataset handle, transform *[6]float64) int32
	GDALGetSpatialRef                func(dataset handle) handle
	GDALSetSpatialRef                func(dataset, system handle) int32
	GDALGetGCPCount                  func(dataset handle) int32
	GDALGetGCPs                      func(dataset handle) unsafe.Pointer
	GDALGetGCPSpatialRef             func(dataset handle) handle
	GDALGetMetadata                  func(object handle, domain string) unsafe.Pointer
	GDALGetMetadataItem              func(object handle, name, domain string) string
	GDALGetMetadataDomainList        func(object handle) unsafe.Pointer
	CSLDestroy                       func(list unsafe.Pointer)
	GDALGetRasterBand                func(dataset handle, band int32) handle
	GDALGetRasterDataType            func(band handle) int32
	GDALDataTypeUnion                func(a, b int32) int32
	GDALGetDataTypeName              func(kind int32) string
	GDALGetBlockSize                 func(band handle, width, height *int32)
	GDALGetRasterBandXSize           func(band handle) int32
	GDALGetRasterBandYSize           func(band handle) int32
	GDALGetRasterColorInterpretation func(band handle) int32
	GDALGetColorInterpretationName   func(interpretation int32) string
	GDALGetRasterColorTable          func(band handle) handle
	GDALGetColorEntryCount           func(table handle) int32
	GDALGetColorEntryAsRGB           func(table handle, i int32, entry *[4]int16) int32
	GDALGetRasterNoDataValue         func(band handle, there *int32) float64
	GDALGetRasterScale               func(band handle, there *int32) float64
	GDALGetRasterOffset              func(band handle, there *int32) float64
	GDALGetRasterUnitType            func(band handle) string
	GDALGetDescription               func(object handle) string
	GDALGetMaskFlags                 func(band handle) int32
	GDALGetMaskBand                  func(band handle) handle
	GDALGetOverviewCount             func(band handle) int32
	GDALGetOverview                  func(band handle, i int32) handle
	GDALRasterIOEx                   func(band handle, mode, x, y, width, height int32, buffer unsafe.Pointer, bufferWidth, bufferHeight, kind int32, pixelSpace, lineSpace int64, extra unsafe.Pointer) int32
	OSRExportToWktEx                 func(system handle, text *unsafe.Pointer, options unsafe.Pointer) int32
	VSIFree                          func(memory unsafe.Pointer)
	VSIGetMemFileBuffer              func(name string, size *uint64, unlink int32) unsafe.Pointer
	VSIUnlink                        func(name string) int32
	CPLErrorReset                    func()
	CPLGetLastErrorMsg               func() string
	CPLGetLastErrorNo                func() int32
	CPLPushErrorHandler              func(handler uintptr)
	optionalFunctions
	quiet uintptr // CPLQuietErrorHandler
}

// optionalFunctions are those that older versions lack. They are nil there.
type optionalFunctions struct {
	GDALGetRasterNoDataValueAsInt64  func(band handle, there *int32) int64
	GDALGetRasterNoDataValueAsUInt64 func(band handle, there *int32) uint64
}

// library is the library, or why there is none.
var library = sync.OnceValues(load)

// Version returns the version of the installed GDAL, such as "3.10.3", or an error that matches [ErrMissing] and says what
// to do.
func Version() (string, error) {
	lib, err := library()
	if err != nil {
		return "", err
	}
	return lib.GDALVersionInfo("RELEASE_NAME"), nil
}

// advice says how to install GDAL.
func advice() string {
	how := "install GDAL 3.0 or later (Debian and Ubuntu: the package libgdal-dev, or gdal-bin; Fedora: gdal-libs)"
	switch runtime.GOOS {
	case "darwin":
		how = "install GDAL 3.0 or later (brew install gdal)"
	case "windows":
		how = "install GDAL 3.0 or later (OSGeo4W, or conda install gdal) and put its folder with gdal.dll in PATH"
	}
	return how + ", or name the library's file in " + Environment
}

func load() (*functions, error) {
	names := candidates()
	own := os.Getenv(Environment)
	if own != "" {
		names = []string{own}
	}
	var reason error
	for _, name := range names {
		lib, err := bind(name)
		if err == nil {
			return lib, initialize(lib, name)
		}
		// Most names do not exist. The library that exists and cannot be used is the reason.
		if reason == nil && !strings.Contains(err.Error(), name+": cannot open") && runtime.GOOS == "linux" || own != "" {
			reason = err
		}
		if old := (*versionError)(nil); errors.As(err, &old) {
			reason = err
		}
	}
	switch {
	case own != "":
		return nil, failure(ErrMissing, "load", "", "%s=%s: %v; %s", Environment, own, reason, advice())
	case reason != nil:
		return nil, failure(ErrMissing, "load", "", "libgdal cannot be used: %v; %s", reason, advice())
	}
	return nil, failure(ErrMissing, "load", "", "there is no libgdal; %s", advice())
}

// versionError is a library that lacks a function.
type versionError struct{ file, function string }

func (e *versionError) Error() string {
	return fmt.Sprintf("%s has no function %s: it is older than GDAL 3.0, or another library", e.file, e.function)
}

func initialize(lib *functions, name string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if n, err := strconv.Atoi(lib.GDALVersionInfo("VERSION_NUM")); err != nil || n < 3000000 {
		return failure(ErrMissing, "load", name, "GDAL %s is too old; %s", lib.GDALVersionInfo("RELEASE_NAME"), advice())
	}
	lib.GDALAllRegister()
	return nil
}

// texts copies a list of strings of C.
func texts(list unsafe.Pointer) []string {
	var all []string
	if list == nil {
		return nil
	}
	for i := 0; ; i++ {
		p := *(*unsafe.Pointer)(unsafe.Add(list, i*int(unsafe.Sizeof(list))))
		if p == nil {
			return all
		}
		all = append(all, text(p))
	}
}

// text copies a string of C.
func text(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// list makes a list of strings of C. It must be kept alive as long as C uses it.
func list(values ...string) []*byte {
	var all []*byte
	for _, v := range values {
		all = append(all, &append([]byte(v), 0)[0])
	}
	return append(all, nil)
}
