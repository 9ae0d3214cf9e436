// Package stats draws conclusions from measurements that were made in blocks. It
// is arithmetic on plain values: it reads no files, knows no benchmarks, takes no
// time and has no state. docs/method.md has the model, the assumptions, the reasons
// and the sources; here is how.
//
//  1. In each block, what was measured becomes one number, the caller's: the
//     logarithm of the ratio of two times of an operation, so that half and double are
//     equally far from 0. Of typical times it is [HodgesLehmann] of the rounds'.
//  2. The blocks' numbers become an estimate, an interval and a p-value:
//     [Family.Mean] of their mean, [SignedRank] of their centre; with [Looks], if a
//     plan looked at them on the way. Without blocks there is [RankSum].
//  3. [Holm] corrects the p-values for how many they are.
//  4. [Rule.Decide] makes an answer of interval, corrected p-value and what is
//     known of systematic errors.
//  5. [Shift.Detectable] and [Shift.Need] say how small an effect could have been
//     detected, and how many blocks would detect more.
//  6. [Ordered] looks whether the blocks depend on one another more than that.
package stats
