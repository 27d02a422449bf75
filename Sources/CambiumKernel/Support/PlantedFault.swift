/// Mistakes that `.ci/planted` plants in the kernel, one at a time, to show that some test notices each (Specs/06).
///
/// A site has the mistake beside the right code: `if !isPlanted(.sessionNotSynced) { try syncNow() }`. As the kernel is
/// usually built, `isPlanted` is the constant `false`. With the compilation condition
/// `CAMBIUM_VERIFICATION_SWITCHES`, the environment variable `CAMBIUM_PLANTED` names the one mistake that the process
/// makes.
enum PlantedFault: CaseIterable {
  // MARK: LogScanner

  /// The search behind the end of the log looks at one segment.
  case searchBehindEndsEarly
  /// The search behind the end does not follow the header of a segment whose records are damaged.
  case headerNamesNothing
  /// A log may be without its last records, whatever says that they were durable.
  case lostRecordsUnseen

  // MARK: LogWriter

  /// A record says of itself that it is durable.
  case recordClaimsItself
  /// A record names the segment that it lies in as the next one.
  case recordNamesItsSegment
  /// The first record of a segment comes without the header that names the next one.
  case headerNotWrittenAnew
  /// A session begins behind a header that may be damaged.
  case rottenHeaderStays
  /// The log moves on and leaves the mark of shared stores behind.
  case markNotErased

  // MARK: Store+Open

  /// A recovery does not sync the records that it copies.
  case recoveredRecordsNotSynced
  /// A recovery takes the first record that nothing proves for a proved one.
  case oneMoreRecordProved
  /// Trees that the log makes do not raise the next identifier.
  case treeOfLogForgotten
  /// Large values in the log do not raise the next identifier.
  case valueOfLogForgotten
  /// A recovery keeps the log segments that it has given up.
  case oldLogKept

  // MARK: freeDeadSegments

  /// A reclaimer does not ask what other processes hold.
  case foreignPinsNotAsked
  /// A reclaimer takes no heed of retained commits.
  case retainedNotHeld
  /// A view does not hold the segments that were born in its generation.
  case birthNotHeld
  /// A large value is born in the publication that lists its segment.
  case valueBornTooLate
  // MARK: Store+Sync

  /// A sync counts for a commit that was appended while the sync ran.
  case groupCommitCoversLaterAppends
  /// A checkpoint counts a sync that was already running.
  case ticketOfRunningSync
  /// A store that a full device has poisoned says that nothing was changed.
  case fullDeviceHidesPoison
  /// A failed sync passes for one that succeeded.
  case failedSyncIgnored
  /// A caller that needs a sync of its own waits for the one that is running.
  case syncNowJoinsRunningSync

  // MARK: Store+Checkpoint

  /// A checkpoint takes a sync that began before its directory was written for its first one.
  case firstSyncBeganBefore
  /// A checkpoint takes a sync that began before its superblock was written for its second one.
  case secondSyncBeganBefore
  /// A checkpoint that is given up forgets log segments that commits prepared meanwhile.
  case givenUpCheckpointForgetsLog
  /// A checkpoint writes its superblock before the sync of the pages has returned.
  case superblockBeforeFirstSync
  /// A checkpoint frees what it superseded before its superblock is durable.
  case publishedBeforeSecondSync
  /// A checkpoint leaves out the counters of the commits that it takes in.
  case mergeForgetsCounters
  /// The large values that only a delta of a dropped tree knows are not freed.
  case droppedTreeKeepsValues
  /// The log of a commit by publication begins with the number of that commit.
  case publicationMarkTooEarly
  /// A checkpoint passes over a commit that left no trace in the delta.
  case emptyCommitUnpublished
  /// A publication does not take in the delta that a given-up checkpoint left.
  case frozenDeltaForgotten
  /// Freeing a large value leaves those of its extents that only the deltas know.
  case freedValueKeepsNewExtents
  /// A durable publication keeps the log segments before its mark.
  case logBeforeMarkKept
  /// Freezing the delta does not note which tree identifier comes next.
  case freezeForgetsNextTree
  /// A checkpoint of a delta that was frozen before claims the commits since.
  case frozenSequenceOfNow

