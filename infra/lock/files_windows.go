package lock

// openFlags are not needed on Windows.
const openFlags = 0
