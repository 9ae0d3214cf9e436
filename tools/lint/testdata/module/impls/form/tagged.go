//go:build !x

package form // want `a build constraint`
