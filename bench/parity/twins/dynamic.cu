KERNEL(256) knapsack(int weight, int value, IN(int, best), OUT(int, next)) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= LEN(best)) return;
    int v = best[c];
    if (c >= weight) v = max(v, best[c - weight] + value);
    next[c] = v;
}

__device__ bool pairs_with(uint8_t a, uint8_t b) {
    switch (a) {
    case 'A': return b == 'U';
    case 'C': return b == 'G';
    case 'G': return b == 'C' || b == 'U';
    default: return b == 'A' || b == 'G';
    }
}

KERNEL(128) fold(int length, IN(uint8_t, sequences), OUT(int, pairs)) {
    __shared__ uint8_t best[128][132], bases[128];
    int i = threadIdx.x;
    if (i < length) {
        bases[i] = sequences[blockIdx.x * length + i];
        for (int j = i; j < length && j <= i + 3; j++) best[i][j] = 0;
    }
    for (int span = 4; span < length; span++) {
        __syncthreads();
        int j = i + span;
        if (j >= length) continue;
        int most = best[i][j - 1];
        for (int k = i; k < j - 3; k++) {
            if (!pairs_with(bases[k], bases[j])) continue;
            int n = best[k + 1][j - 1] + 1;
            if (k > i) n += best[i][k - 1];
            most = max(most, n);
        }
        best[i][j] = most;
    }
    __syncthreads();
    if (i == 0) pairs[blockIdx.x] = best[0][length - 1];
}
