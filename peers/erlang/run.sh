#!/bin/sh
# As many schedulers as processors; they do not spin when there is nothing to do.
p=${DYNO_DRIVE##*processors=}
p=${p%% *}
case $p in '' | *[!0-9]*) p=1 ;; esac
others="+sbwt none +P 1000000"
export PEER_FLAGS="+S GOMAXPROCS $others"
exec erl +S "$p:$p" $others -noshell -noinput -pa "$(dirname "$0")" -s bench main
