// Package sparse multiplies with sparse matrices and solves linear systems.
package sparse
