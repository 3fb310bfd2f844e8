// Package report reads the recording of a program (see [trace.Encoder]), finds out where its
// time and memory went, and writes a page of HTML about it.
//
// A report is one file without references to others. It holds the events of the timeline; of
// tracks with very many, what is too dense to be seen is added up.
package report
