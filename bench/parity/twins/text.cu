KERNEL(256) shift_and(uint64_t first, uint64_t last, IN(uint64_t, masks), IN(uint8_t, text), OUT(uint32_t, hits)) {
    const int each = 60, overlap = 32, part = 256 * each;
    __shared__ uint8_t tile[overlap + part];
    __shared__ uint64_t table[256];
    int tx = threadIdx.x, begin = blockIdx.x * part - overlap;
    table[tx] = masks[tx];
    for (int i = tx; i < overlap + part; i += 256) {
        int at = begin + i;
        tile[i] = at >= 0 && at < LEN(text) ? text[at] : 0;
    }
    __syncthreads();
    const uint8_t *mine = tile + tx * each;
    uint64_t state = 0;
    for (int i = 0; i < overlap; i++) state = (state << 1 | first) & table[mine[i]];
    uint32_t count = 0;
    for (int i = overlap; i < overlap + each; i++) {
        state = (state << 1 | first) & table[mine[i]];
        count += __popcll(state & last);
    }
    count = __reduce_add_sync(0xffffffff, count);
    if (tx % 32 == 0) atomicAdd(hits, count);
}

KERNEL(256) kmers(int k, IN(uint8_t, genome), OUT(uint32_t, counts)) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    int last = min(first + 16 + k - 1, LEN(genome));
    uint32_t mask = (1u << 2 * k) - 1, code = 0;
    int valid = 0;
    for (int i = first; i < last; i++) {
        uint8_t c = genome[i];
        if (c == 'A' || c == 'C' || c == 'G' || c == 'T') {
            code = (code << 2 | (c >> 1 & 3)) & mask;
            valid++;
        } else {
            valid = 0;
        }
        if (valid >= k) atomicAdd(&counts[code], 1);
    }
}
