#!/usr/bin/env python3
"""Tests of read_store.py: the vectors of Specs/01-file-format.md, and a store that is laid out here byte by byte.

    python3 -m unittest discover -s Tests/reader

If the environment variable CAMBIUM_READER_STORES names a folder, every NAME.store in it is verified, and compared with
NAME.txt (what `dump` has to print) if that is there.
"""

import contextlib
import io
import os
import re
import struct
import sys
import tempfile
import unittest
from random import Random

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import read_store  # noqa: E402
from read_store import BYTES, INTEGER, UNIT, checksum, mix  # noqa: E402

UUID = bytes(range(1, 17))
SEED = mix(int.from_bytes(UUID[:8], "little"), int.from_bytes(UUID[8:], "little"))
SESSION, LOG_NUMBER = 0x1111, 0x2222
LOG_SEED = mix(SEED, LOG_NUMBER)
# Where the copies of the slot of publication 1 begin.
COPIES = (4096, 14336)
LOG_SEGMENT, PAGE_SEGMENT, VALUE_SEGMENT, NEXT_SEGMENT = 1, 2, 3, 4


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def padded(data, unit=16):
    return data + bytes(-len(data) % unit)


class MadeStore:
    """A store with a tree of each kind, a large value, and log records that change them."""

    def __init__(self):
        self.file = bytearray(4 * UNIT)
        self.page_at = PAGE_SEGMENT * UNIT + 64
        self.last = 0xABCDEF
        self.log_at = LOG_SEGMENT * UNIT + 64
        self.sequence = 0
        self.places = {}

    def segment(self, start, kind, following=(0, 0)):
        header = bytearray(64)
        struct.pack_into("<4sI8xIHxxQQQIB", header, 0, b"CSEG", 1, *following, SESSION, 0, 1, start, kind)
        seed = mix(SEED, start ^ int.from_bytes(header[:8], "little"))
        struct.pack_into("<Q", header, 8, checksum(header[16:], seed))
        self.put(start * UNIT, header)

    def put(self, at, data):
        self.file[at : at + len(data)] = data

    def page(self, name, kind, level, count, tree, body, flags=0, width=0, prefix=0, fixed=0, count_width=0):
        length = 32 + len(body)
        head = struct.pack(
            "<BBHIQHBBHH", kind, level, count, tree, 1, length, flags | count_width << 4, width, prefix, fixed)
        data = padded(bytes(8) + head + body)
        location = self.page_at // 16 << 12 | len(data) // 16
        sum = checksum(data[8:], mix(SEED, location))
        data = struct.pack("<Q", sum) + data[8:]
        self.put(self.page_at, data)
        self.places[name] = self.page_at
        self.page_at += len(data)
        return struct.pack("<QQ", location, sum)

    def trees(self):
        """Tree 16: 5, 6, 7 in a leaf, 300 (a stub) and 70000 in another. Tree 17: "applet", "apply", "appoint"."""
        a = self.page("leaf a", 1, 0, 3, 16, struct.pack("<QHHH", 5, 1, 1, 4) + b"xyzw")
        body = struct.pack("<QIIHHB", 300, 0, 69700, 16, 18, 1) + struct.pack("<QQ", 1, 20) + b"hi"
        b = self.page("leaf b", 1, 0, 2, 16, body, flags=1, width=4)
        body = struct.pack("<QQB", 0, 300, 0) + a + b + bytes([3, 2])
        root = self.page("inner", 2, 1, 2, 16, body, width=1, count_width=1)
        # Prefix "app", heads "le", "ly", "oi", rests "t", "", "nt"; no values.
        body = b"app" + b"lelyoi" + struct.pack("<HHH", 1, 1, 3) + b"t" + b"nt"
        names = self.page("names", 3, 0, 3, 17, body, flags=2, width=2, prefix=3)
        value = bytes(range(20))
        at = VALUE_SEGMENT * UNIT + 64
        stored = struct.pack("<QII", 1 << 20, 20, 0) + value
        self.put(at, stored)
        self.places["extent"] = at
        entry = struct.pack("<QIQ", at, 20, checksum(stored, mix(SEED, at | 1)))
        extents = self.page("extents", 1, 0, 1, 1, struct.pack("<QH", 1 << 20, 20) + entry)
        return [(1, INTEGER, 0, extents, 1, 0), (16, INTEGER, 1, root, 5, 1), (17, BYTES, 0, names, 3, 0)]

    def directory(self):
        before = self.page_at
        rows = self.trees()
        figures = self.figures()
        head = struct.pack("<IQQII", 1, 9, 2, 18, len(rows))
        for identifier, kind, level, root, entries, stubs in rows:
            pages, stored = figures[identifier]
            head += struct.pack("<IBBH", identifier, kind, level, 0) + root
            head += struct.pack("<QQQQQ", entries, pages, stored, stubs, 9) + struct.pack("<IIq", 1, 4, -3)
        rest = 4 + 2 * 36 + 4 + 8
        live = self.page_at - before + len(padded(bytes(32 + len(head) + rest))) + 48
        segments = struct.pack("<I", 2)
        segments += struct.pack("<IIB3xIIQQ", PAGE_SEGMENT, 1, 2, 64 + live, live, 1, 0)
        segments += struct.pack("<IIB3xIIQQ", VALUE_SEGMENT, 1, 3, 64 + 48, 48, 1, 0)
        stream = head + segments + struct.pack("<I", 0) + bytes(8)
        chunk = self.page("directory", 5, 0, 0, 0, stream)
        return self.page("index", 5, 1, 1, 0, chunk), len(stream)

    def figures(self):
        """Pages and stored bytes of each tree."""
        ends = sorted(self.places[n] for n in ("leaf a", "leaf b", "inner", "names", "extents")) + [self.page_at]
        found = {}
        for at, end in zip(ends, ends[1:]):
            tree = int.from_bytes(self.file[at + 12 : at + 16], "little")
            pages, total = found.get(tree, (0, 0))
            found[tree] = (pages + 1, total + end - at)
        return found

    def record(self, operations, durable, session=SESSION, publication=1, following=NEXT_SEGMENT):
        self.sequence += 1
        data = bytearray(64) + operations
        struct.pack_into("<4sI8xQQQQQIHH", data, 0, b"CLOG", len(data), self.last, self.sequence, session, durable,
                         publication, following, 1, 1)
        address = self.log_at
        seed = mix(LOG_SEED, mix(address, int.from_bytes(data[:8], "little")))
        self.last = checksum(data[16:], seed)
        struct.pack_into("<Q", data, 8, self.last)
        self.put(address, padded(bytes(data)))
        self.places[f"record {self.sequence}"] = address
        self.log_at += len(padded(bytes(data)))

    def superblock(self, publication, directory, length, clean=0):
        self.places["superblock"] = COPIES[0]
        for at in COPIES:
            copy = bytearray(2048)
            struct.pack_into("<8sIIQQQ", copy, 0, b"CAMBIUM\0", 2, UNIT, 0, 0, 0)
            copy[40:56] = UUID
            struct.pack_into("<IIQQ", copy, 56, 4096, 0, 0, LOG_NUMBER)
            struct.pack_into("<Q", copy, 88, publication)
            copy[96:112] = directory
            struct.pack_into("<QQQBBBxIQQ", copy, 112, length, SESSION, 9, clean, 1, 1, 0, 4, 1)
            struct.pack_into("<QQQQQIHxxIHxx", copy, 160, self.log_at, SESSION, 10, self.last, 0, NEXT_SEGMENT, 1,
                             LOG_SEGMENT, 1)
            struct.pack_into("<Q", copy, 2040, checksum(copy[:2040], mix(int.from_bytes(b"CAMBIUM\0", "little"), at)))
            self.put(at, copy)

    @classmethod
    def whole(cls):
        made = cls()
        made.segment(LOG_SEGMENT, 1)
        made.segment(PAGE_SEGMENT, 2)
        made.segment(VALUE_SEGMENT, 3)
        directory, length = made.directory()
        made.superblock(1, directory, length)
        made.sequence = 9
        made.record(bytes([0x01, 16, 6, 3]) + b"new" + bytes([0x11, 16]) + varint(1000) + bytes([0]), durable=9)
        operations = bytes([0x02, 17, 0, 5]) + b"apply" + bytes([0x11, 17, 3, 2]) + b"le" + bytes([1]) + b"!"
        made.record(operations, durable=10)
        made.record(bytes([0x04, 18, 2, 0x06, 18, 7, 3, 0x11, 18, 0, 1]) + b"k" + bytes([1]) + b"v", durable=11)
        return made


