/// The checks that the kernel makes on bytes that came from a file, each under a name, so that tests can take one away
/// and show that something goes wrong without it (Specs/03, section 16).
///
/// A guard reads `guard Verification.pageChecksum.holds(sum == ref.checksum) else { throw ... }`. As the kernel is
/// usually built that is the condition and nothing else. With the compilation condition `CAMBIUM_VERIFICATION_SWITCHES`
/// the checks in ``switchedOff`` hold without being looked at.
enum Verification: UInt8, CaseIterable, Sendable {
  // MARK: Superblock

  /// What has no magic is no store: told from a store that is damaged.
  case superblockMagic
  /// A torn or rotten copy does not count.
  case superblockChecksum
  /// A format of another version is not read as if it were this one.
  case superblockVersion
  /// A store with features that change its meaning is not read.
  case superblockFeatures
  /// A store with a page cipher is not read as if it had none.
  case superblockCipher
  /// Checksums of another kind are not taken for damage.
  case superblockChecksumKind
  /// Addresses in another unit are not followed.
  case superblockUnit
  /// The page size is one: it sizes every buffer.
  case superblockPageSize
  /// The pieces of the log lie within the copy.
  case superblockPieceCount
  /// A copy in the slot of another publication does not count.
  case superblockSlot
  /// The next publication has a number.
  case superblockPublication
  /// Bytes behind the end of the file are not looked at.
  case superblockEnd

  // MARK: Directory

  /// A reference to a page of the directory is as long as a page's head.
  case directoryReference
  /// Pages of the directory that the file ends in do not count.
  case directoryEnd
  /// The pages of the directory are those that were written.
  case directoryChecksum
  /// What the directory is read from are pages of a directory.
  case directoryKind
  /// The content of a page of the directory lies within it.
  case directoryPageLength
  /// The index of the directory holds whole references.
  case directoryIndex
  /// No more of a directory is read than its length.
  case directoryExcess
  /// All of the directory is there.
  case directoryLength
  /// A directory of another version is not read as if it were this one.
  case directoryVersion
  /// Numbers of commits and values can still be counted on.
  case directoryNumbers
  /// Descents end.
  case treeLevel
  /// A new tree does not take the identifier of an old one.
  case treeIdentifier
  /// The count of entries is one that can be counted on.
  case treeCount
  /// A tree is listed once.
  case treeTwice
  /// A tree holds no commits that are still to come: they would be hidden.
  case treeMerged
  /// Large values can be looked up.
  case treeOfExtents
  /// The next retained commit has an identifier.
  case retainedIdentifier
  /// What the directory holds was durable before the superblock named it: the log that is kept begins behind it.
  case directoryDurable
  /// A segment is of a kind that a directory lists.
  case segmentListedKind
  /// A segment has some units, and not too many.
  case segmentUnits
  /// A segment does not cover the superblock.
  case segmentStart
  /// A segment ends at a unit that has a number.
  case segmentNumbers
  /// The used part of a segment lies within it.
  case segmentUsed
  /// No more is live in a segment than is used.
  case segmentLive
  /// No two segments share room.
  case segmentOverlap
  /// The file holds the used part of every segment.
  case segmentEnd
  /// Reading from a stream of fields stops at its end.
  case fieldEnd
  /// A run of bytes within a stream of fields lies within it.
  case fieldLength

  // MARK: Log segments

  /// A log segment opens with the magic of one.
  case logSegmentMagic
  /// The header of a log segment is the one that was written there.
  case logSegmentChecksum
  /// The header of a segment of pages or values is not read as that of log.
  case logSegmentKind
  /// A log segment without a record has the header that was durable before a superblock named it.
  case logSegmentHeader
  /// A log segment that a record or a superblock names has some units, and not too many.
  case logSegmentUnits
  /// A log segment that a record or a superblock names does not cover the superblock.
  case logSegmentStart
  /// A log segment that a record or a superblock names ends at a unit that has a number.
  case logSegmentNumbers
  /// A log segment does not share room with pages or values.
  case logSegmentOverlap

  // MARK: Records

  /// The head of a record lies within its segment.
  case recordHead
  /// A record opens with the magic of one.
  case recordMagic
  /// A record is as long as its head.
  case recordShortest
  /// A record ends within its segment.
  case recordLongest
  /// A record is the one that was written there, whole.
  case recordChecksum
  /// A record of an older session does not count.
  case recordSession
  /// Records follow one another without gaps.
  case recordSequence
  /// A record names the one before it.
  case recordBefore
  /// The pieces of the log follow one another by sequence.
  case pieceSequence
  /// The pieces of the log follow one another by checksum.
  case pieceChecksum
  /// Pieces of the log begin where records may.
  case pieceAlignment
  /// A piece of the log begins within its segment.
  case pieceStart
  /// A closed piece of the log reaches its end.
  case pieceEnd
  /// A lost record that was durable is reported, and not taken for a torn one.
  case durableSequence
  /// A lost superblock that was durable is reported, and not replaced by an older one.
  case durablePublication
  /// Behind the end of the log, records of other sessions prove no commit.
  case behindSession
  /// Behind the end of the log, records before it prove no commit beyond it.
  case behindSequence
  /// Behind the end of the log, no segment is searched twice.
  case behindTwice
  /// Behind the end of the log, the search ends.
  case behindSteps
  /// A closed log holds nothing behind its end.
  case cleanLog
  /// No commit lies between the directory and the log.
  case logAfterDirectory

  // MARK: Operations of records

