import CambiumEngine
import CambiumKernel

// What the programs of the engine share.

func say(_ error: EngineError) {
  switch error {
  case .store(let error): say(error)
  case .corrupt(let text), .misuse(let text), .unsupported(let text): say(text + "\n")
  default: say("an error of the engine\n")
  }
}

/// Runs a program of the engine, and counts its error as a failure.
func runEngine(_ program: () throws(EngineError) -> Void) {
  do throws(EngineError) { try program() } catch {
    say(error)
    failures += 1
  }
}

func makeStore(
  _ disk: RamDisk, _ board: Board, _ schema: Schema, _ options: StoreOptions
) throws(EngineError) -> EntityStore {
  let kernel: Store
  do throws(StoreError) {
    kernel = try Store.create(on: disk, environment: board, options: options)
  } catch { throw .store(error) }
  return try EntityStore.create(in: kernel, schema: schema)
}

func openStore(_ disk: RamDisk, _ board: Board, _ options: StoreOptions) throws(EngineError) -> EntityStore {
  let kernel: Store
  do throws(StoreError) {
    kernel = try Store.open(on: disk, environment: board, options: options)
  } catch { throw .store(error) }
  return try EntityStore.open(kernel)
}

func checkpoint(_ store: EntityStore) throws(EngineError) {
  do throws(StoreError) { try store.kernel.checkpoint() } catch { throw .store(error) }
}
