__device__ float warp_sum(float v) {
    #pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) v += __shfl_xor_sync(0xffffffff, v, mask);
    return v;
}

__device__ float warp_max(float v) {
    #pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask));
    return v;
}

KERNEL(256) softmax(int columns, IN(float, in), OUT(float, out)) {
    __shared__ float partial[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * columns;
    float most = -3.402823466e38f;
    for (int c = threadIdx.x; c < columns; c += 256) most = fmaxf(most, in[first + c]);
    most = warp_max(most);
    if (lane == 0) partial[warp] = most;
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 8; i++) most = fmaxf(most, partial[i]);
    __syncthreads();
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += 256) sum += expf(in[first + c] - most);
    sum = warp_sum(sum);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    sum = 0;
    #pragma unroll
    for (int i = 0; i < 8; i++) sum += partial[i];
    for (int c = threadIdx.x; c < columns; c += 256) out[first + c] = expf(in[first + c] - most) / sum;
}

KERNEL(256) layer_norm(int rows, int columns, float epsilon, IN(float, scale), IN(float, shift), IN(float, in), OUT(float, out)) {
    int lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) return;
    int first = row * columns;
    float sum = 0;
    for (int c = lane; c < columns; c += 32) sum += in[first + c];
    float mean = warp_sum(sum) / columns, squares = 0;
    for (int c = lane; c < columns; c += 32) {
        float d = in[first + c] - mean;
        squares += d * d;
    }
    float factor = rsqrtf(warp_sum(squares) / columns + epsilon);
    for (int c = lane; c < columns; c += 32) out[first + c] = (in[first + c] - mean) * factor * scale[c] + shift[c];
}

KERNEL(128) attention(int length, float scale, IN(float, queries), IN(float, keys), IN(float, values), OUT(float, out)) {
    __shared__ float keyTile[32][32], valueTile[32][32];
    int head = blockIdx.y * length * 32, mine = blockIdx.x * blockDim.x + threadIdx.x;
    float query[32] = {}, sum[32] = {};
    if (mine < length) {
        #pragma unroll
        for (int d = 0; d < 32; d++) query[d] = scale * queries[head + mine * 32 + d];
    }
    float most = -3.402823466e38f, total = 0;
    for (int first = 0; first < length; first += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 32 * 32; i += 128) {
            bool inside = first + i / 32 < length;
            keyTile[i / 32][i % 32] = inside ? keys[head + first * 32 + i] : 0;
            valueTile[i / 32][i % 32] = inside ? values[head + first * 32 + i] : 0;
        }
        __syncthreads();
        int n = min(32, length - first);
        for (int j = 0; j < n; j++) {
            float score = 0;
            #pragma unroll
            for (int d = 0; d < 32; d++) score += query[d] * keyTile[j][d];
            if (score > most) {
                float correction = expf(most - score);
                total *= correction;
                #pragma unroll
                for (int d = 0; d < 32; d++) sum[d] *= correction;
                most = score;
            }
            float weight = expf(score - most);
            total += weight;
            #pragma unroll
            for (int d = 0; d < 32; d++) sum[d] += weight * valueTile[j][d];
        }
    }
    if (mine < length) {
        #pragma unroll
        for (int d = 0; d < 32; d++) out[head + mine * 32 + d] = sum[d] / total;
    }
}

KERNEL(256) dot_int8(IN(int4, matrix), IN(int4, x), OUT(int, y)) {
    int lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= LEN(y)) return;
    int sum = 0;
    for (int i = lane; i < LEN(x); i += 32) {
        int4 a = matrix[row * LEN(x) + i], b = x[i];
        sum = __dp4a(a.x, b.x, sum);
        sum = __dp4a(a.y, b.y, sum);
        sum = __dp4a(a.z, b.z, sum);
        sum = __dp4a(a.w, b.w, sum);
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (lane == 0) y[row] = sum;
}

KERNEL(256) gelu(int columns, IN(float, bias), IN(float, in), OUT(float, out)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(in)) return;
    float x = in[i] + bias[i % columns];
    out[i] = 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

KERNEL(128) embedding(IN(int, starts), IN(int, tokens), IN(float, table), OUT(float, out)) {
    int bag = blockIdx.x, d = threadIdx.x;
    float sum = 0;
    for (int k = starts[bag]; k < starts[bag + 1]; k++) sum += table[tokens[k] * 128 + d];
    out[bag * 128 + d] = sum;
}
