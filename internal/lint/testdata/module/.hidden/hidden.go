package hidden // not read
