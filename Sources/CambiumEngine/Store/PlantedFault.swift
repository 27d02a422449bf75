import CambiumKernel

/// Mistakes that `.ci/planted` plants in the engine, one at a time, to show that some test notices each: see the
/// kernel's `PlantedFault`.
enum PlantedFault: CaseIterable {
  // MARK: IndexKeeper

  /// An update leaves the index entry of the old value.
  case updateKeepsOldEntry
  /// A deletion leaves the index entries of the row.
  case deletionKeepsEntries
  /// An update that keeps a cut key is not checked against its constraint.
  case cutKeyNotCheckedAgain
  /// A partial index takes rows that its predicate leaves out.
  case partialIndexTakesAll
  /// A constraint takes two nulls for the same value.
  case nullsCountAsEqual

  // MARK: IndexBatch

  /// A constraint does not compare two rows of one transaction.
  case uniqueSkipsOwnRows
  /// A constraint does not compare a new row with stored ones.
  case uniqueSkipsStoredRows

  // MARK: EntityTransaction

  /// Two rows violate a constraint although only their cut keys agree.
  case cutKeysTakenForEqual
  /// A row that no longer has a value still counts against a constraint.
  case swappedValuesRefused
  /// An insertion replaces an object that has the same reference.
  case insertOverRow
  /// A transaction does not note which row numbers it gave out.
  case rowNumbersReused
  /// A transaction commits although a row and its indexes are out of step.
  case brokenTransactionCommits

  /// A transaction commits although a link leads to an object that does not exist.
  case missingDestinationsAccepted

  // MARK: RowWriter

  /// A change does not advance the version of its row.
  case rowVersionStays
  /// A writer saves over a change that was made since it began.
  case rowChangedMeanwhile

  // MARK: EntityTransaction+History

  /// History leaves out deleted objects.
  case historyForgetsDeletions
  /// The changes of a large transaction overwrite each other in history.
  case historyPartsOverwritten
  /// Deleting history up to a transaction deletes the one behind it.
  case historyDeletesOneMore
  /// History that starts again follows on what was told before.
  case restartedHistoryHasNoGap

  // MARK: HistoryCodec

  /// History does not keep the values of deleted objects.
  case tombstonesForgotten
  /// The numbers of history are used again after a rollback of a migration.
  case restoredHistoryReused

  // MARK: EntityMigration+Values

  /// A migration applies a default over a stored value.
  case defaultOverStoredValue

  // MARK: EntityMigration

  /// A later migration replaces the default that an earlier one gave to rows.
  case laterDefaultOverEarlier
  /// A later migration forgets the default that an earlier one gave to rows.
  case earlierDefaultForgotten
  /// A later migration forgets that an earlier one replaced null.
  case earlierRequirementForgotten
  /// A migration leaves null in an attribute that may no longer be null.
  case nullStaysInRequired

  // MARK: NumericConversion

  /// A conversion takes a number that is too large by one.
  case conversionTakesTooLarge

  // MARK: DropRule

  /// An application with a lower number than the store's drops parts of a model that it knows.
  case lowerNumberDrops
  /// An application drops parts of a newer model on the way back to a model that the store had before.
  case formerModelDrops

  // MARK: MigrationRun

  /// A migration does not tell open stores that the model has changed.
  case modelNumberStays
  /// The rows of a removed entity stay in a tree that others use.
  case removedRowsStay
  /// A migration does not check stored rows against a new constraint.
  case constraintNotBuilt
  /// Fetches use an index that a migration has put off.
  case unbuiltIndexUsed
  /// A migration goes on with rewriting that began under an earlier model.
  case begunRewritingGoesOn

  // MARK: DeferredTask

  /// A put-off index lacks the row at which the next part begins.
  case deferredIndexSkipsRow

  // MARK: DeferredRewriting

  /// Put-off rewriting skips the row at which the next part begins.
  case deferredRewritingSkipsRow
  /// Rewriting beside others forgets the rows that it left to a commit.
  case rewrittenBesideOthersLost

  // MARK: EntityStore+Rollback

  /// Row numbers are used again after a rollback of a migration.
  case rollBackReusesRows
  /// A rollback of a migration discards commits without being told to.
  case rollBackDiscardsCommits

  // MARK: IndexLookup

  /// A lookup does not see what its transaction wrote since it was made.
  case lookupKeepsOldCursor

  // MARK: IndexRanges

  /// A range of an index takes in the value that it must exclude.
  case boundTakenIn
  /// The bounds of a descending part are swapped.
  case descendingBoundsSwapped
  /// A range of an index takes in null.
  case nullWithinRange
  /// A fetch with a list of values leaves out the last one.
  case lastOfListMissing

  // MARK: RowSieve

  /// A filter loses the last row of a page.
  case sieveLosesRunEnd

  // MARK: RegisterProgram, DestinationMemo

  /// A program computes on with a sum that 64 bits do not hold.
  case programIgnoresOverflow
  /// A comparison that a program cannot decide does not hold.
  case unknownTakenForNo
  /// A memo gives the answer of another object that has the same slot.
  case memoTakesNeighbour
  /// A destination condition never holds for a row without a destination.
  case noDestinationNeverHolds
  /// What a relationship leads to is taken to be there.
  case goneTakenForThere
  /// The objects that lead back to an owner are counted twice.
  case ownerCountedTwice
  /// Rows with equal keys are put in the reverse order.
  case equalRowsReversed
  /// A stretch of an index ends between rows with the same parts.
  case stretchEndsAnywhere
  /// Of rows with the same key, only the first one is asked.
  case distinctRowsPassedOver
  /// The last value of the first part of an index is passed over.
  case skippedValueMissing
}

extension PlantedFault {
  #if CAMBIUM_VERIFICATION_SWITCHES
    /// The mistake that this process makes, if it makes one of the engine's.
    static let active = allCases.first { "\($0)" == plantedFaultName() }
  #endif
}

/// Whether this process makes a mistake of the engine.
@inline(__always)
func isPlanted(_ fault: PlantedFault) -> Bool {
  #if CAMBIUM_VERIFICATION_SWITCHES
    return PlantedFault.active == fault
  #else
    return false
  #endif
}

/// True if filters leave every question to the evaluator. All tests hold with it too, because programs answer what
/// the evaluator does. `CAMBIUM_PLANTED=everythingToTheEvaluator` sets it in a build with switches.
let leavesAllToEvaluator: Bool = {
  #if CAMBIUM_VERIFICATION_SWITCHES
    return plantedFaultName() == "everythingToTheEvaluator"
  #else
    return false
  #endif
}()
