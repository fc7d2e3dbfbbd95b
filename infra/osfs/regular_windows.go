package osfs

// NonBlocking is not needed: pipes have names of their own.
const NonBlocking = 0
