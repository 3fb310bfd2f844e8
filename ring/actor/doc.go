// Package actor is used to write handlers of actors, in the kernel language:
//
//		//quern:actor
//		func count(t kernel.Thread, c *actor.Context, total *int64, in *Order, out *int64) kernel.Action {
//			if t.ThreadIdx.X == 0 {
//				*total += in.Number
//				*out = *total
//				actor.Send(t, c, in.Next, out)
//			}
//			return kernel.Reply
//		}
//
//	  - [Context] and its methods describe the message. A handler that takes a *Context as
//	    its second parameter gets it.
//	  - [Ref], [Self], [Send] and [Ended]: other actors, and messages to them.
//	  - [Group], [Publish], [Route] and [Pick]: many receivers, or one of many.
//	  - [Payload]: data that is too large for a message.
//	  - [MaxMessage]: the size limit of messages to actors in Go.
//
// The fields of Context, Ref, Group and Payload belong to package ring and may change
// without notice.
package actor
