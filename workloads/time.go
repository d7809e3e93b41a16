package workloads

// EndOfTimeMS is the latest virtual time of a run in ms from the first arrival,
// some 30,000 years: later ones can no longer tell milliseconds apart.
const EndOfTimeMS = 1e15
