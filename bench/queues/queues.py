"""Measures how many resident kernels run concurrently, each on its own stream, and how
long the driver takes to start them, for a number of queues (CUDA_DEVICE_MAX_CONNECTIONS;
0 leaves it unset). Needs a GPU and its driver.

    python3 bench/queues/queues.py 8
"""

import ctypes, os, sys, time
conn = sys.argv[1] if len(sys.argv) > 1 else "0"
if conn != "0": os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = conn
cu = ctypes.CDLL("libcuda.so.1")
def ck(r, w=""):
    if r: raise SystemExit(f"{w} -> {r}")
t=time.time(); ck(cu.cuInit(0)); t1=time.time()
dev = ctypes.c_int(); ck(cu.cuDeviceGet(ctypes.byref(dev),0))
ctx = ctypes.c_void_p(); ck(cu.cuDevicePrimaryCtxRetain(ctypes.byref(ctx),dev)); ck(cu.cuCtxSetCurrent(ctx)); t2=time.time()
print(f"connections {conn}: init {1e3*(t1-t):.0f} ms, context {1e3*(t2-t1):.0f} ms")
ptx=b""".version 7.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 base, .param .u32 i)
{ .reg .u64 %a,%b; .reg .u32 %i,%v; .reg .pred %p;
 ld.param.u64 %a,[base]; ld.param.u32 %i,[i];
 mul.wide.u32 %b,%i,4; add.u64 %b,%a,%b;
 mov.u32 %v,1; st.volatile.global.u32 [%b+64],%v;
L: ld.volatile.global.u32 %v,[%a]; setp.eq.u32 %p,%v,0; @%p bra L; ret; }
"""
mod=ctypes.c_void_p(); ck(cu.cuModuleLoadData(ctypes.byref(mod),ptx),"load")
fn=ctypes.c_void_p(); ck(cu.cuModuleGetFunction(ctypes.byref(fn),mod,b"spin"))
h=ctypes.c_void_p(); ck(cu.cuMemHostAlloc(ctypes.byref(h),65536,2)); 
d=ctypes.c_uint64(); ck(cu.cuMemHostGetDevicePointer_v2(ctypes.byref(d),h,0))
words=(ctypes.c_uint32*16384).from_address(h.value)
lo=ctypes.c_int();hi=ctypes.c_int(); cu.cuCtxGetStreamPriorityRange(ctypes.byref(lo),ctypes.byref(hi)); print("priorities",lo.value,hi.value)
def trial(name, prios):
    for i in range(400): words[i]=0
    ss=[]; t=time.time()
    for p in prios:
        s=ctypes.c_void_p(); ck(cu.cuStreamCreateWithPriority(ctypes.byref(s),1,p)); ss.append(s)
    tc=time.time()-t
    t=time.time()
    for i,s in enumerate(ss):
        a=ctypes.c_uint64(d.value); b=ctypes.c_uint32(i)
        args=(ctypes.c_void_p*2)(ctypes.addressof(a),ctypes.addressof(b))
        ck(cu.cuLaunchKernel(fn,1,1,1,32,1,1,0,s,args,None),"launch")
    tl=time.time()-t
    time.sleep(0.15)
    n=sum(words[16+i] for i in range(len(prios)))
    started=[i for i in range(len(prios)) if not words[16+i]]
    words[0]=1
    t=time.time(); ck(cu.cuCtxSynchronize(),"sync")
    for s in ss: cu.cuStreamDestroy_v2(s)
    print(f"{name}: {n} of {len(prios)} run at once; create {1e3*tc:.1f} ms, launches {1e3*tl:.1f} ms, not begun: {started[:12]}")
trial("4 default",[0]*4)
trial("7 default",[0]*7)
trial("8 default",[0]*8)
trial("9 default",[0]*9)
trial("16 default",[0]*16)
trial("40 default",[0]*40)
for p in (-1,-2,-3,-4,-5):
    trial(f"16 at {p}",[p]*16)
trial("48, six priorities",[-(i%6) for i in range(48)])
trial("8 at -5 and 8 at 0",[-5]*8+[0]*8)
trial("8 at -1 and 8 at 0",[-1]*8+[0]*8)
trial("80, six priorities",[-(i%6) for i in range(80)])