  // MARK: Store+Commit

  /// A commit appends its record before the large values in it are durable.
  case recordBeforeItsValues
  /// A commit does not release the extents that its own transaction superseded.
  case supersededExtentsKept
  /// A commit is acknowledged without its sync.
  case commitDoesNotWait
  /// A record leaves out the counters that the transaction changed.
  case recordLacksCounters
  /// A record does not say which value identifier comes next.
  case recordLacksNextValue
  /// A commit leaves out deletions.
  case netDeletionLost
  /// A commit does not change the number of entries.
  case countNotCommitted
  /// Views see a commit before its sync.
  case visibleBeforeDurable
  /// A commit does not make sure of the room that its checkpoint needs.
  case reserveNotTaken

  // MARK: Store+Publish

  /// Opening writes the whole copy of the superblock again before the torn one.
  case wholeCopyRewrittenFirst
  /// Opening writes both copies of the superblock again without a sync between them.
  case copiesProvedTogether
  /// Records are appended before the superblock of their session is durable.
  case sessionNotSynced
  /// A publication writes one copy of its superblock.
  case secondCopyNotWritten
  /// Giving room back cuts the last used unit off.
  case trimCutsUsedUnit
  /// A publication does not release the pages of the directory before it.
  case oldDirectoryKept
  /// A segment counts as dead one publication too early.
  case deadOnePublicationEarly

  // MARK: Store

  /// A view does not hold the pages that it reads.
  case viewNotPinned
  /// A view that has gone still holds its pages.
  case viewNeverUnpinned
  /// A store goes on writing after a failed sync.
  case poisonedStoreWrites

  // MARK: FileSpace

  /// The end that is cut off a segment is free although older publications list it.
  case cutEndFreeAtOnce
  /// Pages that were replaced still count as reached.
  case releaseForgotten

  // MARK: SegmentWriter

  /// At strict durability a pass begins in the block of the pass before it.
  case strictPassSharesBlock

  // MARK: WriteBehind

  /// A flush returns while another thread is still writing.
  case drainDoesNotWait
  /// A write that failed on another thread is not told to the pass.
  case failedWriteBehindForgotten

  // MARK: Store+Rewrite

  /// A compaction does not move the last segment of the file.
  case compactionMissesLastSegment

  // MARK: Store+Compact

  /// Room stays confined after a step of a compaction.
  case boundsOutliveMove

  // MARK: Store+CompactLog

  /// A superblock names a moved log that may not be durable.
  case movedLogNotSynced

  // MARK: RelocationPlan

  /// Cutting a segment leaves an item that lies across the cut.
  case itemAcrossCutStays

  // MARK: Store+Restore

  /// Going back to a retained commit still counts what came later.
  case restoreKeepsNewerCounts

  // MARK: Store+Checkpoint

  /// Going back to a retained commit keeps the commits that it gives up.
  case restoreKeepsDelta

  // MARK: RetainedCommit

  /// A released identifier names another retained commit.
  case retainedIdentifierReused
  /// A release that failed leaves the commit released in memory.
  case failedReleaseForgetsCommit
  /// A view of a retained commit does not hold its pages.
  case retainedViewNotPinned
  /// A retained commit lapses a millisecond after its time.
  case retainedLapsesLate

  // MARK: Store+Copy

  /// A copy of a store lacks the last segment.
  case copyMissesLastSegment
  /// A copy does not check at its end that the commit is still retained.
  case copyTakesLapsedCommit

  // MARK: Store+Room

  /// Room that a view held back is not given back later.
  case roomDebtForgotten

  // MARK: Store+Pins

  /// A view does not lock its pin against other processes.
  case pinNotLocked
  /// The pin of the last view of a generation stays locked.
  case pinNeverUnlocked
  /// A view shows a commit of another process that may not be durable.
  case foreignCommitShownUnsynced

