// Random draws from the posterior distributions of bandits.
//
//   DrawGamma      Gamma(shape, 1): Marsaglia and Tsang (2000), "A simple
//                  method for generating gamma variables". With d = shape - 1/3
//                  and c = 1 / sqrt(9 d), d (1 + c x)^3 of a normal x is
//                  accepted or rejected; a shape below 1 draws at shape + 1 and
//                  scales by u^(1 / shape).
//   DrawBeta       X / (X + Y) of two gammas.
//   DrawStudentT   t with nu degrees of freedom: Bailey (1994), "Polar
//                  generation of random variates with the t-distribution". The
//                  same distribution as a normal over sqrt(chi2_nu / nu), at
//                  the cost of one point in the unit disc.
//
// A recorded stream (random.h) holds what DrawBeta and DrawStudentT return.
#ifndef ESPALIER_SEARCH_BANDIT_DRAWS_H_
#define ESPALIER_SEARCH_BANDIT_DRAWS_H_

#include "base/random.h"

namespace espalier {

// shape > 0.
double DrawGamma(double shape, RandomStream& random);
// a, b > 0. In [0, 1].
double DrawBeta(double a, double b, RandomStream& random);
// nu > 0.
double DrawStudentT(double nu, RandomStream& random);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BANDIT_DRAWS_H_
