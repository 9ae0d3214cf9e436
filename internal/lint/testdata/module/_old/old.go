package old // not read
