// Package synchronous is what the devices cpu and sim have in common: streams that
// do their work in the goroutine that asks for it.
//
// A call of a [Stream] returns when its work is done. Calls on one stream from
// several goroutines run one after another, and a device may have the calls of all
// its streams do so ([Device].Shared). A kernel that fails is kept as the stream's
// fault for the next wait.
//
// A device embeds [Device] and adds how it reaches its memory ([Memory]) and how it
// loads a kernel: each of its functions is a [Kernel]. Copies, fills, events, the
// control block, output, textures and graphs are written here once.
//
// [Interpreted] is a kernel that exists as PTX; both devices run it.
package synchronous
