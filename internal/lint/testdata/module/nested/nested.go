package nested // not read