class MadeLog(MadeStore):
    """A store that was not closed, with a log of short segments, some of which hold a single record. Each record proves those
    before it."""

    SEGMENTS = 32

    @classmethod
    def whole(cls):
        made, random = cls(), Random(7)
        made.file = bytearray((NEXT_SEGMENT + cls.SEGMENTS + 1) * UNIT)
        made.segment(PAGE_SEGMENT, 2)
        made.segment(VALUE_SEGMENT, 3)
        directory, length = made.directory()
        made.superblock(1, directory, length)
        made.sequence = 9
        # The address and length of each record, by segment.
        made.held = {}
        unit = LOG_SEGMENT
        for n in range(cls.SEGMENTS):
            following = NEXT_SEGMENT + n
            # The first segment's header is as it was prepared: the superblock names what lies behind.
            made.segment(unit, 1, (following, 1) if n else (0, 0))
            made.log_at, made.held[unit] = unit * UNIT + 64, []
            for _ in range(random.choice((1, 1, 2, 5))):
                value = random.randbytes(random.choice((1, 40, 700)))
                operations = bytes([0x01, 16, 6]) + varint(len(value)) + value
                made.held[unit].append((made.log_at, 64 + len(operations)))
                made.record(operations, durable=made.sequence, following=following)
            unit = following
        made.segment(unit, 1)
        return made


