// FlightLog: real flights in a Cambium store, and questions to them. See FlightLogModel for the model.
do {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  if options.wantsHelp {
    say(Options.help)
  } else if options.tellsStory {
    try Story(data: try DataFolder(path: options.data), store: options.store).tell()
  } else {
    try Program(options: options).run()
  }
} catch let error as OptionError {
  say("FlightLog: \(error)")
  leave(2)
} catch {
  say("FlightLog: \(error)")
  leave(1)
}
