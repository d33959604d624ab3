// Constants and minimax polynomials (lowest power first) of the vector maths. Written by
// tools/coefficients.py, which holds the function, the interval and the weight of each: change
// that, not this file.
#pragma once
#include <stdint.h>

namespace tessella::TS_ISA {

// ln 2; an 11-bit integer times the first part is exact.
static constexpr double kLn2[] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45};

// ln 2.
static constexpr double kLn2Pair[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// 1 / ln 2.
static constexpr double kInvLn2Pair[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

// 1 / ln 10.
static constexpr double kInvLn10Pair[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

// pi / 2; a 20-bit integer times one of the first parts is exact.
static constexpr double kHalfPi[] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34,
                                     0x1.3198a2e000000p-69, 0x1.b839a252049c1p-104};

// pi / 2; a 22-bit integer times the first part is exact.
static constexpr double kHalfPiNarrow[] = {0x1.921fb54400000p+0, 0x1.0b4611a626331p-34};

// pi / 2.
static constexpr double kHalfPiPair[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// 2 / 3.
static constexpr double kTwoThirds[] = {0x1.5555555555555p-1, 0x1.5555555555555p-55};

// 2 / 5.
static constexpr double kTwoFifths[] = {0x1.999999999999ap-2, -0x1.999999999999ap-56};

// ln 2; a 9-bit integer times the first part is exact.
static constexpr float kLn2F[] = {0x1.62e4000000000p-1f, 0x1.7f7d1c0000000p-20f};

// 2 / pi: one word of zeros, then the digits after the binary point.
static constexpr uint64_t kTwoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};

// exp(r) = 1 + r + r*r*P(r)
// on [-0.34661, 0.34661], degree 10, weighted error 2^-60.6.
static constexpr double kExp[] = {
    0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.555555555555ap-5,  0x1.111111110f6aep-7,
    0x1.6c16c16c14444p-10, 0x1.a01a01afe53e2p-13, 0x1.a01a01b0b9e30p-16, 0x1.71ddf8536c707p-19,
    0x1.27e4c59c7700fp-22, 0x1.af5ebf5211202p-26, 0x1.1f9567efb7531p-29,
};

// log(1 + f) = 2s + s*z*P(z), s = f/(2 + f), z = s*s
// on [0.0, 0.02944], degree 6, weighted error 2^-58.49.
static constexpr double kLog[] = {
    0x1.5555555555592p-1, 0x1.999999997ff05p-2, 0x1.24924941e3269p-2, 0x1.c71c521268219p-3,
    0x1.74663d6478be4p-3, 0x1.39a1db2629dc6p-3, 0x1.2f04525704309p-3,
};

// 2 atanh(s) = 2s + s*z*(2/3 + z*(2/5 + z*P(z))), z = s*s
// on [0.0, 0.02944], degree 6, weighted error 2^-71.85.
static constexpr double kLogTail[] = {
    0x1.24924924927cdp-2, 0x1.c71c71c65a150p-3, 0x1.745d17d75d4d8p-3, 0x1.3b137835ebca0p-3,
    0x1.111dce20f49dbp-3, 0x1.de9e915cbfd2dp-4, 0x1.e7df66fcf64f0p-4,
};

// sin(r) = r + r*z*P(z), z = r*r
// on [0.0, 0.61691], degree 5, weighted error 2^-58.01.
static constexpr double kSin[] = {
    -0x1.5555555555549p-3, 0x1.111111110f8a5p-7,   -0x1.a01a019c15e73p-13,
    0x1.71de357ae4e2ep-19, -0x1.ae5e686d56c1dp-26, 0x1.5d939484260d1p-33,
};

// cos(r) = 1 - z/2 + z*z*P(z), z = r*r
// on [0.0, 0.61691], degree 5, weighted error 2^-64.19.
static constexpr double kCos[] = {
    0x1.555555555554cp-5,   -0x1.6c16c16c1521ep-10, 0x1.a01a019cbf389p-16,
    -0x1.27e4f8128ee43p-22, 0x1.1ee9f132b53aap-29,  -0x1.8fb11e55686bfp-37,
};

// asin(x) = x + x*z*P(z), z = x*x
// on [0.0, 0.2501], degree 12, weighted error 2^-59.75.
static constexpr double kAsin[] = {
    0x1.5555555555578p-3, 0x1.333333332df17p-4, 0x1.6db6db722b570p-5, 0x1.f1c71a8ba1561p-6,
    0x1.6e8bdfe62479cp-6, 0x1.1c49de089400cp-6, 0x1.ca2143b922f20p-7, 0x1.757791328116ep-7,
    0x1.618aa6b27af69p-7, 0x1.e15c496f59d4bp-9, 0x1.6501bb4eeef19p-6, -0x1.59f62d465fc9cp-6,
    0x1.0be44f36438cap-5,
};

// atan(u) = u + u*z*P(z), z = u*u
// on [0.0, 0.17159], degree 10, weighted error 2^-59.46.
static constexpr double kAtan[] = {
    -0x1.555555555553dp-2, 0x1.999999999589cp-3, -0x1.24924922af590p-3, 0x1.c71c70e7035aap-4,
    -0x1.745cf8fb267a5p-4, 0x1.3b111b655604ap-4, -0x1.10ebd35a4bad1p-4, 0x1.df10df2e6ffbbp-5,
    -0x1.9cd9f2ba5b0c8p-5, 0x1.37e8140c960cap-5, -0x1.2592c36ee92fbp-6,
};

// sinh(x) = x + x*z*P(z), z = x*x
// on [0.0, 1.0001], degree 6, weighted error 2^-61.69.
static constexpr double kSinh[] = {
    0x1.5555555555556p-3,  0x1.1111111111020p-7,  0x1.a01a01a036c69p-13, 0x1.71de3a3b6a501p-19,
    0x1.ae646f97e6aabp-26, 0x1.61171ced4062fp-33, 0x1.b5bb76b5cd149p-41,
};

// erf(x) = x + x*P(z), z = x*x
// on [0.0, 0.2501], degree 8, weighted error 2^-55.81.
static constexpr double kErf[] = {
    0x1.06eba8214db68p-3,  -0x1.812746b037949p-2,  0x1.ce2f21a0344bfp-4,
    -0x1.b82ce30a65714p-6, 0x1.565bcac3a89f3p-8,   -0x1.c02cfaccf291ap-11,
    0x1.f980e9dc1bde4p-14, -0x1.f124115400692p-17, 0x1.832106f0bdae6p-20,
};

// (1 + 2x)*exp(x*x)*erfc(x) = 1 + P(t), t = (x - 3.75)/(x + 3.75)
// on [-0.76887, 0.76378], degree 22, weighted error 2^-55.99.
static constexpr double kErfc[] = {
    0x1.e66d05aeaee14p-3,  -0x1.1f367683f89a7p-3,  0x1.d5f2948159ddap-9,   0x1.510169d0967c9p-4,
    -0x1.bda9309a28a4bp-4, 0x1.7a14188a9a573p-4,   -0x1.e0d0fa6dfa565p-5,  0x1.d0b0037d967aap-6,
    -0x1.3f603c3550ec3p-7, 0x1.cc3a0e49a25ebp-10,  0x1.33fb2663f400dp-12,  -0x1.303fa1f773550p-12,
    0x1.b143e6318ee79p-15, 0x1.778b6b90bcbd0p-16,  -0x1.8002588f30d7dp-17, -0x1.056222c4dd323p-20,
    0x1.d62f8876ab66cp-20, -0x1.e5900f93add55p-25, -0x1.14c89fae8fe22p-22, 0x1.7c0870bd914cap-26,
    0x1.3e57feddadee8p-25, -0x1.82191850a717ap-29, -0x1.0923fcb3b6e10p-28,
};

// m**(-1/3)
// on [0.70711, 1.4142], degree 6, weighted error 2^-20.08.
static constexpr double kRootCube[] = {
    0x1.0e56396e356afp+1, -0x1.94f54035003a3p+1, 0x1.1df6b8bf9d763p+2, -0x1.053ade0ad1c9dp+2,
    0x1.241c7c89b4e6dp+1, -0x1.6c75d3fa5f0acp-1, 0x1.8509f633b8fa8p-4,
};

// exp2(r) = 1 + r*P(r)
// on [-0.5001, 0.5001], degree 6, weighted error 2^-32.52.
static constexpr double kExp2Narrow[] = {
    0x1.62e42fef95e6bp-1,  0x1.ebfbe0461124dp-3,  0x1.c6b08dc6030b5p-5,  0x1.3b2a1b4d52f4cp-7,
    0x1.5d874c4e3dd55p-10, 0x1.444022d3484ccp-13, 0x1.00dc6c33a68f6p-16,
};

// log2(1 + f) = f*P(f)
// on [-0.29289, 0.41421], degree 13, weighted error 2^-37.94.
static constexpr double kLog2Narrow[] = {
    0x1.71547652b61efp+0, -0x1.7154765196136p-1, 0x1.ec709ddd124cfp-2, -0x1.715478c0a32d5p-2,
    0x1.2776b9aac3fa7p-2, -0x1.ec6f14efef902p-3, 0x1.a61a7a174de7cp-3, -0x1.718acbf7540bep-3,
    0x1.4835223c9b8b0p-3, -0x1.23cd11e418b63p-3, 0x1.09f7c19d92925p-3, -0x1.133cc7ee274f6p-3,
    0x1.129112f12c092p-3, -0x1.25ba5dad61fd3p-4,
};

// sin(r) = r + r*z*P(z), z = r*r
// on [0.0, 0.61691], degree 3, weighted error 2^-37.57.
static constexpr double kSinNarrow[] = {
    -0x1.5555554cb9f38p-3,
    0x1.111108965322cp-7,
    -0x1.a00f9dacf585ap-13,
    0x1.6cd859fa3954dp-19,
};

// cos(r) = 1 - z/2 + z*z*P(z), z = r*r
// on [0.0, 0.61691], degree 3, weighted error 2^-43.2.
static constexpr double kCosNarrow[] = {
    0x1.5555554f4e4c0p-5,
    -0x1.6c16b898d2eb6p-10,
    0x1.a011202c76ca6p-16,
    -0x1.242ad71a6d133p-22,
};

// asin(x) = x + x*z*P(z), z = x*x
// on [0.0, 0.2501], degree 6, weighted error 2^-35.81.
static constexpr double kAsinNarrow[] = {
    0x1.55555609b097cp-3, 0x1.3332a7a21c4b4p-4, 0x1.6ddb3d6334e4ap-5, 0x1.ed5142b1c0a84p-6,
    0x1.9367d2ac15daep-6, 0x1.e8c105072c5f4p-8, 0x1.1c51e09db1853p-5,
};

// atan(u) = u + u*z*P(z), z = u*u
// on [0.0, 0.17159], degree 6, weighted error 2^-40.25.
static constexpr double kAtanNarrow[] = {
    -0x1.5555554efeacdp-2, 0x1.99999217c881fp-3, -0x1.2490c7154e945p-3, 0x1.c6d278068f66fp-4,
    -0x1.708782cd193acp-4, 0x1.1e70e6dc64ecap-4, -0x1.36f29c69835bap-5,
};

// (1 + 2x)*exp(x*x)*erfc(x) = 1 + P(t), t = (x - 3.75)/(x + 3.75)
// on [-0.76887, 0.52681], degree 10, weighted error 2^-28.67.
static constexpr double kErfcNarrow[] = {
    0x1.e66d0567c573ap-3,  -0x1.1f3673ed73947p-3, 0x1.d5fd1af6bf0d2p-9,  0x1.510080cb6266dp-4,
    -0x1.bdb18358a4fffp-4, 0x1.7a1d632ae01d2p-4,  -0x1.e0374cfc93c80p-5, 0x1.d0685ad2c316dp-6,
    -0x1.48cc76b3a1e2bp-7, 0x1.b357e01daf846p-10, 0x1.75d5bfb6b410fp-11,
};

// exp(r) = 1 + r + r*r*P(r)
// on [-0.34661, 0.34661], degree 4, weighted error 2^-28.15.
static constexpr float kExpF[] = {
    0x1.0000000000000p-1f, 0x1.55548a0000000p-3f,  0x1.55552a0000000p-5f,
    0x1.123f220000000p-7f, 0x1.6cea360000000p-10f,
};

// log(1 + f) = f - f*f/2 + f**3*P(f)
// on [-0.29289, 0.41421], degree 8, weighted error 2^-27.62.
static constexpr float kLogF[] = {
    0x1.5555480000000p-2f,  -0x1.0000700000000p-2f, 0x1.99a5420000000p-3f,
    -0x1.552f100000000p-3f, 0x1.2304200000000p-3f,  -0x1.01007a0000000p-3f,
    0x1.efa2260000000p-4f,  -0x1.bf05a80000000p-4f, 0x1.b781b20000000p-5f,
};

// tanh(x) = x + x*z*P(z), z = x*x
// on [0.0, 0.4226], degree 4, weighted error 2^-27.23.
static constexpr float kTanhF[] = {
    -0x1.5555260000000p-2f, 0x1.11044c0000000p-3f,  -0x1.b7d9f80000000p-5f,
    0x1.4f97160000000p-6f,  -0x1.6a49c80000000p-8f,
};

// erf(x) = x + x*P(z), z = x*x
// on [0.0, 1.0], degree 6, weighted error 2^-29.55.
static constexpr float kErfF[] = {
    0x1.06eba80000000p-3f, -0x1.8127400000000p-2f,  0x1.ce2d500000000p-4f,  -0x1.b7fe900000000p-6f,
    0x1.542e100000000p-8f, -0x1.a50b140000000p-11f, 0x1.4c34800000000p-14f,
};

// erf(x) = 1 - exp(-P(x))
// on [1.0, 3.95], degree 7, weighted error 2^-34.14.
static constexpr float kErfTailF[] = {
    -0x1.8a56380000000p-13f, 0x1.212c0c0000000p+0f, 0x1.44356e0000000p-1f,   0x1.bc14ba0000000p-4f,
    -0x1.9d01d80000000p-6f,  0x1.138aca0000000p-8f, -0x1.cec0480000000p-12f, 0x1.6bd4040000000p-16f,
};

}  // namespace tessella::TS_ISA
