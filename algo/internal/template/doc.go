// Package template has the kernels of package algo without their operators. A function
// with a directive //quern:template is the template of a kernel of one kind of operator:
// quern gen makes a kernel of it for each operator of that kind. It takes the operator as
// its second parameter.
package template