  // MARK: Store+Suspend

  /// Suspending a store leaves commits that are not durable.
  case suspendedCommitsUnsynced

  // MARK: Store+Turn

  /// A forked child uses the store of its parent.
  case forkedChildWrites

  // MARK: DeltaList

  /// The search for the last lesser key misses keys before a leaf.
  case lastBeforeNotStrict
  /// A leaf of a delta takes the first key of the next leaf.
  case leafTakesKeyOfNext

  // MARK: Cursor

  /// A cursor shows a change that a newer delta supersedes.
  case cursorShowsOlderChange
  /// A cursor that turns round goes on from where its sources stand.
  case cursorTurnsWithoutSeek
  /// A cursor that goes backwards prefers the older of two changes.
  case descendingTakesOlder
  /// A cursor goes on behind a page that it could not read.
  case failedStepGoesOn

  // MARK: ChangeStream

  /// A merge takes the older of two changes of a key.
  case mergeTakesOlderChange

  // MARK: TreeMerge

  /// A merge does not free the large value that it replaces.
  case replacedValueNotFreed
  /// A leaf takes the first key of the page behind it.
  case leafTakesKeyBehindBound

  // MARK: LeafPatch

  /// A patched leaf takes the first key of the page behind it.
  case patchTakesKeyBehindBound
  /// A patched leaf loses the last entry behind the last change.
  case patchLosesPageEnd

  // MARK: MergeContext

  /// The room of an extent that is not reached any more stays taken.
  case replacedExtentNotReleased

  // MARK: Savepoint

  /// Going back to a savepoint keeps the gathered values that came after it.
  case savepointKeepsTail
  /// Going back to a savepoint undoes the last change before it.
  case savepointUndoesOneMore
  /// Going back to a savepoint keeps the numbers of entries.
  case savepointKeepsCounts

  // MARK: WriteTransaction+OwnRoom

  /// A transaction writes over its pages that a cursor still reads.
  case ownRoomIgnoresHolds

  // MARK: WriteTransaction

  /// A cursor of a transaction sees what the transaction writes later.
  case cursorSeesLaterWrites
  /// A transaction takes keys that no page can hold.
  case keyLengthUnchecked
  /// A transaction writes large values while a checkpoint may still be given up.
  case valuesBesideCheckpoint

  // MARK: KeyEncoder

  /// Null comes first in a descending part of a key.
  case nullFirstInDescending
  /// Minus one has the key of zero.
  case minusOneAsZero

  // MARK: KeyEncoder+Text

  /// A byte that looks like an escape is written as it is.
  case escapeNotEscaped
  /// A key that was cut passes for an exact one.
  case cutKeyTakenForExact
  /// A decimal of 129 digits sorts among the smaller ones.
  case largeDecimalMisplaced

  // MARK: KeyRange

  /// The end of a range of prefixes lies behind other keys.
  case prefixBoundKeepsTail
}

extension PlantedFault {
  #if CAMBIUM_VERIFICATION_SWITCHES
    /// The mistake that this process makes, if it makes one of the kernel's.
    static let active = allCases.first { "\($0)" == plantedFaultName() }
  #endif
}

/// Whether this process makes a mistake of the kernel.
@inline(__always)
func isPlanted(_ fault: PlantedFault) -> Bool {
  #if CAMBIUM_VERIFICATION_SWITCHES
    return PlantedFault.active == fault
  #else
    return false
  #endif
}

#if CAMBIUM_VERIFICATION_SWITCHES
  /// The name of the mistake that this process makes in some layer; empty if it makes none.
  public func plantedFaultName() -> String {
    environmentVariable("CAMBIUM_PLANTED").map { String(cString: $0) } ?? ""
  }

  // The kernel imports no C library, and only a build for tests declares this one function of it.
  @_silgen_name("getenv")
  private func environmentVariable(_ name: UnsafePointer<CChar>) -> UnsafePointer<CChar>?
#endif
