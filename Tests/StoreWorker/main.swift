// A process that uses a store beside others, for the tests of several processes.
//
//     StoreWorker write <store> <id> <file of acknowledgements>      commits until it is killed
//     StoreWorker read <store>                                       checks what it sees until it is killed
//     StoreWorker alternate <store> <id> <count>                     commits each time that it is its turn
//     StoreWorker objects <store> <count>                            saves objects, one at a time, and renames one
//     StoreWorker count <store> <id> <count>                         counts up notes that others count up as well
//     StoreWorker migrate <store> <count>                            migrates notes from model to model
//     StoreWorker stages <store>                                     migrates notes by stages
//     StoreWorker notes <store>                                      checks notes until it is killed
//     StoreWorker fork <store>                                       forks, and uses the store in the child
let arguments = CommandLine.arguments
do {
  switch (arguments.dropFirst().first, arguments.count) {
  case ("write", 5): try Writer(path: arguments[2], id: number(arguments[3]), acknowledgements: arguments[4]).run()
  case ("read", 3): try Reader(path: arguments[2]).run()
  case ("alternate", 5): try alternate(path: arguments[2], id: number(arguments[3]), count: number(arguments[4]))
  case ("objects", 4): try saveObjects(path: arguments[2], count: number(arguments[3]))
  case ("count", 5): try countNotes(path: arguments[2], id: number(arguments[3]), count: number(arguments[4]))
  case ("migrate", 4): try migrateNotes(path: arguments[2], count: number(arguments[3]))
  case ("stages", 3): try migrateNotesByStages(path: arguments[2])
  case ("notes", 3): try readNotes(path: arguments[2])
  case ("fork", 3): try useAfterFork(path: arguments[2])
  default: throw WorkerError("unknown command")
  }
} catch {
  leave("\(error)")
}
