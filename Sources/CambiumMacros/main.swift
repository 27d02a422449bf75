// The plug-in that expands Cambium's macros. The compiler starts it and asks over standard input; it answers over
// standard output until the input ends. No package is needed for that, so that nobody who uses Cambium has to build a
// parser of all of Swift first.

import CambiumMacroSupport

/// Answers until the compiler is done. A stream that is cut off or not of messages has no place to go on from.
func serve() -> Bool {
  var messages = StandardStreams()
  while true {
    switch messages.read() {
    case .message(let bytes):
      guard messages.write(Plugin.answer(bytes)) else { return false }
    case .end: return true
    case .cutOff: return false
    }
  }
}

exitProcess(serve() ? 0 : 1)
