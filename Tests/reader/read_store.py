#!/usr/bin/env python3
"""Reads a Cambium store. Written from Specs/01-file-format.md and Specs/03-commit-and-recovery.md, and nothing else.

    read_store.py info STORE                          what the store says of itself
    read_store.py dump STORE [--tree N] [--limit K]   all entries: keys and values in hexadecimal
    read_store.py check STORE                         verifies everything; exit status 1 and a list if there is damage

The file is only read. Commits that are in the log and not yet in pages are applied in memory. Python 3.11 or later,
standard library only.
"""

import argparse
import mmap
import struct
import sys
from functools import lru_cache

MASK = (1 << 64) - 1
K0, K1, K2, K3 = 0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1

UNIT = 16384
COPY = 2048
# Where the copies begin: slot, copy.
COPIES = {0: (0, 0), 4096: (1, 0), 10240: (0, 1), 14336: (1, 1)}
VERSION = 2
MAGIC = b"CAMBIUM\0"
INTEGER, BYTES = 1, 2
EXTENTS = 1
LOG, PAGES, VALUES = 1, 2, 3
WIDTH_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Damage(Exception):
    """The file is not what was written: says which check failed, and where."""


class NotReadable(Exception):
    """The file is not a store, or one of a format that this program does not know."""


# --- Section 2: the checksum


def fold(a, b):
    product = a * b
    return (product >> 64) ^ (product & MASK)


def mix(a, b):
    return fold(a ^ K0, b ^ K1) ^ ((a + b) & MASK)


@lru_cache(maxsize=None)
def _words(count):
    return struct.Struct("<%dQ" % count).unpack_from


def checksum(data, seed):
    """The checksum of a bytes-like object."""
    n = len(data)
    mask, k1 = MASK, K1
    s0 = seed ^ K0
    at = 0
    if n >= 48:
        blocks = n // 48
        at = blocks * 48
        words = iter(_words(blocks * 6)(data))
        s1 = s2 = s0
        k2, k3 = K2, K3
        for w0, w1, w2, w3, w4, w5 in zip(words, words, words, words, words, words):
            p = (w0 ^ k1) * (w1 ^ s0)
            s0 = (p >> 64) ^ (p & mask)
            p = (w2 ^ k2) * (w3 ^ s1)
            s1 = (p >> 64) ^ (p & mask)
            p = (w4 ^ k3) * (w5 ^ s2)
            s2 = (p >> 64) ^ (p & mask)
        s0 ^= s1 ^ s2
    while n - at >= 16:
        w0, w1 = _words(2)(data, at)
        p = (w0 ^ k1) * (w1 ^ s0)
        s0 = (p >> 64) ^ (p & mask)
        at += 16
    w0, w1 = _words(2)(bytes(data[at:n]).ljust(16, b"\0"))
    s0 = fold(w0 ^ k1, w1 ^ s0)
    return fold(s0 ^ K2, n ^ K3)


# --- Small readers


def u32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def round_up(n, unit):
    return (n + unit - 1) // unit * unit


