# What the scripts of this folder share. Each begins with: . "$(dirname "$0")/lib.sh"
# shellcheck shell=bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export GOFLAGS=-mod=mod GOWORK=off

# skip WHY ends the script as skipped.
skip() {
	echo "skipped: $1"
	exit 77
}

# need PROGRAM VERSION PACKAGE skips unless PROGRAM is there and `PROGRAM --version` has VERSION.
need() {
	command -v "$1" >/dev/null || skip "$1 is not installed (Debian: $3)"
	case $("$1" --version 2>&1) in
	*"$2"*) ;;
	*) skip "this is another version of $1 than $2" ;;
	esac
}

# debian PACKAGE VERSION skips unless that package is installed in that version.
debian() {
	command -v dpkg-query >/dev/null || skip "no dpkg-query here: the Debian package $1 $2 is needed"
	have=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null) || have=none
	[ "$have" = "$2" ] || skip "the Debian package $1 $2 is needed, here is: $have"
}

# modules MODULE@VERSION... makes a module of the current folder that requires these.
modules() {
	command -v go >/dev/null || skip "go is not installed"
	go mod init finding >/dev/null 2>&1
	go get "$@" >get.log 2>&1 || skip "cannot be fetched: $*"
}

# npm_packages PACKAGE@VERSION... installs these into the current folder.
npm_packages() {
	command -v npm >/dev/null || skip "npm is not installed"
	npm install --silent --no-audit --no-fund --ignore-scripts "$@" >npm.log 2>&1 || skip "cannot be fetched: $*"
}

# same compares the file got with standard input, which is what was seen when the script was written.
same() {
	if diff -u --label "seen before" --label "seen now" - got; then
		cat got
	else
		echo "the behaviour changed"
		exit 1
	fi
}
