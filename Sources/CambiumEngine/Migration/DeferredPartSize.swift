/// What a part of the work that migrations put off came to
/// (``EntityStore/runDeferredPart(maximumRows:durably:begins:)``).
public struct DeferredPart: Sendable, Equatable {
  /// The rows that it went through.
  public var rows: Int
  /// The row that its task goes on at; nil if it is done.
  public var nextRow: UInt64?
  /// Whether any task is left.
  public var isLeft: Bool
  /// The commit that it builds on.
  public var base: UInt64
  /// Its own.
  public var sequence: UInt64
  /// Whether others could write meanwhile.
  public var isBesideOthers: Bool
  /// Whether some had the turn to write meanwhile, where that is known.
  public var othersWrote: Bool

  /// What a part came to.
  public init(
    rows: Int, nextRow: UInt64?, isLeft: Bool, base: UInt64, sequence: UInt64, isBesideOthers: Bool = false,
    othersWrote: Bool = false
  ) {
    self.othersWrote = othersWrote
    self.isBesideOthers = isBesideOthers
    self.rows = rows
    self.nextRow = nextRow
    self.isLeft = isLeft
    self.base = base
    self.sequence = sequence
  }
}

/// How many rows a part of what migrations put off has at most
/// (``EntityStore/runDeferredPart(within:durably:begins:)``).
public struct DeferredPartLimit: Sendable, Equatable {
  /// The rows that are gone through while nobody else may write. At least 1 is.
  public var rows: Int
  /// The rows that are written anew while others may write; 0 if that is not to be done.
  public var rowsBesideOthers: Int

  /// Some rows.
  public init(rows: Int, rowsBesideOthers: Int = 0) {
    self.rows = rows
    self.rowsBesideOthers = rowsBesideOthers
  }
}

/// How many rows the next part of what migrations put off has, and whether it has to be durable.
///
/// Nobody else writes while most parts are done, and nobody can stop them. So they are short, unless nobody else has
/// written for a while: then they are longer, which takes less work for each row. And so seldom is a part durable that
/// syncs are not most of the work. Parts beside which others write are as long as one who wants to stop the work may
/// have to wait.
public struct DeferredPartSize: Sendable {
  /// What a part is to take, without its sync, where others write. They wait for a part at most, a few of them for two.
  public static let aim = Duration.microseconds(200)
  /// The same where nobody else does.
  public static let aimAlone = Duration.milliseconds(40)
  /// What a part is to take, with its syncs, beside which others write: they wait for one of these.
  public static let aimBesideOthers = Duration.milliseconds(100)
  /// The same where nobody does, although they could. What it replaces keeps its memory until it ends, and is then what
  /// the next one makes its pages in: new memory would take longer to be had than all of the syncs. Where syncs are so
  /// slow that the shortest part takes more than a quarter of this, four times as long as that, ``aimBesideOthers`` at
  /// most.
  public static let aimBesideNobody = Duration.milliseconds(25)
  /// What parts have to take together, without a commit of others between, for that.
  public static let quiet = Duration.milliseconds(200)
  /// What parts take together until one is made durable.
  public static let span = Duration.milliseconds(50)
  private static let range = 64...65_536
  private static let rangeBesideOthers = 1024...262_144

  /// For the next part.
  public private(set) var rows = 256
  /// For the next part, if others may write beside it. Each costs three syncs.
  public private(set) var rowsBesideOthers = 16_384
  /// What the last part took.
  public private(set) var last = Duration.zero
  /// Whether the next part is to be durable.
  public private(set) var isDurable = false
  /// What parts took since one was.
  private var since = Duration.zero
  private var lastCommit: UInt64?
  /// What the shortest part took beside which others could write and did not.
  private var shortest = aimBesideOthers
  /// What parts took since others committed.
  private var alone = Duration.zero

  /// For the first part.
  public init() {}

  /// Takes note of a part and what it took.
  public mutating func note(_ duration: Duration, _ part: DeferredPart) {
    if part.isBesideOthers { return noteBesideOthers(duration, part) }
    alone = part.base == lastCommit ? min(Self.quiet, alone + min(Self.quiet, duration)) : .zero
    lastCommit = part.sequence
    last = duration
    let aim = alone >= Self.quiet ? Self.aimAlone : Self.aim
    let isFull = part.rows >= rows
    // What the sync of a durable part took of the time is not known: that it was long says nothing.
    let tells = !isDurable || duration < aim / 2
    if isDurable {
      isDurable = false
      since = .zero
    } else {
      since = min(Self.span, since + min(Self.span, duration))
      isDurable = since >= Self.span
    }
    guard tells, duration > aim * 2 || (isFull && duration < aim / 2) else { return }
    rows = Self.changed(rows, duration, aim, Self.range)
  }

  private mutating func noteBesideOthers(_ duration: Duration, _ part: DeferredPart) {
    // What others committed beside it is not known.
    lastCommit = part.sequence
    last = duration
    // What it wrote was durable before it was noted.
    isDurable = false
    since = .zero
    var aim = Self.aimBesideOthers
    if !part.othersWrote {
      shortest = min(shortest, duration)
      aim = min(aim, max(Self.aimBesideNobody, shortest * 4))
    }
    guard duration > aim * 2 || (part.rows >= rowsBesideOthers && duration < aim / 2) else { return }
    rowsBesideOthers = Self.changed(rowsBesideOthers, duration, aim, Self.rangeBesideOthers)
  }

  private static func changed(_ rows: Int, _ duration: Duration, _ aim: Duration, _ range: ClosedRange<Int>) -> Int {
    // No more than four times as many at once: a part may have met what others do not.
    let wanted = Double(rows) * min(4, aim / max(duration, .microseconds(1)))
    return min(max(Int(wanted), range.lowerBound), range.upperBound)
  }
}
