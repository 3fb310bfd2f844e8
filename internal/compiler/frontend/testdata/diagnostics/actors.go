package p

import "quern.dev/kernel"

type state struct{ n int }

//quern:actor
func noResult(t kernel.Thread, s *state, in, out *int32) {}

//quern:actor
func values(t kernel.Thread, s *state, in, out int32) kernel.Action { return kernel.Reply }

//quern:actor
func (s *state) method(t kernel.Thread, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
func generic[T any](t kernel.Thread, s *T, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor block=32
func atRunTime(t kernel.Thread, s *state, in, out *int32) kernel.Action { return kernel.Reply }
