// Package bench makes cases of a board's firmware of the workloads that fit into 64
// KiB, and of what only boards are asked: what an actor and a place in its mailbox
// take in memory, whether a system of 32 actors with bounded mailboxes fits, and what the
// log of an actor costs that goes over the serial line.
//
// A workload's case has the name of its benchmark on the host, so that one report can
// show both, and its figures mean the same:
//
//	bench/Actor/workload=pingpong/impl=serial
//	bench/Group/workload=short/tasks=32/impl=serial
//	bench/Board/case=32-actors/impl=serial
//
// Each case prepares what it needs, runs it, checks it and closes it, once. To measure
// twice is to ask twice, with a reset in between: on a clock that counts instructions
// both take the same number then. Within one program they would not, since a
// collector that is not certain what is a pointer keeps some of the first run, for
// which, besides, there is no room.
//
// Why a workload of the host is not asked of boards it says itself: see TooBig of
// [workloads.Workload].
package bench
