// Package top draws the state of GPUs on a terminal, for the command quern top.
//
// A [View] holds what is shown and how, and turns it into lines of text. [Run] connects it to a
// terminal. Lines are written with the control sequences of ANSI terminals.
package top
