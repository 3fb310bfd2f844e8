// Package blas has dense linear algebra.
package blas
