KERNEL(256) pagerank(float damping, IN(int, starts), IN(int, sources), IN(int, degrees), IN(float, shares),
                     OUT(float, ranks), OUT(float, next)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(ranks)) return;
    float sum = 0;
    for (int e = starts[i]; e < starts[i + 1]; e++) sum += shares[sources[e]];
    float rank = 1 - damping + damping * sum;
    ranks[i] = rank;
    next[i] = rank / degrees[i];
}

KERNEL(256) triangles(IN(int, starts), IN(int, begins), IN(int, ends), OUT(uint32_t, total)) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t count = 0;
    if (e < LEN(ends)) {
        int u = begins[e], v = ends[e];
        int i = starts[u], j = starts[v], lastI = starts[u + 1], lastJ = starts[v + 1];
        while (i < lastI && j < lastJ) {
            int a = ends[i], b = ends[j];
            count += a == b;
            i += a <= b;
            j += b <= a;
        }
    }
    count = __reduce_add_sync(0xffffffff, count);
    if (threadIdx.x % 32 == 0) atomicAdd(total, count);
}

KERNEL(256) relax(IN(int, starts), IN(int, ends), IN(int, lengths), IN(int, distances), OUT(int, next)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(distances)) return;
    int distance = distances[i];
    if (distance == 0x7fffffff) return;
    for (int e = starts[i]; e < starts[i + 1]; e++) atomicMin(&next[ends[e]], distance + lengths[e]);
}
