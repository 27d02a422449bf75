// One of the two stacks on one store, in a process of its own:
//
//     StackWorker models <store> <count>      saves notes by model classes
//     StackWorker objects <store> <count>     saves notes by managed objects
//
// Each saves `count` notes, one at a time, and reads the history of the other's saves meanwhile. It prints how many of
// the other's notes it saw, in the order in which they were saved, and ends when it has seen all of them.

import Foundation

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[3]) else {
  print("usage: StackWorker models|objects STORE COUNT")
  exit(2)
}
let url = URL(fileURLWithPath: arguments[2])
switch arguments[1] {
case "models": try runModels(url, count)
case "objects": try runObjects(url, count)
default: exit(2)
}
