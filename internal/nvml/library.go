package nvml

import (
	"sync"
	"unsafe"
)

// LibraryVariable is the environment variable that names the file of the library.
const LibraryVariable = "QUERN_NVML"

// Library is NVML, or a substitute for tests.
type Library interface {
	// Lookup returns the address of a function, or 0 if there is no function of that name.
	Lookup(name string) uintptr
	// Call calls the function at an address. It does not retain args.
	Call(function uintptr, args []uintptr) uintptr
}

var open = openLibrary

// Substitute replaces the library by the one that open returns, until restore is called. It is
// for tests.
func Substitute(with func() (Library, error)) (restore func()) {
	was := open
	open = with
	return func() { open = was }
}

// symbol identifies a function of the library.
type symbol int

const (
	initialize symbol = iota
	shutdown
	errorString
	driverVersion
	cudaVersion
	count
	handle
	name
	uuid
	pciInfo
	minorNumber
	utilization
	encoder
	decoder
	memoryInfo
	memoryInfo2
	powerUsage
	powerLimit
	energy
	temperature
	fan
	clock
	maxClock
	clockReasons
	performanceState
	pcieGeneration
	pcieWidth
	pcieThroughput
	pcieReplays
	eccErrors
	eccMode
	maxPCIeGeneration
	maxPCIeWidth
	defaultPowerLimit
	persistence
	fieldValues
	computeProcesses
	graphicsProcesses
	processUtilization
	eventSetCreate
	eventSetFree
	registerEvents
	eventSetWait
	symbolCount
)

// version is a name of a function, and the number of its version where that changes its
// arguments.
type version struct {
	name   string
	number int
}

// symbols has the names of each function, newest first.
var symbols = [symbolCount][]version{
	initialize:         {{"nvmlInit_v2", 2}, {"nvmlInit", 1}},
	shutdown:           {{"nvmlShutdown", 1}},
	errorString:        {{"nvmlErrorString", 1}},
	driverVersion:      {{"nvmlSystemGetDriverVersion", 1}},
	cudaVersion:        {{"nvmlSystemGetCudaDriverVersion_v2", 2}, {"nvmlSystemGetCudaDriverVersion", 1}},
	count:              {{"nvmlDeviceGetCount_v2", 2}, {"nvmlDeviceGetCount", 1}},
	handle:             {{"nvmlDeviceGetHandleByIndex_v2", 2}, {"nvmlDeviceGetHandleByIndex", 1}},
	name:               {{"nvmlDeviceGetName", 1}},
	uuid:               {{"nvmlDeviceGetUUID", 1}},
	pciInfo:            {{"nvmlDeviceGetPciInfo_v3", 3}},
	minorNumber:        {{"nvmlDeviceGetMinorNumber", 1}},
	utilization:        {{"nvmlDeviceGetUtilizationRates", 1}},
	encoder:            {{"nvmlDeviceGetEncoderUtilization", 1}},
	decoder:            {{"nvmlDeviceGetDecoderUtilization", 1}},
	memoryInfo:         {{"nvmlDeviceGetMemoryInfo", 1}},
	memoryInfo2:        {{"nvmlDeviceGetMemoryInfo_v2", 2}},
	powerUsage:         {{"nvmlDeviceGetPowerUsage", 1}},
	powerLimit:         {{"nvmlDeviceGetEnforcedPowerLimit", 1}},
	energy:             {{"nvmlDeviceGetTotalEnergyConsumption", 1}},
	temperature:        {{"nvmlDeviceGetTemperature", 1}},
	fan:                {{"nvmlDeviceGetFanSpeed", 1}},
	clock:              {{"nvmlDeviceGetClockInfo", 1}},
	maxClock:           {{"nvmlDeviceGetMaxClockInfo", 1}},
	clockReasons:       {{"nvmlDeviceGetCurrentClocksEventReasons", 1}, {"nvmlDeviceGetCurrentClocksThrottleReasons", 1}},
	performanceState:   {{"nvmlDeviceGetPerformanceState", 1}},
	pcieGeneration:     {{"nvmlDeviceGetCurrPcieLinkGeneration", 1}},
	pcieWidth:          {{"nvmlDeviceGetCurrPcieLinkWidth", 1}},
	pcieThroughput:     {{"nvmlDeviceGetPcieThroughput", 1}},
	pcieReplays:        {{"nvmlDeviceGetPcieReplayCounter", 1}},
	eccErrors:          {{"nvmlDeviceGetTotalEccErrors", 1}},
	eccMode:            {{"nvmlDeviceGetEccMode", 1}},
	maxPCIeGeneration:  {{"nvmlDeviceGetMaxPcieLinkGeneration", 1}},
	maxPCIeWidth:       {{"nvmlDeviceGetMaxPcieLinkWidth", 1}},
	defaultPowerLimit:  {{"nvmlDeviceGetPowerManagementDefaultLimit", 1}},
	persistence:        {{"nvmlDeviceGetPersistenceMode", 1}},
	fieldValues:        {{"nvmlDeviceGetFieldValues", 1}},
	computeProcesses:   {{"nvmlDeviceGetComputeRunningProcesses_v3", 3}, {"nvmlDeviceGetComputeRunningProcesses_v2", 2}, {"nvmlDeviceGetComputeRunningProcesses", 1}},
	graphicsProcesses:  {{"nvmlDeviceGetGraphicsRunningProcesses_v3", 3}, {"nvmlDeviceGetGraphicsRunningProcesses_v2", 2}, {"nvmlDeviceGetGraphicsRunningProcesses", 1}},
	processUtilization: {{"nvmlDeviceGetProcessUtilization", 1}},
	eventSetCreate:     {{"nvmlEventSetCreate", 1}},
	eventSetFree:       {{"nvmlEventSetFree", 1}},
	registerEvents:     {{"nvmlDeviceRegisterEvents", 1}},
	eventSetWait:       {{"nvmlEventSetWait_v2", 2}, {"nvmlEventSetWait", 1}},
}

