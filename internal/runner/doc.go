// Package runner carries out what a command measures on this host, from what its flags
// say to its results files: packages ([Runner.Packages]), two versions of a module
// ([Runner.AB]), or two versions in three ways ([Runner.Truth]). They differ in the plan
// and in what is built for it, and in nothing else:
//
//  1. A [Config] becomes a plan without cases. Of a run that is resumed, what was not
//     given is what it was (config.go).
//  2. Test binaries are built in a scratch folder and listed, of one version (packages.go)
//     or of two (versions.go), and the plan is completed.
//  3. It is checked that the machine is idle (runner.go).
//  4. What is to be measured into one file is a job: the plan, its subject and the
//     circumstances. It is opened, announced, measured and closed (job.go).
//
// The first interrupt ends it all before anything is measured. After that it lets the
// process or row finish that runs; the second ends that at once.
//
// Errors about what was asked for name the flags of benchrun.
package runner
