package lock

const openFlags = 0
