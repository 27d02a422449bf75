// Core Data code observes the progress of a migration by a key path: `manager.observe(\.migrationProgress) { … }`.
// Apple's Foundation has `observe` for every object; Foundation on other platforms has none. This file declares it for
// that one property there.

@_spi(CoreData) import Cambium

#if !canImport(Darwin)
  /// When an observer is called, and which values it asks for. Only ``initial`` makes a difference: an observer is
  /// always given the value before and the value after.
  public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// Makes options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The new value.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The old value.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// Calls the observer immediately as well.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
  }

  /// A change of a value that is observed.
  public struct NSKeyValueObservedChange<Value> {
    /// The value before; `nil` for the call that ``NSKeyValueObservingOptions/initial`` asks for.
    public let oldValue: Value?
    /// The value after.
    public let newValue: Value?
    /// Always `false`: the observer is called after the change.
    public var isPrior: Bool { false }
  }

  /// An observation, which ends when it is invalidated or released.
  public final class NSKeyValueObservation {
    private weak var manager: MigrationManager?
    private let number: Int

    fileprivate init(_ manager: MigrationManager, _ number: Int) { (self.manager, self.number) = (manager, number) }

    /// Ends the observation.
    public func invalidate() {
      manager?.endObservingProgress(number)
      manager = nil
    }

    deinit { manager?.endObservingProgress(number) }
  }

  extension MigrationManager {
    /// Calls a closure with each change of ``MigrationManager/migrationProgress``, on the thread of the migration, as
    /// long as the result is there.
    public func observe(
      _ keyPath: KeyPath<MigrationManager, Float>, options: NSKeyValueObservingOptions = [],
      changeHandler: @escaping (MigrationManager, NSKeyValueObservedChange<Float>) -> Void
    ) -> NSKeyValueObservation {
      if options.contains(.initial) {
        changeHandler(self, NSKeyValueObservedChange(oldValue: nil, newValue: self[keyPath: keyPath]))
      }
      return NSKeyValueObservation(
        self,
        observeProgress { [weak self] old, new in
          if let self { changeHandler(self, NSKeyValueObservedChange(oldValue: old, newValue: new)) }
        })
    }
  }
#endif
