import CambiumKernel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// Under Embedded Swift a condition names the one program to build, so that the linker gets no more. Elsewhere an
// argument names it.

private func run(_ program: () throws(StoreError) -> Void) {
  do throws(StoreError) { try program() } catch {
    say(error)
    failures += 1
  }
}

#if hasFeature(Embedded)
  func runProgram() {
    #if PROGRAM_KERNEL
      run(kernelProgram)
    #elseif PROGRAM_LOGGER
      runEngine(loggerProgram)
    #elseif PROGRAM_ENGINE
      runEngine(engineProgram)
    #elseif PROGRAM_MODEL
      run(modelProgram)
      run(crashProgram)
      run(farProgram)
    #endif
  }
#else
  @main struct DevicePrograms {
    static func main() {
      let size = 16 << 20
      RamDisk.memory = .allocate(byteCount: size, alignment: 16)
      switch CommandLine.arguments.dropFirst().first {
      case "kernel": run(kernelProgram)
      case "logger": runEngine(loggerProgram)
      case "engine": runEngine(engineProgram)
      case "model":
        run(modelProgram)
        run(crashProgram)
        run(farProgram)
      default:
        say("usage: DevicePrograms kernel|logger|engine|model\n")
        failures += 1
      }
      say(failures == 0 ? "OK\n" : "NOT OK\n")
      if failures > 0 { exit(1) }
    }
  }
#endif
