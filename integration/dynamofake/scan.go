package dynamofake

// maxSegments is the documented limit of TotalSegments.
const maxSegments = 1000000
