struct Chunk { __align__(16) unsigned short v[8]; };
struct Stage { Chunk a[128][8]; Chunk b[64][32]; };

__device__ __forceinline__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy_async(Chunk *to, const Chunk *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void load_matrix(uint32_t (&w)[4], const Chunk *line) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(shared_address(line)) : "memory");
}

__device__ __forceinline__ void load_transposed(uint32_t (&w)[4], const Chunk *line) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(shared_address(line)) : "memory");
}

__device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

KERNEL(256) tensor_matmul(int n, int k, IN(Chunk, a), IN(Chunk, b), OUT(float2, c)) {
    extern __shared__ __align__(128) char memory[];
    Stage *stages = (Stage *)memory;
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    int line = lane % 16, half = lane / 16;
    int top = warp / 4 * 64, left = warp % 4 * 64;

    const Chunk *from_a = a + (blockIdx.y * 128 + thread / 8) * k + thread % 8;
    const Chunk *from_b = b + thread / 32 * n + blockIdx.x * 32 + thread % 32;
    auto copy = [&](Stage *to, int step, int part) {
        if (part == 0) {
            int r = thread / 8, c = thread % 8;
            #pragma unroll
            for (int i = 0; i < 4; i++) copy_async(&to->a[r + i * 32][c ^ r % 8], &from_a[step * 8 + i * 32 * k]);
            return;
        }
        int r = thread / 32, c = thread % 32;
        #pragma unroll
        for (int i = (part - 1) * 4; i < part * 4; i++) copy_async(&to->b[r + i * 8][c ^ r], &from_b[(step * 64 + i * 8) * n]);
    };
    int steps = k / 8;
    #pragma unroll
    for (int s = 0; s < 2; s++) {
        #pragma unroll
        for (int part = 0; part < 3; part++) copy(&stages[s], s, part);
        asm volatile("cp.async.commit_group;");
    }
    asm volatile("cp.async.wait_group 1;");
    __syncthreads();

    uint32_t fa[2][4][4], fb[2][4][4];
    float sum[4][8][4] = {};
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        load_matrix(fa[0][i], &stages[0].a[line + top + i * 16][half ^ line % 8]);
        load_transposed(fb[0][i], &stages[0].b[line][(left / 8 + i * 2 + half) ^ line % 8]);
    }
    int slot = 0, free = 2;
    for (int step = 0; step < steps; step++) {
        #pragma unroll
        for (int kk = 0; kk < 4; kk++) {
            int now = kk % 2, then = (kk + 1) % 2, next = (kk + 1) % 4;
            if (kk == 3 && ++slot == 3) slot = 0;
            Stage *tile = &stages[slot];
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                load_matrix(fa[then][i], &tile->a[line + top + i * 16][(next * 2 + half) ^ line % 8]);
                load_transposed(fb[then][i], &tile->b[line + next * 16][(left / 8 + i * 2 + half) ^ line % 8]);
                #pragma unroll
                for (int j = 0; j < 8; j++)
                    multiply(sum[i][j], fa[now][i], fb[now][j / 2][j % 2 * 2], fb[now][j / 2][j % 2 * 2 + 1]);
                if (i == 1 && kk < 3 && step + 2 < steps) copy(&stages[free], step + 2, kk);
            }
            if (kk == 2) { // the last reads of this step's tiles are done
                asm volatile("cp.async.commit_group;");
                asm volatile("cp.async.wait_group 1;");
                __syncthreads();
                if (++free == 3) free = 0;
            }
        }
    }

    int y = blockIdx.y * 128 + top + lane / 4, x = (blockIdx.x * 256 + left) / 2 + lane % 4;
    #pragma unroll
    for (int i = 0; i < 4; i++)
        #pragma unroll
        for (int j = 0; j < 8; j++) {
            c[(y + i * 16) * n * 4 + x + j * 4] = make_float2(sum[i][j][0], sum[i][j][1]);
            c[(y + i * 16 + 8) * n * 4 + x + j * 4] = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