class Stream:
    """Reads numbers one after another; running past the end is damage."""

    def __init__(self, data, what):
        self.data, self.at, self.what = data, 0, what

    @property
    def remaining(self):
        return len(self.data) - self.at

    def raw(self, count):
        if count > self.remaining:
            raise Damage(f"{self.what}: it ends within an item")
        self.at += count
        return bytes(self.data[self.at - count : self.at])

    def number(self, count):
        return int.from_bytes(self.raw(count), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.raw(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                raise Damage(f"{self.what}: a number is too long")
        if value > MASK:
            raise Damage(f"{self.what}: a number is too large")
        return value


# --- Section 3: the superblock


def is_possible(place):
    """Whether a log segment can be there: its first unit, and how many it has."""
    start, units = place
    return start >= 1 and 1 <= units <= 64 and start + units < 1 << 32


class Piece:
    def __init__(self, data, at):
        self.start, self.session, self.first, self.before, self.end = struct.unpack_from("<QQQQQ", data, at)
        self.next, self.segment = struct.unpack_from("<IH", data, at + 40), struct.unpack_from("<IH", data, at + 48)
        if not is_possible(self.next) or not is_possible(self.segment):
            raise Damage("superblock: a log segment that cannot be")


class Superblock:
    """A whole copy of the superblock; raises Damage if the bytes at `at` are not one."""

    def __init__(self, data, at):
        if len(data) != COPY or data[:8] != MAGIC:
            raise Damage(f"superblock copy at {at}: no magic")
        if checksum(data[: COPY - 8], mix(u64(MAGIC, 0), at)) != u64(data, COPY - 8):
            raise Damage(f"superblock copy at {at}: the checksum does not match")
        self.version, unit = u32(data, 8), u32(data, 12)
        self.compatible, self.read_only, self.incompatible = struct.unpack_from("<QQQ", data, 16)
        if self.version != VERSION or self.incompatible or u32(data, 60) or data[138] != 1:
            raise NotReadable(f"format version {self.version}, incompatible features {self.incompatible:#x}")
        self.uuid = bytes(data[40:56])
        self.page_size, self.made, self.log_number = u32(data, 56), u64(data, 64), u64(data, 72)
        self.publication = u64(data, 88)
        self.directory = (u64(data, 96), u64(data, 104))
        self.directory_bytes, self.session, self.durable = struct.unpack_from("<QQQ", data, 112)
        self.clean, count, self.unicode = data[136] == 1, data[137], u32(data, 140)
        self.units, self.generation = u64(data, 144), u64(data, 152)
        self.at = at
        size = self.page_size
        if unit != UNIT or size < 4096 or size > 65536 or size & (size - 1) or not 1 <= count <= 16:
            raise Damage(f"superblock copy at {at}: impossible fields")
        if self.publication % 2 != COPIES[at][0]:
            raise Damage(f"superblock copy at {at}: it stands in the wrong slot")
        self.pieces = [Piece(data, 160 + 56 * i) for i in range(count)]
        self.seed = mix(u64(self.uuid, 0), u64(self.uuid, 8))
        self.log_seed = mix(self.seed, self.log_number)


# --- Section 7: pages


class Page:
    """A page that was read by a reference: its header, and its content decoded by kind."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        (self.checksum, self.kind, self.level, self.count, self.tree, self.generation, self.length, flags, self.width,
         self.prefix, self.fixed) = struct.unpack_from("<QBBHIQHBBHH", data, 0)
        self.flags, self.count_width = flags & 15, flags >> 4
        if not 32 <= self.length <= len(data):
            raise self.damage("impossible length")

    def damage(self, what):
        return Damage(f"page at {self.at}: {what}")

    def array(self, at, width, count):
        if width not in WIDTH_CODES or at + width * count > self.length:
            raise self.damage("an array lies outside")
        return struct.unpack_from("<%d%s" % (count, WIDTH_CODES[width]), self.data, at)

    def slices(self, at, ends):
        """The items behind `at` that end at `ends`."""
        start, found, data = 0, [], self.data
        for end in ends:
            if end < start:
                raise self.damage("ends are out of order")
            found.append(data[at + start : at + end])
            start = end
        if at + start > self.length:
            raise self.damage("an item lies outside")
        return found

    def stub_bits(self, at):
        if not self.flags & 1:
            return [False] * self.count, at
        bits = self.data[at : at + (self.count + 7) // 8]
        if at + len(bits) > self.length:
            raise self.damage("stub bits lie outside")
        return [bits[i // 8] >> (i % 8) & 1 == 1 for i in range(self.count)], at + len(bits)

    def integer_leaf(self):
        n, base = self.count, u64(self.data, 32)
        at = 40 + n * self.width
        if self.width == 0:
            keys = range(base, base + n)
        else:
            keys = [base + d for d in self.array(40, self.width, n)]
        ends = self.array(at, 2, n)
        stubs, at = self.stub_bits(at + 2 * n)
        return keys, self.slices(at, ends), stubs

    def key_parts(self, n):
        """Prefix, heads, ends of rests of `n` keys, and where the next part begins."""
        at = 32 + self.prefix
        if self.width not in (0, 1, 2, 4, 8) or at + n * self.width > self.length:
            raise self.damage("keys lie outside")
        prefix, w = self.data[32:at], self.width
        heads = [self.data[at + i * w : at + (i + 1) * w] for i in range(n)]
        at += n * w
        if self.flags & 4:
            return prefix, heads, [self.fixed * (i + 1) for i in range(n)], at
        return prefix, heads, self.array(at, 2, n), at + 2 * n

    def bytes_leaf(self):
        n = self.count
        prefix, heads, rest_ends, at = self.key_parts(n)
        has_values = not self.flags & 2
        if has_values:
            value_ends = self.array(at, 2, n)
            at += 2 * n
        stubs, at = self.stub_bits(at)
        rests = self.slices(at, rest_ends)
        keys = [prefix + h + r for h, r in zip(heads, rests)]
        at += rest_ends[-1]
        return keys, self.slices(at, value_ends) if has_values else [b""] * n, stubs

    def references(self, at):
        numbers = self.array(at, 8, 2 * self.count)
        at += 16 * self.count
        below = self.array(at, self.count_width, self.count)
        return list(zip(numbers[::2], numbers[1::2])), below, at + self.count_width * self.count

    def integer_inner(self):
        """Low, separators (one less than there are children), references, entries below."""
        n, low, base = self.count, u64(self.data, 32), u64(self.data, 40)
        separators = [base + d for d in self.array(48, self.width, n - 1)]
        refs, below, _ = self.references(48 + (n - 1) * self.width)
        return low, separators, refs, below

    def bytes_inner(self):
        n = self.count
        prefix, heads, rest_ends, at = self.key_parts(n - 1)
        refs, below, at = self.references(at)
        (low_count,) = self.array(at, 2, 1)
        at += 2
        rests = self.slices(at, rest_ends)
        at += rest_ends[-1] if n > 1 else 0
        if at + low_count > self.length:
            raise self.damage("its lower bound lies outside")
        return self.data[at : at + low_count], [prefix + h + r for h, r in zip(heads, rests)], refs, below


# --- Section 8: the directory


class Tree:
    def __init__(self, kind):
        self.kind, self.level, self.root = kind, 0, (0, 0)
        self.entries = self.pages = self.bytes = self.stubs = self.merged = 0
        self.counters = {}
        # What the log changes: key -> (value, is stub), or None for a delete.
        self.changes = {}
        self.count = 0


class Segment:
    def __init__(self, stream):
        self.start, self.units = stream.number(4), stream.number(4)
        self.kind = stream.number(1)
        stream.raw(3)
        self.used, self.live = stream.number(4), stream.number(4)
        self.born, self.dead = stream.number(8), stream.number(8)
        self.address, self.end = self.start * UNIT, self.start + self.units
        if self.kind not in (PAGES, VALUES) or not 1 <= self.units <= 64 or not 1 <= self.start:
            raise Damage("directory: an impossible segment")
        if self.used > self.units * UNIT or self.live > self.used:
            raise Damage("directory: impossible figures of a segment")


class Directory:
    def __init__(self, data):
        s = Stream(data, "directory")
        if s.number(4) != 1:
            raise Damage("directory: unknown version")
        self.sequence, self.next_value, self.next_tree = s.number(8), s.number(8), s.number(4)
        self.trees = {}
        for _ in range(s.number(4)):
            identifier, kind, level = s.number(4), s.number(1), s.number(1)
            s.raw(2)
            tree = Tree(kind)
            tree.level, tree.root = level, (s.number(8), s.number(8))
            tree.entries, tree.pages, tree.bytes, tree.stubs, tree.merged = (s.number(8) for _ in range(5))
            tree.count = tree.entries
            for _ in range(s.number(4)):
                index, value = s.number(4), s.number(8)
                tree.counters[index] = value - (1 << 64) if value >> 63 else value
            if kind not in (INTEGER, BYTES) or level > 64 or identifier in self.trees:
                raise Damage("directory: an impossible tree")
            self.trees[identifier] = tree
        self.segments = [Segment(s) for _ in range(s.number(4))]
        self.retained = []
        for _ in range(s.number(4)):
            fields = [s.number(8) for _ in range(9)]
            self.retained.append((fields, s.raw(s.number(4)).decode("utf-8", "replace")))
        if any(s.raw(s.remaining)):
            raise Damage("directory: something behind its end")


# --- Section 5: the log


class Record:
    def __init__(self, data, address):
        self.data, self.address = data, address
        (self.length, self.checksum, self.before, self.sequence, self.session, self.durable, self.publication,
         *following) = struct.unpack_from("<4xIQQQQQQIH", data, 0)
        self.next = tuple(following)
        self.end = address + round_up(self.length, 16)


class LogSegment:
    """A segment of log. Its records are verified without its header, which may be damaged."""

    def __init__(self, place, data, seed):
        self.place, self.data = place, data
        start, units = place
        self.address, self.end = start * UNIT, (start + units) * UNIT
        header = data[:64]
        self.is_whole = (header[:4] == b"CSEG" and header[52] == LOG and u32(header, 4) == units
                         and checksum(header[16:], mix(seed, start ^ u64(header, 0))) == u64(header, 8))
        self.publication = u64(header, 32) if self.is_whole else 0
        self.session = u64(header, 24) if self.is_whole else 0
        self.next = struct.unpack_from("<IH", header, 16) if self.is_whole else (0, 0)


class Store:
    """An opened store: `superblock`, `directory`, `trees` with the changes of the log, and what was found wrong."""

    def __init__(self, path):
        with open(path, "rb") as file:
            file.seek(0, 2)
            self.size = file.tell()
            if self.size < 8:
                raise NotReadable("not a store: the file is too short")
            self.file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.damages = []
        self.superblock = self._superblock()
        self.seed = self.superblock.seed
        self.directory_places = []
        self.directory = self._directory()
        self.trees = dict(self.directory.trees)
        self.next_value = self.directory.next_value
        self.last_sequence = self.directory.sequence
        self.records = []
        self._log_segments = {}
        self._scan()
        for record in self.records:
            self._apply(record)
        self._extents = None

    def read(self, address, count, what):
        data = self.file[address : address + count]
        if len(data) != count:
            raise Damage(f"{what} at {address}: the file ends before it")
        return data

    def _superblock(self):
        best, damages, unreadable, seen = None, [], None, False
        for at, (slot, _) in COPIES.items():
            data = self.file[at : at + COPY]
            seen = seen or data[:8] == MAGIC
            try:
                copy = Superblock(data, at)
            except Damage as damage:
                damages.append((slot, str(damage)))
                continue
            except NotReadable as error:
                unreadable = error
                continue
            if best is None or copy.publication > best.publication:
                best = copy
        if unreadable:
            raise unreadable
        if best is None:
            if self._is_former():
                raise NotReadable("format version 1, which this program does not read any more")
            raise Damage("no copy of the superblock is whole") if seen else NotReadable("not a store: no magic")
        # The older slot may be torn; both copies of the newest have to be whole.
        self.damages += [text for slot, text in damages if slot == best.publication % 2]
        return best

    def _is_former(self):
        """Whether a whole superblock of format version 1 is there."""
        for at in range(0, 16384, 4096):
            data = self.file[at : at + 4096]
            if len(data) == 4096 and data[:8] == MAGIC and u32(data, 8) == 1:
                if checksum(data[:4088], mix(u64(MAGIC, 0), at)) == u64(data, 4088):
                    return True
        return False

    # --- Sections 6 to 8

    def page(self, ref, tree, level, what):
        location, expected = ref
        address, length = (location >> 12) * 16, (location & 0xFFF) * 16
        if not 32 <= length <= 65520:
            raise Damage(f"{what}: a reference to {address} with an impossible length")
        data = self.read(address, length, what)
        page = Page(data, address)
        if not checksum(data[8:], mix(self.seed, location)) == expected == page.checksum:
            raise Damage(f"{what} at {address}: the checksum does not match")
        if page.tree != tree or page.level != level:
            raise Damage(f"{what} at {address}: a page of another tree or level")
        return page

    def _directory(self):
        block = self.superblock
        index = self.page(block.directory, 0, 1, "index of the directory")
        self.directory_places.append((index.at, len(index.data)))
        stream = []
        for at in range(32, index.length, 16):
            chunk = self.page((u64(index.data, at), u64(index.data, at + 8)), 0, 0, "directory")
            if chunk.kind != 5:
                raise chunk.damage("not a page of the directory")
            self.directory_places.append((chunk.at, len(chunk.data)))
            stream.append(chunk.data[32 : chunk.length])
        data = b"".join(stream)
        if index.kind != 5 or len(data) != block.directory_bytes:
            raise Damage("the directory has another length than the superblock says")
        return Directory(data)

    # --- Section 5

    def _log_segment(self, place):
        """The log segment at a place; None if there can be none, or if another one that begins there was met before."""
        if not is_possible(place):
            return None
        start, units = place
        if start not in self._log_segments:
            data = self.file[start * UNIT : (start + units) * UNIT].ljust(units * UNIT, b"\0")
            self._log_segments[start] = LogSegment(place, data, self.seed)
        found = self._log_segments[start]
        return found if found.place == place else None

    def _record(self, segment, address):
        """The whole record at `address`, or None."""
        at = address - segment.address
        data = segment.data
        if at < 0 or at + 64 > len(data) or data[at : at + 4] != b"CLOG":
            return None
        length = u32(data, at + 4)
        if length < 64 or at + length > len(data):
            return None
        bytes_ = data[at : at + length]
        seed = mix(self.superblock.log_seed, mix(address, u64(bytes_, 0)))
        if checksum(bytes_[16:], seed) != u64(bytes_, 8):
            return None
        return Record(bytes_, address)

    def _next_record(self, piece, segment, position, following, sequence, before):
        places = [(segment, position), (segment, round_up(position, 4096))]
        other = self._log_segment(following)
        if other:
            places += [(other, other.address + 64), (other, other.address + 4096)]
        for where, address in places:
            record = self._record(where, address)
            if record and (record.session, record.sequence, record.before) == (piece.session, sequence, before):
                return where, record
        return None

    def _scan(self):
        block = self.superblock
        sequence, before = self.directory.sequence, block.pieces[0].before
        durable, publication = block.durable, block.publication
        for piece in block.pieces:
            if piece.first != sequence + 1 or piece.before != before or piece.start % 16:
                raise Damage("superblock: the log pieces do not follow one another")
            segment = first = self._log_segment(piece.segment)
            if segment is None or not segment.address + 64 <= piece.start <= segment.end:
                raise Damage("superblock: the log begins outside its segment")
            publication = max(publication, segment.publication)
            position, following = piece.start, piece.next
            used, records = [segment], len(self.records)
            while not piece.end or position != piece.end:
                found = self._next_record(piece, segment, position, following, sequence + 1, before)
                if not found:
                    break
                segment, record = found
                if segment not in used:
                    used.append(segment)
                if not is_possible(record.next):
                    raise Damage(f"log at {record.address}: it names a log segment that cannot be")
                publication = max(publication, segment.publication, record.publication)
                durable = max(durable, record.durable)
                self.records.append(record)
                sequence, before = record.sequence, record.checksum
                position, following = record.end, record.next
            if piece.end and position != piece.end:
                raise Damage(f"log at {position}: a record that was durable is damaged")
            # The header was durable before the superblock named the segment. A closed log is known to hold nothing.
            if not (block.clean or first.is_whole or len(self.records) > records):
                raise Damage(f"log segment at {first.address}: its header is damaged")
            self.damages += [f"log segment at {s.address}: its header is damaged" for s in used if not s.is_whole]
        self.last_sequence, self.log_end = sequence, position
        if block.clean and self.records:
            raise Damage("records behind the end of a closed log")
        behind, published = self._look_behind(block.pieces[-1], segment, position, following, sequence)
        if max(durable, behind) > sequence:
            raise Damage(f"log at {position}: a record that was durable is damaged")
        if max(publication, published) > block.publication:
            raise Damage("the newest superblock is damaged: the log names a newer one")

    def _look_behind(self, piece, segment, position, following, sequence):
        """The newest commit and publication that whole records behind the end say were durable."""
        durable = published = 0
        waiting, visited = [following], {segment.place[0]}
        while segment:
            at = segment.data.find(b"CLOG", position - segment.address)
            while at >= 0:
                record = self._record(segment, segment.address + at) if at % 16 == 0 else None
                if record:
                    published = max(published, record.publication)
                    if record.session == piece.session and record.sequence > sequence:
                        durable = max(durable, record.durable)
                    waiting.append(record.next)
                    at = record.end - segment.address - 1
                at = segment.data.find(b"CLOG", at + 1)
            if segment.session == piece.session:
                waiting.append(segment.next)
            segment = None
            while waiting and not segment:
                place = waiting.pop()
                if place[0] not in visited:
                    segment = self._log_segment(place)
            if segment:
                visited.add(segment.place[0])
                published = max(published, segment.publication)
                position = segment.address + 64
        return durable, published

    def _apply(self, record):
        """Section 5.1."""
        s = Stream(record.data[64:], f"log record at {record.address}")
        last = b""

        def identifier():
            found = s.varint()
            if found not in self.trees:
                raise Damage(f"{s.what}: a tree that there is not")
            return found

        def tree():
            return self.trees[identifier()]

        while s.remaining:
            code = s.number(1)
            operation = code & 0x0F
            if operation in (1, 2, 3):
                t = tree()
                if t.kind == INTEGER:
                    key = s.varint()
                else:
                    shared = s.varint()
                    if shared > len(last):
                        raise Damage(f"{s.what}: a key shares more than there is")
                    key = last = last[:shared] + s.raw(s.varint())
                if operation == 2:
                    t.changes[key] = None
                    t.count -= 1
                else:
                    t.changes[key] = (s.raw(s.varint()), operation == 3)
                    t.count += code >> 4 & 1
            elif operation == 4:
                made, kind = s.varint(), s.number(1)
                if made in self.trees or kind not in (INTEGER, BYTES):
                    raise Damage(f"{s.what}: a tree cannot be made")
                self.trees[made] = Tree(kind)
            elif operation == 5:
                del self.trees[identifier()]
            elif operation == 6:
                t, index, change = tree(), s.varint(), s.varint()
                t.counters[index] = t.counters.get(index, 0) + (change >> 1 ^ -(change & 1))
            elif operation == 7:
                for _ in range(4):
                    s.varint()
            elif operation == 8:
                self.next_value = max(self.next_value, s.varint())
            else:
                raise Damage(f"{s.what}: unknown operation {code:#x}")

    # --- Trees

    def walk(self, identifier, tree, visit=None):
        """The entries in the pages of a tree, in order: key, value, whether it is a stub.

        With `visit`, every structure is checked against its neighbours and figures, `visit(page)` is told of every
        page, and damage is noted and passed over; without it, damage is raised.
        """
        if tree.root == (0, 0):
            return
        yield from self._walk(identifier, tree, tree.root, tree.level, None, None, visit)

    def _walk(self, identifier, tree, ref, level, low, high, visit):
        what = f"tree {identifier}"
        try:
            page = self.page(ref, identifier, level, what)
            kind = (1 if tree.kind == INTEGER else 3) + (1 if level else 0)
            if page.kind != kind or page.count == 0:
                raise page.damage(f"not a page of kind {kind}")
            if level == 0:
                entries = page.integer_leaf() if tree.kind == INTEGER else page.bytes_leaf()
            else:
                inner = page.integer_inner() if tree.kind == INTEGER else page.bytes_inner()
        except Damage as damage:
            if visit is None:
                raise
            self.damages.append(str(damage))
            return
        if visit:
            visit(page)
        if level == 0:
            keys, values, stubs = entries
            if visit:
                self._check_leaf(page, keys, stubs, values, low, high)
            yield from zip(keys, values, stubs)
            return
        own_low, separators, refs, below = inner
        if visit:
            if own_low != (low if low is not None else (0 if tree.kind == INTEGER else b"")):
                self.damages.append(f"page at {page.at}: its lower bound is not its parent's")
            bounds = [b for b in [low, *separators, high] if b is not None]
            if any(a >= b for a, b in zip(bounds, bounds[1:])):
                self.damages.append(f"page at {page.at}: separators are out of order")
        lows, highs = [low, *separators], [*separators, high]
        for child, expected, child_low, child_high in zip(refs, below, lows, highs):
            damages, count = len(self.damages), 0
            for entry in self._walk(identifier, tree, child, level - 1, child_low, child_high, visit):
                count += 1
                yield entry
            if visit and count != expected and damages == len(self.damages):
                self.damages.append(f"page at {page.at}: the count of entries below is wrong")

    def _check_leaf(self, page, keys, stubs, values, low, high):
        def note(what):
            self.damages.append(f"page at {page.at}: {what}")

        if any(a >= b for a, b in zip(keys, keys[1:])):
            note("keys are out of order")
        if low is not None and keys[0] < low or high is not None and keys[-1] >= high:
            note("a key lies outside the page's bounds")
        if any(stub and len(value) != 16 for stub, value in zip(stubs, values)):
            note("a malformed stub")

    def entries(self, identifier, visit=None):
        """The entries of a tree as the newest commit has them."""
        tree = self.trees[identifier]
        changes = tree.changes
        base = self.walk(identifier, tree, visit)
        if not changes:
            yield from base
            return
        pending = sorted(changes)
        at = 0
        for key, value, stub in base:
            while at < len(pending) and pending[at] < key:
                if changes[pending[at]] is not None:
                    yield (pending[at], *changes[pending[at]])
                at += 1
            if at < len(pending) and pending[at] == key:
                if changes[key] is not None:
                    yield (key, *changes[key])
                at += 1
            else:
                yield key, value, stub
        for key in pending[at:]:
            if changes[key] is not None:
                yield (key, *changes[key])

    # --- Section 9

    def extents(self):
        """Tree 1 as the newest commit has it."""
        if self._extents is None:
            self._extents = {}
            if EXTENTS in self.trees:
                self._extents = {key: value for key, value, _ in self.entries(EXTENTS)}
        return self._extents

    def extent(self, key, entry):
        what = f"extent {key & 0xFFFFF} of large value {key >> 20}"
        if len(entry) != 20:
            raise Damage(f"{what}: its entry is malformed")
        address, count, expected = struct.unpack("<QIQ", entry)
        data = self.read(address, 16 + count, what)
        if checksum(data, mix(self.seed, address | 1)) != expected or u64(data, 0) != key or u32(data, 8) != count:
            raise Damage(f"{what} at {address}: the checksum does not match")
        return data[16:]

    def value(self, stub):
        """The large value that a stub stands for."""
        identifier, length = struct.unpack("<QQ", stub)
        parts, have, number = [], 0, 0
        while have < length:
            key = identifier << 20 | number
            entry = self.extents().get(key)
            if entry is None:
                raise Damage(f"large value {identifier}: it lacks extents")
            parts.append(self.extent(key, entry))
            have += len(parts[-1])
            number += 1
        if have != length:
            raise Damage(f"large value {identifier}: its extents are longer than it is")
        return b"".join(parts)


def key_text(key):
    return f"{key:016x}" if isinstance(key, int) else key.hex()


# --- Commands


def info(store, out):
    block, directory = store.superblock, store.directory
    lines = [
        ("uuid", block.uuid.hex()),
        ("format version", block.version),
        ("features", f"{block.compatible:#x} {block.read_only:#x} {block.incompatible:#x}"),
        ("page size", block.page_size),
        ("made (ms since 1970)", block.made),
        ("publication", block.publication),
        ("generation", block.generation),
        ("closed cleanly", "yes" if block.clean else "no"),
        ("Unicode version", block.unicode),
        ("file bytes", store.size),
        ("directory bytes", block.directory_bytes),
        ("sequence of the directory", directory.sequence),
        ("newest commit", store.last_sequence),
        ("log records", len(store.records)),
        ("log pieces", len(block.pieces)),
        ("next large value", store.next_value),
        ("next tree", directory.next_tree),
        ("retained commits", len(directory.retained)),
    ]
    for name, value in lines:
        print(f"{name}: {value}", file=out)
    for kind, name in ((PAGES, "pages"), (VALUES, "large values")):
        those = [s for s in directory.segments if s.kind == kind]
        room, live = sum(s.units * UNIT for s in those), sum(s.live for s in those)
        print(f"segments of {name}: {len(those)}, {room} bytes, {live} live", file=out)
    for identifier, tree in sorted(store.trees.items()):
        kind = "integer" if tree.kind == INTEGER else "bytes"
        counters = "".join(f", counter {i}: {v}" for i, v in sorted(tree.counters.items()))
        print(f"tree {identifier} ({kind}): {tree.count} entries, {tree.pages} pages{counters}", file=out)


def dump(store, out, only=None, limit=None):
    for identifier in sorted(store.trees):
        if identifier < 16 and only is None or only not in (None, identifier):
            continue
        tree = store.trees[identifier]
        out.write(f"tree {identifier} {'integer' if tree.kind == INTEGER else 'bytes'} {tree.count}\n")
        left = limit
        for key, value, stub in store.entries(identifier):
            if left is not None:
                if left == 0:
                    break
                left -= 1
            out.write(f"{key_text(key)} {(store.value(value) if stub else value).hex()}\n")


def check(store, out):
    """Verifies everything that the directory and the log reach; the damage found."""
    live = {}
    segments = sorted(store.directory.segments, key=lambda s: s.start)
    starts = {unit: s for s in segments for unit in range(s.start, s.end)}

    def reach(address, length, what):
        segment = starts.get(address // UNIT)
        if segment is None:
            store.damages.append(f"{what} at {address}: no segment covers it")
        else:
            live[segment.start] = live.get(segment.start, 0) + length
            if address + length > segment.address + segment.used:
                store.damages.append(f"{what} at {address}: behind the used part of its segment")

    for address, length in store.directory_places:
        reach(address, length, "directory")
    # The pages, and their figures, as the directory has them.
    for identifier, tree in sorted(store.directory.trees.items()):
        seen = {"pages": 0, "bytes": 0, "entries": 0, "stubs": 0}

        def visit(page):
            seen["pages"] += 1
            seen["bytes"] += len(page.data)
            reach(page.at, len(page.data), f"tree {identifier}")

        before = len(store.damages)
        for key, value, stub in store.walk(identifier, tree, visit):
            seen["entries"] += 1
            seen["stubs"] += stub
            if identifier == EXTENTS and len(value) == 20:
                reach(u64(value, 0), round_up(16 + u32(value, 8), 16), "extent")
        if before == len(store.damages):
            for name, count in seen.items():
                if count != getattr(tree, name):
                    said = getattr(tree, name)
                    store.damages.append(f"tree {identifier}: {said} {name} by the directory, {count} found")
    if not store.damages:
        for segment in segments:
            if segment.live != live.get(segment.start, 0):
                store.damages.append(f"segment at {segment.address}: {segment.live} bytes live by the directory, "
                                     f"{live.get(segment.start, 0)} found")
    for a, b in zip(segments, segments[1:]):
        if a.end > b.start:
            store.damages.append(f"segment at {b.address}: it overlaps another one")
    if not store.damages:
        check_newest(store)
    for damage in store.damages:
        print(damage, file=out)
    entries = sum(t.count for i, t in store.trees.items() if i >= 16)
    print(f"{len(store.damages)} damages; {len(store.trees)} trees, {entries} entries, "
          f"{len(store.records)} log records", file=out)
    return store.damages


def check_newest(store):
    """What the log adds: the number of entries, and that every large value is there."""
    referred = set()
    try:
        for key, entry in store.extents().items():
            store.extent(key, entry)
        for identifier, tree in sorted(store.trees.items()):
            count = 0
            for _, value, stub in store.entries(identifier):
                count += 1
                if stub:
                    number, length = struct.unpack("<QQ", value)
                    if number in referred:
                        store.damages.append(f"large value {number}: two entries refer to it")
                    referred.add(number)
                    have, n = 0, 0
                    while have < length and (number << 20 | n) in store.extents():
                        have += u32(store.extents()[number << 20 | n], 8)
                        n += 1
                    if have != length:
                        store.damages.append(f"large value {number}: it lacks extents")
            if count != tree.count:
                store.damages.append(f"tree {identifier}: {tree.count} entries by log and directory, {count} found")
        highest = max(referred | {key >> 20 for key in store.extents()}, default=0)
        if highest >= store.next_value:
            store.damages.append(f"the next large value is {store.next_value}, and {highest} is in use")
        # Values that the log replaces keep their extents until the next checkpoint.
        lost = {key >> 20 for key in store.extents()} - referred
        if lost and not store.records:
            store.damages.append(f"{len(lost)} large values that nothing refers to, {min(lost)} among them")
    except Damage as damage:
        store.damages.append(str(damage))


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Reads a Cambium store, without changing it.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("info", "dump", "check"):
        command = commands.add_parser(name)
        command.add_argument("store")
        if name == "dump":
            command.add_argument("--tree", type=int)
            command.add_argument("--limit", type=int)
    options = parser.parse_args(arguments)
    try:
        store = Store(options.store)
        if options.command == "info":
            info(store, sys.stdout)
        elif options.command == "dump":
            dump(store, sys.stdout, options.tree, options.limit)
        elif check(store, sys.stdout):
            return 1
    except Damage as damage:
        print(f"damage: {damage}")
        return 1
    except (NotReadable, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
