/*
 * A program that speaks dyno's driving protocol, version 1: internal/program/PROTOCOL.md.
 * It has one kind of work in two variants, of which b does half as much again as a.
 *
 *     cc -O2 -o bench-c hash.c && benchrun run --program ./bench-c
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* An operation: the FNV-1a hash of so many bytes. */
enum { ROUNDS_A = 400, ROUNDS_B = 600 };

static uint64_t hash(uint64_t h, int rounds)
{
	for (int i = 0; i < rounds; i++)
		h = (h ^ (uint64_t)(i & 0xff)) * 1099511628211u;
	return h;
}

/* The benchmark, and what it has done since the beginning. */
static int rounds;
static uint64_t state = 14695981039346656037u;
static uint64_t operations;

static int64_t nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * How long n operations took. A test asks for a nanosecond a round, give or take a
 * hundredth: what becomes of figures is to depend on no machine.
 */
static int64_t given(long long n, int64_t took)
{
	if (!getenv("HASH_TIMES_GIVEN"))
		return took;
	return n * rounds * (int64_t)(990 + operations * 7919 % 21) / 1000;
}

/* The processor time that this process has used. */
static int64_t processor(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* The most bytes that this process held. On Linux ru_maxrss may be those of who started it. */
static long long peak(void)
{
	long long kib = 0;
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");
	while (status && !kib && fgets(line, sizeof line, status))
		sscanf(line, "VmHWM: %lld", &kib);
	if (status)
		fclose(status);
	if (!kib) {
		struct rusage u; /* ru_maxrss is in KiB, on macOS in bytes */
		getrusage(RUSAGE_SELF, &u);
		kib = u.ru_maxrss;
	}
	return kib * 1024;
}

static void run(FILE *out, long long n)
{
	int64_t cpu = processor(), began = nanoseconds();
	uint64_t h = state;
	for (long long i = 0; i < n; i++)
		h = hash(h, rounds);
	state = h;
	int64_t took = given(n, nanoseconds() - began);
	operations += (uint64_t)n;
	/* There is no garbage, and allocations are not counted: those fields are left out. */
	fprintf(out, "slice\t%lld\t%lld\t%lld\n", n, (long long)took, (long long)(processor() - cpu));
}

/* Does the work once more by itself, and says whether the slices had the same result. */
static int right(void)
{
	uint64_t h = 14695981039346656037u;
	if (operations > 2000) /* that would take as long as the measuring */
		return state != 14695981039346656037u;
	for (uint64_t i = 0; i < operations; i++)
		h = hash(h, rounds);
	return h == state;
}

static int list(void)
{
	puts("Unit rounds/op better=lower");
	puts("BenchmarkHash/impl=a");
	puts("BenchmarkHash/impl=b");
	puts("BenchmarkAlone");
	return 0;
}

/* Chooses the benchmark that the variable names; 0 if there is none of that name. */
static int choose(const char *drive)
{
	static char copy[4096];
	snprintf(copy, sizeof copy, "%s", drive);
	for (char *f = strtok(copy, " "); f; f = strtok(NULL, " ")) {
		if (!strcmp(f, "name=BenchmarkHash/impl=a") || !strcmp(f, "name=BenchmarkAlone"))
			rounds = ROUNDS_A;
		if (!strcmp(f, "name=BenchmarkHash/impl=b"))
			rounds = ROUNDS_B;
		if (!strncmp(f, "protocol=", 9) && strcmp(f, "protocol=1"))
			return 0;
		if (!strncmp(f, "slow=", 5) && strtod(f + 5, NULL) != 0)
			return 0;
	}
	return rounds > 0;
}

int main(void)
{
	const char *drive = getenv("DYNO_DRIVE");
	if (!drive) {
		fprintf(stderr, "benchmarks for benchrun run --program\n");
		return 2;
	}
	if (!strncmp(drive, "list", 4))
		return list();
	FILE *in = fdopen(3, "r"), *out = fdopen(4, "w");
	if (!in || !out)
		return 2;
	fcntl(3, F_SETFD, FD_CLOEXEC);
	fcntl(4, F_SETFD, FD_CLOEXEC);
	setvbuf(out, NULL, _IOLBF, 4096); /* an answer goes out with its newline */
	if (!choose(drive)) {
		fprintf(out, "refused\t\"no such benchmark, protocol or slow-down\"\n");
		return 0;
	}
	fprintf(out, "hello\tsession\n");

	static char line[8192];
	while (fgets(line, sizeof line, in)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "run ", 4)) {
			run(out, atoll(line + 4));
		} else if (!strncmp(line, "call ", 5)) {
			run(out, atoll(line + 5));
		} else if (!strcmp(line, "usage")) {
			fprintf(out, "usage\t%lld\n", (long long)processor());
		} else if (!strcmp(line, "reset")) {
			fprintf(out, "reset\n");
		} else if (!strncmp(line, "profile", 7) || !strcmp(line, "endprofile")) {
			fprintf(out, "profile\t\"no profiles\"\n");
		} else if (!strcmp(line, "finish")) {
			if (!right()) {
				fprintf(out, "failed\t\"the hash is wrong\"\n");
				return 0;
			}
			fprintf(out, "result\tx:rounds/op=%d\tr:peak-rss-B=%lld\n", rounds, peak());
			return 0;
		} else {
			return 3; /* no command of version 1 */
		}
	}
	return 0; /* there are no more commands */
}
