#!/bin/sh
# The heap has a fixed size, so that it does not grow while it is measured.
exec java -Xms256m -Xmx256m -cp "$(dirname "$0")" Main
