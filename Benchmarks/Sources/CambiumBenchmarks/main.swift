import Foundation

// Whatever is wrong with the arguments ends with 2, different answers with 1.
if CommandLine.arguments.contains("--help") {
  print(Options.help)
  exit(0)
}
let options: Options
do {
  options = try Options(Array(CommandLine.arguments.dropFirst()))
} catch let mistake as Options.Mistake {
  log("\(mistake.text)\n\(Options.help)")
  exit(2)
}
do {
  if !options.child.isEmpty {
    try ChildProgram(arguments: options.child).run()
    exit(0)
  }
  exit(try Program(options).run())
} catch {
  log("failed: \(error)")
  exit(1)
}
