#!/usr/bin/env bash
# Guess:   Cachegrind and Callgrind count the same instructions of the same program, and an environment
#          variable that nobody reads changes nothing.
# Version: valgrind 3.19.0 (Debian package valgrind).
# Seen:    each repeats its own count exactly, and they differ (by a percent of a program that does nothing);
#          a longer environment changes Callgrind's. So counts of two tools, or of two shells, are not
#          comparable to the last digit.
. "$(dirname "$0")/lib.sh"
need valgrind 3.19.0 valgrind
count() { valgrind --tool="$1" --"$1"-out-file=/dev/null /bin/true 2>&1 | awk '/I +refs/ {print $NF}'; }
one=$(count cachegrind) two=$(count callgrind)
{
	[ "$one" = "$(count cachegrind)" ] && [ "$two" = "$(count callgrind)" ] && echo "each repeats"
	[ "$one" = "$two" ] && echo "equal" || echo "they differ"
	export LONGER=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
	[ "$two" = "$(count callgrind)" ] && echo "the environment does not count" || echo "the environment counts"
} >got
same <<'E'
each repeats
they differ
the environment counts
E
