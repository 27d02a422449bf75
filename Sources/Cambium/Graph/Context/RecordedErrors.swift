/// The errors of calls that cannot throw, the oldest first, and at most ``most`` of them.
struct RecordedErrors {
  private static let most = 100

  private(set) var all: [CambiumError] = []
  /// The errors by which a change was lost. The next save throws the first one.
  var ofLostChanges: [any Error] = []

  mutating func append(_ error: CambiumError, losesChange: Bool) {
    if all.count < Self.most { all.append(error) }
    if losesChange, ofLostChanges.count < Self.most { ofLostChanges.append(error) }
  }
}
