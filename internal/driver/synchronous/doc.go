// Package synchronous is what the devices cpu and sim share: streams that do their work
// in the calling goroutine.
//
// A call of a [Stream] returns when its work is done. Calls on one stream from several
// goroutines run one at a time, and a device can extend this to the calls of all its
// streams ([Device].Shared). A kernel that fails is kept as the stream's fault for the
// next wait.
//
// A device embeds [Device] and adds access to its memory ([Memory]) and loading of
// kernels: each of its functions is a [Kernel]. Copies, fills, events, the control
// block, output, textures and graphs are implemented here once.
//
// [Interpreted] is a kernel that exists as PTX; both devices run it.
package synchronous
