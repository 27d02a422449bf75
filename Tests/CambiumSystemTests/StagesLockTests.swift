import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumSystem

/// The lock by which processes agree who migrates a store by stages; each open file stands for a process.
@Suite struct StagesLockTests {
  @Test func oneProcessAtATime() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      let environment = SystemEnvironment()
      try FileDevice.create(at: path) { (device) throws(StoreError) in
        try Store.format(device, environment: environment)
      }.close()
      func open() throws -> Store {
        try Store.open(
          on: try FileDevice(path: path, access: .readWrite, sharing: .shared), environment: environment)
      }
      let first = try open()
      let second = try open()
      let order = Locked<[String]>([])
      let ended = DispatchSemaphore(value: 0)
      try first.beginStages()
      Thread.detachNewThread {
        do {
          try second.beginStages()
          order.withLock { $0.append("second") }
          second.endStages()
        } catch { order.withLock { $0.append("\(error)") } }
        ended.signal()
      }
      // Reading and writing go on in both.
      for store in [first, second] {
        let t = try store.beginWrite()
        _ = try t.createTree(.integer)
        try t.commit()
      }
      order.withLock { $0.append("first") }
      first.endStages()
      ended.wait()
      #expect(order.withLock { $0 } == ["first", "second"])
      // A process that ends gives the place up.
      try first.beginStages()
      try first.close()
      try second.beginStages()
      second.endStages()
      try second.close()
    }
  }

  @Test func aFileOfOnesOwnNeedsNone() throws {
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 1))
    try store.beginStages()
    try store.beginStages()
    store.endStages()
  }
}
