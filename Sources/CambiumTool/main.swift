// cambium: looks into stores and looks after them, without the application that made them.
let status = runCommandLine(Array(CommandLine.arguments.dropFirst()))
leave(status)
