# SPDX-License-Identifier: Apache-2.0
"""C text of numbers side by side, and of sine and cosine of several angles at once.

A humanoid has some thirty angles; one call of the C library for each would take as long as all the rest of inverse
dynamics. Angles are reduced by multiples of pi/2 in three parts (Cody and Waite), and polynomials of fdlibm's accuracy
follow: within 1 ulp or so up to 1e5 rad. Larger angles, infinities and NaN go to the C library.
"""

SINE_COSINE = r"""
#if defined(__GNUC__) || defined(__clang__)
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef long long integers __attribute__((vector_size(8 * LANES)));
#define LANE(x, k) (x)[k]
#define SPLAT(x) ((lanes){0} + (x))
#define PART static __attribute__((noinline))

static void sine_cosine(lanes x, lanes *sine, lanes *cosine)
{
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: what is added to it is rounded to an integer */
    const lanes shifted = x * 6.36619772367581382433e-01 + shift;
    const lanes n = shifted - shift;
    const integers quadrant = (integers)shifted;
    const lanes coarse = x - n * 1.57079632673412561417e+00;
    const lanes fine = coarse - n * 6.07710050630396597660e-11;
    const lanes rest = (coarse - fine) - n * 6.07710050630396597660e-11;
    const lanes r = fine + (rest - n * 2.02226624879595063154e-21);
    const lanes z = r * r;
    const lanes s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03
        + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06
        + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    const lanes half = 0.5 * z;
    const lanes head = 1.0 - half;
    const lanes c = head + (((1.0 - head) - half) + z * z * (4.16666666666666019037e-02
        + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
        + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09
        + z * -1.13596475577881948265e-11))))));
    const integers swap = -(quadrant & 1);
    const integers within = (integers)((x <= 1e5) & (x >= -1e5)); /* false for NaN */
    int k, outside = 0;
    *sine = (lanes)((((integers)s & ~swap) | ((integers)c & swap)) ^ ((quadrant & 2) << 62));
    *cosine = (lanes)((((integers)c & ~swap) | ((integers)s & swap)) ^ (((quadrant + 1) & 2) << 62));
    for (k = 0; k < LANES; k++)
        outside |= within[k] == 0;
    if (outside)
        for (k = 0; k < LANES; k++) {
            (*sine)[k] = sin(x[k]);
            (*cosine)[k] = cos(x[k]);
        }
}
#else
#define LANES 1
typedef double lanes;
#define LANE(x, k) (x)
#define SPLAT(x) (x)
#define PART static

static void sine_cosine(lanes x, lanes *sine, lanes *cosine)
{
    *sine = sin(x);
    *cosine = cos(x);
}
#endif

/* Row-major states to numbers side by side. */
static void gather(lanes *to, const double *from, ptrdiff_t size)
{
    ptrdiff_t i;
    int k;
    for (i = 0; i < size; i++)
        for (k = 0; k < LANES; k++)
            LANE(to[i], k) = from[k * size + i];
}

/* And back: number i goes to the given place of each state. */
static void scatter(double *to, ptrdiff_t size, const lanes *from, const int *places, ptrdiff_t count)
{
    ptrdiff_t i;
    int k;
    for (k = 0; k < LANES; k++)
        for (i = 0; i < count; i++)
            to[k * size + places[i]] = LANE(from[i], k);
}

static lanes square_roots(lanes x)
{
    int k;
    for (k = 0; k < LANES; k++)
        LANE(x, k) = sqrt(LANE(x, k));
    return x;
}
"""
