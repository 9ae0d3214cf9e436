// Package fleet has machines measure for one another: a sender packs a plan as a job (package
// jobs), machines that have joined carry jobs out, one at a time, and results come back.
//
//  1. A [Server] is NATS with JetStream, in this process or elsewhere; it keeps what is queued
//     (server.go). Who may do what there is decided by keys (keys.go, roles.go).
//  2. A sender uploads a job's parts by their SHA-256, and signs an [Order] to one machine
//     (client.go).
//  3. An [Agent] takes one order at a time, checks who has signed it, waits until the machine
//     is free, and runs benchrun carry on the job, in a sandbox (agent.go, work.go, sandbox.go).
//  4. The [Collector] stores a result once, by job and machine, whatever is delivered twice:
//     checked against the plan, synced, and only then acknowledged. The folder of results is
//     the truth (collect.go).
//  5. [Client.Status] says who measures what, since when and for how long still (status.go).
//
// The unit is a plan on one machine: what is compared is never spread over machines. Only the
// kernel's lock on the machine keeps two plans apart (package machinelock); leases here are
// for who is asked for the name of a machine, and for display. Nothing here relies on clocks
// of different machines, and what is acknowledged is of no importance to what is stored: an
// acknowledgement that comes late, or from an agent that lost its lease, costs a redelivery.
package fleet
