// The least that a program can do with a store: makes one, puts a value, opens it again, reads the value.
import CambiumKernel
import CambiumSystem

let path = CommandLine.arguments.dropFirst().first ?? "minimal.store"
let environment = SystemEnvironment()
do throws(StoreError) {
  let device = try FileDevice.create(at: path) { (device) throws(StoreError) in
    try Store.format(device, environment: environment)
  }
  device.close()
  var store = try Store.open(on: FileDevice(path: path), environment: environment)
  let transaction = try store.beginWrite()
  let tree = try transaction.createTree(.integer)
  try transaction.put(tree, 1, Array("value".utf8))
  try transaction.commit()
  try store.close()
  store = try Store.open(on: FileDevice(path: path), environment: environment)
  let value = try store.snapshot().value(tree, 1) ?? []
  print(String(decoding: value, as: UTF8.self))
  try store.close()
} catch {
  print(error.description)
}