// API is the open library. It is safe for concurrent use.
type API struct {
	lib      Library
	addr     [symbolCount]uintptr
	versions [symbolCount]version
}

// Open opens and initializes the library. The error is a [*MissingError] if there is no
// library, or an [*Error] if it cannot be initialized.
func Open() (*API, error) {
	lib, err := open()
	if err != nil {
		return nil, err
	}
	a := &API{lib: lib}
	for s, names := range symbols {
		for _, v := range names {
			if at := lib.Lookup(v.name); at != 0 {
				a.addr[s], a.versions[s] = at, v
				break
			}
		}
	}
	for _, s := range []symbol{initialize, count, handle} {
		if a.addr[s] == 0 {
			return nil, &MissingError{"the library is not NVML: it has no function " + symbols[s][0].name}
		}
	}
	if err := a.call(initialize); err != nil {
		return nil, err
	}
	return a, nil
}

// Close ends the use of the library.
func (a *API) Close() error { return a.call(shutdown) }

const maxArgs = 5

var argPool = sync.Pool{New: func() any { return new([maxArgs]uintptr) }}

// call calls a function. What pointers in args point to is moved to the heap and kept alive.
//
//go:uintptrescapes
func (a *API) call(s symbol, args ...uintptr) error {
	if a.addr[s] == 0 {
		return &Error{Op: symbols[s][0].name, Code: FunctionNotFound, Text: "the driver does not have this function"}
	}
	if code := a.raw(s, args); code != Success {
		return &Error{Op: a.versions[s].name, Code: code, Text: a.text(code)}
	}
	return nil
}

func (a *API) raw(s symbol, args []uintptr) Code {
	buf := argPool.Get().(*[maxArgs]uintptr)
	defer argPool.Put(buf)
	return Code(int32(a.lib.Call(a.addr[s], buf[:copy(buf[:], args)])))
}

// text returns NVML's text for a code.
func (a *API) text(code Code) string {
	if a.addr[errorString] == 0 {
		return "error"
	}
	at := a.lib.Call(a.addr[errorString], []uintptr{uintptr(code)})
	if at == 0 {
		return "error"
	}
	const longest = 256
	var text []byte
	for p := *(**byte)(unsafe.Pointer(&at)); *p != 0 && len(text) < longest; p = (*byte)(unsafe.Add(unsafe.Pointer(p), 1)) {
		text = append(text, *p)
	}
	return string(text)
}
