package main

// blindMutants are faults whose author had seen neither the suite nor what any
// of its scenarios contains, only the rules of the router and the engine. They
// stand as they were written first, whether the suite notices them or not, and
// so estimate what it notices of faults that it was not made for. A mutant
// without a catcher is one that it did not notice: that is recorded, and fails
// nothing.
func blindMutants() []mutant {
	return nil
}
