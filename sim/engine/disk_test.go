package engine

import (
	"slices"
	"testing"
)

// testDisks are the disks of two workers, or the one that they share, of some
// blocks of 10 bytes, which move 10 bytes per ms each way.
func testDisks(blocks int32, shared bool) *Disks {
	p := Params{BlockSize: 10, Host: HostOffload{BytesPerToken: 1}, Disk: DiskOffload{
		Blocks: blocks, Shared: shared, LatencyMS: 1,
		ReadGBPerSecond: 1e-5, WriteGBPerSecond: 1e-5, SharedReadGBPerSecond: 1e-5, SharedWriteGBPerSecond: 1e-5,
	}}
	d := NewDisks(2, func(b uint32) uint64 { return uint64(b) })
	d.join(0, &p)
	d.join(1, &p)
	return d
}

// TestDiskKeepsWhatWasUsedLast: what is written comes once, the least recently
// used blocks go, and none that is being moved; a probe is a use.
func TestDiskKeepsWhatWasUsedLast(t *testing.T) {
	d := testDisks(3, false)
	var s DiskStats
	if got := d.write(0, &s, []uint32{1, 2}, 0); !slices.Equal(got, []uint32{1, 2}) {
		t.Fatalf("writes %v, expected 1 and 2", got)
	}
	if got := d.write(0, &s, []uint32{2, 3, 4}, 0); !slices.Equal(got, []uint32{3}) {
		t.Fatalf("writes %v into a disk of which 2 of 3 blocks are being written, expected 3 alone", got)
	}
	if at := d.probe(0, 1, &s); at != coming {
		t.Errorf("block 1 is %v, expected on its way", at)
	}
	if done := d.take(0, 10); len(done) != 2 || done[0].end != 3 || done[1].end != 4 {
		t.Fatalf("%d transfers ended, expected two at 3 and 4 ms", len(done))
	}
	if d.probe(0, 1, &s) != present || d.probe(0, 9, &s) != absent {
		t.Error("block 1 is not there, or block 9 is")
	}
	if got := d.write(0, &s, []uint32{1, 5, 6}, 10); !slices.Equal(got, []uint32{5, 6}) || d.probe(0, 2, &s) != absent || d.probe(0, 1, &s) != present {
		t.Errorf("writes %v, expected 5 and 6 in the place of 3 and 2, beside 1", got)
	}
	d.read(0, &s, []uint32{1}, 20)
	if got := d.write(0, &s, []uint32{7, 8, 9}, 20); !slices.Equal(got, []uint32{7, 8}) {
		t.Errorf("writes %v, expected 7 and 8 beside 1, which is being read", got)
	}
	d.take(0, 30)
	want := DiskStats{
		Probes: 5, Hits: 2, Pending: 1, ReadBlocks: 1, WrittenBlocks: 7, Evictions: 4,
		Read: DiskTraffic{1, 1, 10, 2}, Write: DiskTraffic{4, 4, 70, 13},
	}
	if s != want {
		t.Errorf("totals %+v, expected %+v", s, want)
	}
	if c := d.Content(); c != (DiskContent{Resident: 3}) {
		t.Errorf("the disk holds %+v, expected 3 blocks", c)
	}
}

// TestDiskOfAll: one worker reads what another wrote; that the first has not
// heard of yet keeps it from going idle, and what one was moving when it left
// does not stay pinned.
func TestDiskOfAll(t *testing.T) {
	d := testDisks(4, true)
	var a, b DiskStats
	d.write(0, &a, []uint32{1, 2}, 0)
	if at := d.next(1, 0); at != 1 {
		t.Errorf("worker 1 is to look at %v, expected the first byte of 0's transfer at 1 ms", at)
	}
	d.advance(10)
	if at := d.next(1, 0); at != 10 {
		t.Errorf("worker 1 is to look at %v, expected at once: a transfer has ended", at)
	}
	d.read(1, &b, []uint32{1, 2}, 10)
	if done := d.take(1, 20); len(done) != 1 || b.ForeignBlocks != 2 {
		t.Errorf("%d transfers ended, %d blocks of another worker, expected 1 and 2", len(done), b.ForeignBlocks)
	}
	d.write(1, &b, []uint32{3}, 20)
	d.read(1, &b, []uint32{1}, 20)
	if got := d.leave(1); !slices.Equal(got, []uint32{1}) {
		t.Errorf("was reading %v, expected 1", got)
	}
	if d.probe(0, 3, &a) != absent || len(d.own[1].done) != 0 {
		t.Error("what a worker was writing when it left is there")
	}
	if got := d.write(0, &a, []uint32{5, 6, 7, 8}, 30); len(got) != 4 {
		t.Errorf("writes %v, expected all 4 blocks: nobody reads block 1 any more", got)
	}
}
