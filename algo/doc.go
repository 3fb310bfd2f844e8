// Package algo.
package algo
