// Package algo tests package quern.dev/algo with operators of another package: orders of structs
// of different sizes, and operators with bound parameters.
package algo
