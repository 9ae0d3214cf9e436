package other // not read
