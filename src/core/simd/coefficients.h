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

// sqrt(1/2).
static constexpr double kRootHalf[] = {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55};

// sqrt(2).
static constexpr double kRootTwo[] = {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54};

// 1 / sqrt(2 pi).
static constexpr double kBesselShare[] = {0x1.9884533d43651p-2, -0x1.cbc0d30ebfd15p-56};

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

// erfinv(x) = x*P(w), w = -log(1 - x*x): a first guess
// on [1.0e-9, 6.3], degree 12, weighted error 2^-30.65.
static constexpr double kErfinv[] = {
    0x1.c5bf891fd50c4p-1,   0x1.db29f761c302ep-3,  0x1.7a74fa7b957c0p-7,   -0x1.322ca4603795cp-9,
    -0x1.09aaf66e4a7c6p-13, 0x1.7c8bca33e17e3p-15, 0x1.6398ccf90ae16p-19,  -0x1.336e825801ef1p-20,
    -0x1.22e2975d6fda2p-24, 0x1.b821d00840cf5p-25, -0x1.f9544e36474c1p-28, 0x1.0925c5e0d3019p-31,
    -0x1.bec45dd29c20ap-37,
};

// erfinv(x) = P(s - 4.4), s = sqrt(-log(1 - x*x)): a first guess
// on [-2.0, 2.0], degree 12, weighted error 2^-30.65.
static constexpr double kErfinvFar[] = {
    0x1.0f995786b0b70p+2,   0x1.0299712681649p+0,   0x1.e817ef6b2f533p-12,  -0x1.02694280dfeb0p-11,
    0x1.621db22cae141p-13,  -0x1.851f8ffb6f4e7p-15, 0x1.775450b3f9a4cp-17,  -0x1.44bd2d5771365p-19,
    0x1.55b8b1ed0513dp-21,  -0x1.64fbff5face04p-23, -0x1.cb26e962e7502p-26, 0x1.15b29034ec31bp-25,
    -0x1.8d5011857a030p-28,
};

