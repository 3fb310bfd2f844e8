package trace

// NewRecordFile makes a recording of which a file takes the given number of bytes.
var NewRecordFile = newRecordFile
