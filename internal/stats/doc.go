// Package stats draws conclusions from measurements that were made in blocks. It
// is arithmetic on plain values: it reads no files, knows no benchmarks, takes no
// time and has no state. docs/method.md has the model, the assumptions and the
// reasons; here is how.
//
// A comparison of two things goes through these steps, each with a file of its
// own:
//
//  1. In each block, what was measured becomes one number, the block's. That is
//     the caller's: the logarithm of the ratio of the two sides' time of an
//     operation. Of the typical time it is [HodgesLehmann] of the logarithms of
//     the rounds' ratios (rank.go).
//  2. The blocks' numbers become an estimate, an interval and a p-value:
//     [Family.Mean] of their mean (mean.go), [SignedRank] of their centre
//     (rank.go); [Looks] if it was looked at them several times on the way
//     (looks.go). Without blocks there are two unpaired samples: [RankSum].
//  3. [Holm] corrects the p-values for how many they are (holm.go).
//  4. [Rule.Decide] makes an answer of interval, corrected p-value and what is
//     known of systematic errors (decide.go).
//  5. [Shift.Detectable] and [Shift.Need] say of comparisons without an answer how
//     small an effect they could have detected, and how many blocks would detect
//     more (power.go).
//  6. [Order] looks whether the blocks depend on one another more than all this
//     allows for (order.go).
//
// Everything works on logarithms of ratios, so that half and double are equally
// far from no difference, which is 0.
//
// Sources: M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical
// Methods, 3rd ed. (2014): 3.1 to 3.3 for the signed rank test, its estimate and
// its interval; 4.1 to 4.3 for the rank sum test and its own. J. L. Hodges, E. L.
// Lehmann, Estimates of location based on rank tests, Annals of Mathematical
// Statistics 34 (1963). The other files name theirs.
package stats
