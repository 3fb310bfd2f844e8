struct __align__(16) Particle { float x, y, z, vx, vy, vz, mass, age; };

KERNEL(256) particles_aos(float dt, OUT(Particle, particles)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(particles)) return;
    Particle p = particles[i];
    float r2 = p.x * p.x + p.y * p.y + p.z * p.z + 0.01f;
    float k = -dt * p.mass * rsqrtf(r2) / r2;
    p.vx += k * p.x;
    p.vy += k * p.y;
    p.vz += k * p.z;
    p.x += dt * p.vx;
    p.y += dt * p.vy;
    p.z += dt * p.vz;
    p.age += dt;
    particles[i] = p;
}

KERNEL(256) particles_soa(float dt, OUT(float, px), OUT(float, py), OUT(float, pz), OUT(float, vx), OUT(float, vy), OUT(float, vz), IN(float, mass), OUT(float, age)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(px)) return;
    float x = px[i], y = py[i], z = pz[i];
    float r2 = x * x + y * y + z * z + 0.01f;
    float k = -dt * mass[i] * rsqrtf(r2) / r2;
    float u = vx[i] + k * x, v = vy[i] + k * y, w = vz[i] + k * z;
    vx[i] = u, vy[i] = v, vz[i] = w;
    px[i] = x + dt * u, py[i] = y + dt * v, pz[i] = z + dt * w;
    age[i] += dt;
}

KERNEL(128) lavamd(int boxes, int per, float a2, IN(float4, positions), IN(float, charges), OUT(float4, forces)) {
    __shared__ float4 near[128];
    __shared__ float q[128];
    int tx = threadIdx.x;
    int home = (blockIdx.z * boxes + blockIdx.y) * boxes + blockIdx.x;
    float4 me = make_float4(0, 0, 0, 0), f = me;
    if (tx < per) me = positions[home * per + tx];
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int x = (int)blockIdx.x + dx, y = (int)blockIdx.y + dy, z = (int)blockIdx.z + dz;
                if (x < 0 || y < 0 || z < 0 || x >= boxes || y >= boxes || z >= boxes) continue;
                int box = (z * boxes + y) * boxes + x;
                __syncthreads();
                if (tx < per) {
                    near[tx] = positions[box * per + tx];
                    q[tx] = charges[box * per + tx];
                }
                __syncthreads();
                if (tx >= per) continue;
                for (int j = 0; j < per; j++) {
                    float4 p = near[j];
                    float u2 = a2 * (me.w + p.w - (me.x * p.x + me.y * p.y + me.z * p.z));
                    float v = expf(-u2), s = 2 * v * q[j];
                    f.w += q[j] * v;
                    f.x += s * (me.x - p.x);
                    f.y += s * (me.y - p.y);
                    f.z += s * (me.z - p.z);
                }
            }
    if (tx < per) forces[home * per + tx] = f;
}

struct Point { double x, y, z; };

__device__ Point along(Point p, double a, Point d) { return {p.x + a * d.x, p.y + a * d.y, p.z + a * d.z}; }

KERNEL(256) lorenz(int steps, double h, double sigma, double rho, double beta, OUT(Point, states)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(states)) return;
    auto slope = [=](Point p) { return Point{sigma * (p.y - p.x), p.x * (rho - p.z) - p.y, p.x * p.y - beta * p.z}; };
    Point p = states[i];
    for (int s = 0; s < steps; s++) {
        Point k1 = slope(p), k2 = slope(along(p, h / 2, k1)), k3 = slope(along(p, h / 2, k2)), k4 = slope(along(p, h, k3));
        p = along(p, h / 6, {k1.x + 2 * k2.x + 2 * k3.x + k4.x, k1.y + 2 * k2.y + 2 * k3.y + k4.y, k1.z + 2 * k2.z + 2 * k3.z + k4.z});
    }
    states[i] = p;
}
