KERNEL(256) bfs(IN(int, starts), IN(int, edges), IN(uint32_t, frontier), IN(uint32_t, visited), OUT(uint32_t, next)) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= LEN(starts) - 1 || !(frontier[v / 32] >> (v % 32) & 1)) return;
    int end = starts[v + 1];
    for (int e = starts[v]; e < end; e++) {
        int to = edges[e];
        uint32_t bit = 1u << (to % 32);
        if (!(visited[to / 32] & bit)) atomicOr(&next[to / 32], bit);
    }
}

KERNEL(256) kmeans(int n, int k, int d, IN(float, features), IN(float, centers), OUT(int, nearest)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float least = 3.402823466e+38f;
    int at = -1;
    for (int c = 0; c < k; c++) {
        float sum = 0;
        for (int f = 0; f < d; f++) {
            float diff = features[f * n + i] - centers[c * d + f];
            sum += diff * diff;
        }
        if (sum < least) least = sum, at = c;
    }
    nearest[i] = at;
}

KERNEL(256) backprop(int hidden, IN(float, inputs), OUT(float, weights), OUT(float, sums)) {
    __shared__ float node[16], m[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, by = blockIdx.y;
    int at = (by * 16 + ty) * hidden + blockIdx.x * 16 + tx;
    if (tx == 0) node[ty] = inputs[by * 16 + ty];
    __syncthreads();
    m[ty][tx] = weights[at] * node[ty];
    __syncthreads();
    for (int half = 1; half < 16; half *= 2) {
        if (ty % (2 * half) == 0) m[ty][tx] += m[ty + half][tx];
        __syncthreads();
    }
    weights[at] = m[ty][tx];
    if (ty == 0) sums[by * hidden + blockIdx.x * 16 + tx] = m[0][tx];
}