// erfinv(x) = P(s - 16.85), s = sqrt(-log(1 - x*x)): a first guess
// on [-10.65, 10.65], degree 13, weighted error 2^-28.41.
static constexpr double kErfinvEnd[] = {
    0x1.0c5094e0d87b4p+4,   0x1.00c5745d1de2bp+0,   -0x1.0a3d7ad23f6a2p-13, 0x1.714be54c8258cp-18,
    -0x1.f4ca2b87c7f07p-23, 0x1.225d03c68782fp-27,  -0x1.efdedbf6f9d9ap-32, 0x1.b4dd6c13f9791p-35,
    0x1.3b4878c634f2cp-39,  -0x1.77e15ad705fadp-41, -0x1.bb8a6dcae273bp-46, 0x1.6af4d12d4dd19p-48,
    0x1.6a656a23d4da6p-53,  -0x1.6e81868cdca22p-56,
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

// I0(x) = 1 + z*P(z), z = x*x/4
// on [1.0e-9, 9.1], degree 13, weighted error 2^-57.35.
static constexpr double kBessel0[] = {
    0x1.0000000000000p+0,  0x1.0000000000000p-2,  0x1.c71c71c71c719p-6,  0x1.c71c71c71c807p-10,
    0x1.23456789aa1b0p-14, 0x1.02e85c08d023ap-19, 0x1.522a43ed8dce5p-25, 0x1.522a44e2029e2p-31,
    0x1.0b312196161bcp-37, 0x1.56033ad04e73fp-44, 0x1.69ac68db281c2p-51, 0x1.4304f7fff9db8p-58,
    0x1.d0e04b2424eb8p-66, 0x1.a1d7a4ff26452p-73,
};

// I0(x) = exp(x) / sqrt(x) (1 / sqrt(2 pi) + P(x - 9))
// on [-3.1, 3.1], degree 22, weighted error 2^-60.48.
static constexpr double kBessel0Mid[] = {
    0x1.850a79c553d08p-8,   -0x1.746ff5256388ep-11, 0x1.66d839a757070p-14,  -0x1.5c98b6c3d2b43p-17,
    0x1.56429ba4f219bp-20,  -0x1.548acc110a723p-23, 0x1.57ef4c547e002p-26,  -0x1.6012109111ad0p-29,
    0x1.6afa877f775a4p-32,  -0x1.74a95be58bac1p-35, 0x1.7771626250d86p-38,  -0x1.6d4074005ef6bp-41,
    0x1.517732ef96631p-44,  -0x1.22850aef2437dp-47, 0x1.c6b6393bce6eap-51,  -0x1.385d261181357p-54,
    0x1.476e8217ddf1dp-58,  0x1.18050a36f5734p-67,  -0x1.d52633d590edcp-65, 0x1.cf0e047869136p-69,
    -0x1.887bc52795157p-71, 0x1.e9e6875c7606fp-72,  -0x1.d958223575be7p-75,
};

// I0(x) = exp(x) / sqrt(x) (1 / sqrt(2 pi) + v*P(v)), v = 1/x
// on [1.0e-9, 0.084034], degree 16, weighted error 2^-59.71.
static constexpr double kBessel0Far[] = {
    0x1.9884533d43799p-5,  0x1.cb94dda382b3bp-6,   0x1.debb152274d5ap-6,  0x1.6e850c6e63a50p-5,
    0x1.73e01096897ebp-4,  0x1.a7635c91d0427p-3,   0x1.34548bff37621p+1,  -0x1.7b17510f66de5p+6,
    0x1.f646b4a5b05aap+11, -0x1.dd6c36bcc762cp+16, 0x1.522c4b62bf921p+21, -0x1.61f386ce26d05p+25,
    0x1.0d9e2e7327275p+29, -0x1.21b6f08e2055fp+32, 0x1.9ec3273d38639p+34, -0x1.61687f354dc1fp+36,
    0x1.0dee8fe97c403p+37,
};

// I1(x) = x/2 (1 + z*P(z)), z = x*x/4
// on [1.0e-9, 9.1], degree 13, weighted error 2^-58.22.
static constexpr double kBessel1[] = {
    0x1.0000000000000p-1,  0x1.5555555555555p-4,  0x1.c71c71c71c73ap-8,  0x1.6c16c16c16836p-12,
    0x1.845c8a0cedc19p-17, 0x1.27e4fb76cea0fp-22, 0x1.522a440aa1cb7p-28, 0x1.2c97576540854p-34,
    0x1.ab820e40a81a8p-41, 0x1.f17461b8b4ed4p-48, 0x1.e277910ceae6cp-55, 0x1.8b989a9bf353dp-62,
    0x1.133613c7dec54p-69, 0x1.94728ec0f0e4cp-77,
};

// I1(x) = exp(x) / sqrt(x) (1 / sqrt(2 pi) + P(x - 9))
// on [-3.1, 3.1], degree 22, weighted error 2^-59.32.
static constexpr double kBessel1Mid[] = {
    -0x1.1ae86ce65de4ep-6,  0x1.0612acfe8bed8p-9,   -0x1.e77892ea05b3fp-13, 0x1.c7a5073f67c47p-16,
    -0x1.acb020b0efaa1p-19, 0x1.96bd940833583p-22,  -0x1.85df1d230875dp-25, 0x1.79bad4c4cc567p-28,
    -0x1.7120a7b2f4df2p-31, 0x1.69c77a8fbd6afp-34,  -0x1.6070d6584c1dap-37, 0x1.518dee6bb621fp-40,
    -0x1.3a3c00f8c03aap-43, 0x1.1934786894e47p-46,  -0x1.dee920872b379p-50, 0x1.80b7fc2ae47e1p-53,
    -0x1.1ed93366e05cdp-56, 0x1.784ae8e30fe4ap-60,  -0x1.acef8cc19d491p-64, 0x1.27c03b7d0a1b0p-67,
    -0x1.00e32b32028cep-71, -0x1.2d6fd6944fc5bp-73, 0x1.6c85513913bcep-76,
};

// I1(x) = exp(x) / sqrt(x) (1 / sqrt(2 pi) + v*P(v)), v = 1/x
// on [1.0e-9, 0.084034], degree 16, weighted error 2^-59.73.
static constexpr double kBessel1Far[] = {
    -0x1.32633e6df2963p-3,  -0x1.7efc0e085d982p-5, -0x1.4f1c8eb14580dp-5,  -0x1.d73d68fa17c65p-5,
    -0x1.c68062b3b1c93p-4,  -0x1.f4d64e9057da1p-3, -0x1.622fcab5e41f7p+1,  0x1.aba9075e58665p+6,
    -0x1.17c02a9716e32p+12, 0x1.072b65d43664cp+17, -0x1.71a6875c9e773p+21, 0x1.80215711fd4f7p+25,
    -0x1.22d280a403e9fp+29, 0x1.36db07488c1c1p+32, -0x1.bafcbd8abb77cp+34, 0x1.77ef554053db3p+36,
    -0x1.1e1c2f78a19cbp+37,
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

// exp(x*x/2)*(1 - Phi(x)) = u*P(u), u = 7/(x + 3.5), Phi the normal distribution
// on [0.38889, 2.0], degree 9, weighted error 2^-26.88.
static constexpr float kNormalTailF[] = {
    0x1.d2ee1e0000000p-5f,  0x1.d199020000000p-6f,   0x1.b9f1f80000000p-7f, 0x1.1344b20000000p-8f,
    0x1.09df960000000p-8f,  -0x1.11c0a60000000p-9f,  0x1.0ef5900000000p-9f, -0x1.0116260000000p-10f,
    0x1.a8d97e0000000p-13f, -0x1.094b3c0000000p-16f,
};

// tanh(c + t) = P(t) for floats in eight pieces: a row of centres c, then rows of the
// coefficients of P. The piece of x is number bits(1 + 1.5x) / 2^22 modulo 8, so that
// halves of octaves of 1 + 1.5x are apart.
static constexpr float kTanhF[9][8] = {
    {0x1.00130c0000000p+0f, 0x1.aab79e0000000p+0f, 0x1.555a500000000p+1f, 0x1.0009d40000000p+2f,
     0x1.8006840000000p+2f, 0x1.089e540000000p+3f, 0x0.0p+0f, 0x1.0017460000000p-1f},
    {0x1.85ffaa0000000p-1f, 0x1.dcbdd80000000p-1f, 0x1.fb14d80000000p-1f, 0x1.ffa8320000000p-1f,
     0x1.fffe640000000p-1f, 0x1.fffffc0000000p-1f, 0x0.0p+0f, 0x1.d959d80000000p-2f},
    {0x1.addd020000000p-2f, 0x1.105af00000000p-3f, 0x1.3947100000000p-6f, 0x1.5f19c00000000p-10f,
     0x1.9bd6900000000p-16f, 0x1.1a09100000000p-22f, 0x1.0000000000000p+0f, 0x1.92985c0000000p-1f},
    {-0x1.476f860000000p-2f, -0x1.fb32cc0000000p-4f, -0x1.3643a80000000p-6f,
     -0x1.5ee1fa0000000p-10f, -0x1.9d94240000000p-16f, -0x1.1a28da0000000p-22f,
     -0x1.1cfb840000000p-22f, -0x1.7434640000000p-2f},
    {0x1.a884100000000p-4f, 0x1.22b35e0000000p-4f, 0x1.95b1240000000p-7f, 0x1.d337b20000000p-11f,
     0x1.13d1900000000p-16f, 0x1.783eea0000000p-23f, -0x1.5551680000000p-2f,
     -0x1.815f2c0000000p-4f},
    {0x1.c678a60000000p-6f, -0x1.96af760000000p-6f, -0x1.8620580000000p-8f, -0x1.d105200000000p-12f,
     -0x1.0804960000000p-17f, -0x1.74cdf00000000p-24f, -0x1.24a5100000000p-12f,
     0x1.5131480000000p-3f},
    {-0x1.7c13cc0000000p-5f, 0x1.3af8500000000p-9f, 0x1.2009a40000000p-9f, 0x1.7210340000000p-13f,
     0x1.a665680000000p-19f, 0x1.2a09ac0000000p-25f, 0x1.15de420000000p-3f, -0x1.be61e40000000p-6f},
    {0x1.1e32340000000p-6f, 0x1.ca255a0000000p-9f, -0x1.39d2880000000p-11f, -0x1.02b6d20000000p-14f,
     -0x1.7474ca0000000p-20f, -0x1.c3b5f60000000p-27f, -0x1.37150c0000000p-7f,
     -0x1.98fca20000000p-5f},
    {0x1.cbf6c20000000p-9f, -0x1.55cfec0000000p-9f, 0x1.71b7780000000p-14f, 0x1.20258a0000000p-16f,
     0x1.a87ac60000000p-22f, 0x1.0322340000000p-28f, -0x1.364b200000000p-5f, 0x1.c253f40000000p-6f},
};

}  // namespace tessella::TS_ISA
