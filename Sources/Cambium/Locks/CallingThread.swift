import CambiumSystem

/// The thread that asks.
package enum CallingThread {
  /// A number that no other thread has while this one lives; never 0.
  package static var number: UInt { SystemEnvironment.currentThread() }
}
