import Synchronization

/// Whether somebody wants to know of blocks that do not begin for long: ``DebugLog/Topic/stalledBlocks``.
enum BlockCheck {
  static var isOn: Bool { blockCheckIsOn.load(ordering: .relaxed) }

  static func turn(on isOn: Bool) { blockCheckIsOn.store(isOn, ordering: .relaxed) }
}

private let blockCheckIsOn = Atomic(false)