  /// A number in a record fits 64 bits.
  case varintRange
  /// A key shares no more with the one before it than that has.
  case operationShared
  /// A key in the log is one that a tree takes.
  case operationKey
  /// A reference to a large value in the log is as long as one.
  case operationStub
  /// A tree is made once.
  case operationTree
  /// The kernel's own trees are not dropped.
  case operationDropped
  /// Large values that are told of in the log have identifiers that can be counted on.
  case operationValueID
  /// Values are appended to segments of values.
  case operationSegmentKind
  /// The used part of a segment of values does not shrink.
  case operationSegmentGrowth
  /// The used part of a segment of values lies within it.
  case operationSegmentEnd
  /// The live bytes of a segment of values can be counted.
  case operationSegmentLive
  /// A new segment of values has some units, and not too many.
  case operationSegmentUnits
  /// A new segment of values does not cover the superblock.
  case operationSegmentStart
  /// The used part of a new segment of values lies within it.
  case operationSegmentUsed
  /// No more is added to a new segment of values than is used.
  case operationSegmentAdded
  /// A new segment of values ends at a unit that has a number.
  case operationSegmentNumbers
  /// A new segment of values shares room with no other.
  case operationSegmentOverlap

  // MARK: Pages

  /// A reference to a page is as long as a page may be: it fits the buffer.
  case pageReference
  /// A page that the file ends in does not count.
  case pageEnd
  /// A page is the one that was written.
  case pageChecksum
  /// A page belongs to the tree and level that it is looked for in.
  case pageOwner
  /// The same, for a page that is in the cache already.
  case pageOwnerCached
  /// The content of a page lies within it.
  case pageLength
  /// Leaves are at the lowest level.
  case leafLevel
  /// A leaf has an entry.
  case leafCount
  /// The keys of a leaf have a width that can be read.
  case leafWidth
  /// The arrays of a leaf lie within it.
  case leafArrays
  /// The rests of the keys of a leaf follow one another.
  case leafRests
  /// The values of a leaf begin within it.
  case leafValuesStart
  /// The values of a leaf follow one another.
  case leafValuesOrder
  /// The values of a leaf end within it.
  case leafValuesEnd
  /// A reference to a large value is as long as one.
  case leafStub
  /// A leaf without values has no references to large ones.
  case leafStubValues
  /// Integer keys of a leaf ascend.
  case leafOrder
  /// An inner page has a child.
  case innerCount
  /// Inner pages are above the lowest level.
  case innerLevel
  /// The separators of an inner page have a width that can be read.
  case innerWidth
  /// The counts of an inner page have a width that can be read.
  case innerCountWidth
  /// The arrays of an inner page lie within it.
  case innerArrays
  /// The rests of the separators of an inner page follow one another.
  case innerRests
  /// The separators of an inner page end within it.
  case innerEnd
  /// Integer separators of an inner page ascend.
  case innerOrder
  /// Looking up a key meets pages of the tree's kind.
  case lookupKind
  /// A cursor meets pages of the tree's kind.
  case cursorKind
  /// A checkpoint meets pages of the tree's kind.
  case mergeKind
  /// A compaction meets pages of the tree's kind.
  case relocationKind
  /// A compaction takes nothing for a page that is longer than one.
  case relocationLength
  /// A cursor that goes on to another leaf comes further.
  case cursorProgress

  // MARK: Large values

  /// What is read as a reference to a large value is as long as one.
  case stubLength
  /// A large value is of a length and identifier that may be.
  case stubRange
  /// An entry of the tree of extents is as long as one.
  case extentEntry
  /// An extent fits a segment.
  case extentCount
  /// An extent that the file ends in does not count.
  case extentEnd
  /// An extent is the one that was written.
  case extentChecksum
  /// An extent is the one that its entry says.
  case extentKey
  /// An extent is as long as its entry says.
  case extentLength
  /// The extents of a large value follow one another.
  case extentNumber
  /// All of a large value is there.
  case valueLength

  // MARK: check()

  /// Both copies of the superblock are whole.
  case reportSuperblock
  /// Log segments have their headers.
  case reportLogHeader
  /// What is reached lies in a segment.
  case reportSegment
  /// What is reached lies in the used part of its segment.
  case reportUsed
  /// Pages are of the tree's kind.
  case reportKind
  /// Pages are reached once.
  case reportPagesOnce
  /// The directory's count of entries.
  case reportEntries
  /// The directory's count of pages.
  case reportPages
  /// The directory's count of bytes.
  case reportBytes
  /// The directory's count of large values.
  case reportLargeValues
  /// Separators ascend.
  case reportSeparators
  /// The counts of inner pages.
  case reportBelow
  /// Keys ascend.
  case reportKeys
  /// Keys are not below the separator before their page.
  case reportLow
  /// Keys are below the separator behind their page.
  case reportHigh
  /// A large value belongs to one entry.
  case reportShared
  /// Entries of the tree of extents are whole.
  case reportExtentEntry
  /// Extents belong to a value.
  case reportExtentUse
  /// Values have all their extents.
  case reportExtents
  /// Numbers of large values to come are free.
  case reportNextValue
  /// The directory's live bytes of segments.
  case reportLive
}

extension Verification {
  #if CAMBIUM_VERIFICATION_SWITCHES
    /// The checks that are not made. Set before anything else runs.
    nonisolated(unsafe) static var switchedOff: [Verification] = []
  #endif

  /// Whether the condition holds; it is not looked at if the check is switched off.
  @inline(__always)
  func holds(_ condition: @autoclosure () -> Bool) -> Bool {
    #if CAMBIUM_VERIFICATION_SWITCHES
      for check in Verification.switchedOff where check == self { return true }
    #endif
    return condition()
  }
}
