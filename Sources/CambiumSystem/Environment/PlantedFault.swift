import CambiumKernel

/// Mistakes that `.ci/planted` plants in the system layer, one at a time, to show that some test notices each: see the
/// kernel's `PlantedFault`.
enum PlantedFault: CaseIterable {
  // MARK: FileDevice

  /// A failed sync of a file is not reported.
  case failedSyncSwallowed
  /// A read that was cut short passes for a whole one.
  case shortReadTakenForWhole
  /// A write that was cut short passes for a whole one.
  case shortWriteTakenForWhole
  /// A call that a signal interrupted is not made again.
  case interruptionFails
  /// A file that could not grow keeps what it has grown.
  case failedGrowthStays
  /// An exclusive opening does not see stores that share the file.
  case sharedUseUnseen
  /// A file system without reservation gets no zeros written ahead.
  case zerosNotWritten
  /// A file is closed while a call still uses its descriptor.
  case closesUnderReaders

  // MARK: FileDevice+Replace

  /// A file takes the place of another before its content is durable.
  case replacementNotSynced
  /// A replaced file is reported before its name is durable.
  case replacementNameNotSynced

  // MARK: FileDevice+Create

  /// A file gets its name before its content is durable.
  case creationNotSynced
  /// A file whose name may not be durable keeps it.
  case failedCreationKeepsName
  /// A temporary file is removed while another process fills it.
  case temporaryInUseRemoved

  // MARK: StoreRegistry

  /// The registry closes a store that another user still has.
  case registryClosesEarly

  // MARK: PlainFiles

  /// A file is read although it is longer than allowed.
  case plainFileLimitIgnored
}

extension PlantedFault {
  #if CAMBIUM_VERIFICATION_SWITCHES
    /// The mistake that this process makes, if it makes one of the system layer's.
    static let active = allCases.first { "\($0)" == plantedFaultName() }
  #endif
}

/// Whether this process makes a mistake of the system layer.
@inline(__always)
func isPlanted(_ fault: PlantedFault) -> Bool {
  #if CAMBIUM_VERIFICATION_SWITCHES
    return PlantedFault.active == fault
  #else
    return false
  #endif
}