EXPECTED = """tree 16 integer 6
0000000000000005 78
0000000000000006 6e6577
0000000000000007 797a77
000000000000012c 000102030405060708090a0b0c0d0e0f10111213
00000000000003e8 \n0000000000011170 6869
tree 17 bytes 3
6170706c65 21
6170706c6574 \n6170706f696e74 \ntree 18 bytes 1
6b 76
"""


class ReaderTests(unittest.TestCase):
    def run_reader(self, made, *arguments):
        with tempfile.NamedTemporaryFile(suffix=".store") as file:
            file.write(made.file if isinstance(made, MadeStore) else made)
            file.flush()
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                status = read_store.main([arguments[0], file.name, *arguments[1:]])
            return status, out.getvalue()

    def test_checksum(self):
        vectors = [
            (b"", 0, 0x8E96060D57C9A260),
            (b"abc", 1, 0xE9E27A678097DC2F),
            (bytes(range(255)), 0x0123456789ABCDEF, 0xC6FB4462F065420F),
            (bytes(range(48)), 0x2A, 0xC3C662027107B09A),
            (bytes(range(64)), 0x2A, 0x2D6EE775BC816EFD),
        ]
        for data, seed, expected in vectors:
            self.assertEqual(checksum(data, seed), expected, data)

    def test_mix(self):
        self.assertEqual(mix(0, 0), 0xF90109D2335F6B4F)
        self.assertEqual(mix(1, 2), 0x6885857F87E2A590)
        self.assertEqual(mix(0x0123456789ABCDEF, 0xFEDCBA9876543210), 0xF3727A77B636DBCE)

    def test_whole(self):
        status, text = self.run_reader(MadeStore.whole(), "check")
        self.assertEqual((status, text), (0, "0 damages; 4 trees, 10 entries, 3 log records\n"))
        status, text = self.run_reader(MadeStore.whole(), "dump")
        self.assertEqual((status, text), (0, EXPECTED))
        status, text = self.run_reader(MadeStore.whole(), "dump", "--tree", "17", "--limit", "1")
        self.assertEqual((status, text), (0, "tree 17 bytes 3\n6170706c65 21\n"))
        status, text = self.run_reader(MadeStore.whole(), "info")
        self.assertIn("newest commit: 12", text)
        self.assertIn("tree 18 (bytes): 1 entries, 0 pages, counter 7: -2", text)

    def test_damaged_pages_and_extents(self):
        whole = MadeStore.whole()
        for name in ("leaf a", "leaf b", "inner", "names", "extents", "extent", "directory", "index"):
            made = MadeStore.whole()
            made.file[whole.places[name] + 17] ^= 4
            status, text = self.run_reader(made, "check")
            self.assertEqual(status, 1, name)
            self.assertIn(str(whole.places[name]), text, name)

    def test_superblock_copies(self):
        made = MadeStore.whole()
        made.file[made.places["superblock"] + 200] ^= 1
        status, text = self.run_reader(made, "check")
        self.assertEqual(status, 1)
        self.assertIn("superblock copy at 4096", text)
        self.assertEqual(self.run_reader(made, "dump"), (0, EXPECTED))
        made.file[COPIES[1] + 200] ^= 1
        self.assertEqual(self.run_reader(made, "dump")[0], 1)
        self.assertEqual(self.run_reader(bytes(40_000), "dump")[0], 2)
        self.assertEqual(self.run_reader(b"", "dump")[0], 2)

    def test_torn_tail(self):
        # Nothing says that the last record, or the one before it, was durable.
        made = MadeStore.whole()
        made.file[made.places["record 12"] + 70] ^= 1
        status, text = self.run_reader(made, "check")
        self.assertEqual((status, text), (0, "0 damages; 3 trees, 9 entries, 2 log records\n"))

    def test_rot_of_a_proved_record(self):
        # Record 12 says that 11 was durable.
        for name in ("record 10", "record 11"):
            made = MadeStore.whole()
            made.file[made.places[name] + 70] ^= 1
            status, text = self.run_reader(made, "check")
            self.assertEqual(status, 1)
            self.assertIn(f"log at {made.places[name]}", text)

    def test_damaged_header_of_a_log_segment(self):
        # Records prove without it; `check` says that it is damaged.
        made = MadeStore.whole()
        made.file[LOG_SEGMENT * UNIT + 20] ^= 1
        self.assertEqual(self.run_reader(made, "dump"), (0, EXPECTED))
        status, text = self.run_reader(made, "check")
        self.assertEqual(status, 1)
        self.assertIn(f"log segment at {LOG_SEGMENT * UNIT}", text)

    def test_former_format(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../CambiumKernelTests/Golden")
        for name in ("closed", "log"):
            for version, expected in ((1, 2), (2, 0)):
                with open(os.path.join(folder, f"{name}-{version}.store"), "rb") as file:
                    self.assertEqual(self.run_reader(file.read(), "check")[0], expected, (name, version))

    def test_log_attack(self):
        """Damage to a log of many segments: an error, or no more is missing than the last record, which nothing proves."""
        made, random = MadeLog.whole(), Random(8)
        segments, found = list(made.held), {"reported": 0, "whole": 0, "last": 0, "undetectable": 0}
        self.assertGreaterEqual(sum(len(held) == 1 for held in made.held.values()), 5)
        records = [place for held in made.held.values() for place in held]
        for n in range(500):
            file, undetectable = bytearray(made.file), False
            address, length = random.choice(records)
            if n % 4 == 0:
                file[random.choice(segments) * UNIT + random.randrange(64)] ^= 1 << random.randrange(8)
            elif n % 4 == 1:
                file[address + random.randrange(length)] ^= random.randrange(1, 256)
            elif n % 4 == 2:
                file[address + random.randrange(64)] ^= 1 << random.randrange(8)
            else:
                unit = random.choice(segments)
                at = random.choice((unit * UNIT, unit * UNIT, address // 512 * 512))
                file[at : at + 512] = random.choice((bytes(512), random.randbytes(512)))
                # Without the header and every record of a segment nothing names the next one.
                held = made.held.get(at // UNIT, ())
                undetectable = at % UNIT == 0 and all(record < at + 512 for record, _ in held)
            with self.subTest(n):
                status, text = self.run_reader(file, "info")
                if status:
                    found["reported"] += 1
                    continue
                newest = int(re.search(r"newest commit: (\d+)", text)[1])
                if newest == made.sequence:
                    found["whole"] += 1
                elif undetectable:
                    found["undetectable"] += 1
                else:
                    # The very end of the log: what is missing is what was damaged.
                    gone = records[newest - made.sequence :]
                    self.assertTrue(all(file[a : a + c] != made.file[a : a + c] for a, c in gone), newest)
                    found["last"] += 1
        self.assertTrue(found["reported"] > 100 and found["whole"] > 100 and found["last"] < 30, found)

    def test_unproved_records_behind_a_hole(self):
        made = MadeStore.whole()
        made.log_at, made.last, made.sequence = made.places["record 11"], 0, 10
        made.put(made.log_at, bytes(512))
        made.sequence = 11
        made.log_at += 160
        made.record(bytes([0x08, 1]), durable=10)
        self.assertEqual(self.run_reader(made, "check"), (0, "0 damages; 3 trees, 9 entries, 1 log records\n"))

    def test_stale_record_of_another_session(self):
        made = MadeStore.whole()
        made.record(bytes([0x02, 16, 5]), durable=12, session=0x3333)
        self.assertEqual(self.run_reader(made, "dump"), (0, EXPECTED))

    def test_log_names_a_newer_superblock(self):
        made = MadeStore.whole()
        made.record(bytes([0x02, 16, 5]), durable=12, publication=2)
        status, text = self.run_reader(made, "check")
        self.assertEqual(status, 1)
        self.assertIn("newest superblock", text)

    def test_malformed_record(self):
        for operations in (b"\x0f", b"\x01\x63\x00\x00", b"\x11\x10", b"\x11\x11\x09\x00\x00", b"\x08" + b"\xff" * 11):
            made = MadeStore.whole()
            made.record(operations, durable=12)
            self.assertEqual(self.run_reader(made, "check")[0], 1, operations)

    def test_cut_off(self):
        whole = MadeStore.whole().file
        for length in range(0, len(whole), 1021):
            expected = (1, 2) if length < 3 * UNIT + 64 + 36 else (0,)
            self.assertIn(self.run_reader(whole[:length], "check")[0], expected, length)

    @unittest.skipUnless(os.environ.get("CAMBIUM_READER_STORES"), "no stores are given")
    def test_given_stores(self):
        folder = os.environ["CAMBIUM_READER_STORES"]
        for name in sorted(n for n in os.listdir(folder) if n.endswith(".store")):
            with self.subTest(name), open(os.path.join(folder, name), "rb") as file:
                content = file.read()
                status, text = self.run_reader(content, "check")
                self.assertEqual(status, 0, text[:2000])
                expected = os.path.join(folder, name[: -len(".store")] + ".txt")
                if os.path.exists(expected):
                    with open(expected, encoding="ascii") as text_file:
                        self.assertTrue(self.run_reader(content, "dump")[1] == text_file.read(), "the dumps differ")


if __name__ == "__main__":
    unittest.main()
