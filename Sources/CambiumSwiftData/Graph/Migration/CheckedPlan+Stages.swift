import Cambium
import CambiumEngine

extension CheckedPlan {
  /// There must be a stage from each version to the next, in order, and no other.
  func checkStages() throws {
    for (number, stage) in stages.enumerated() {
      let (from, to) = (try place(of: stage.versions.from, number), try place(of: stage.versions.to, number))
      if to <= from {
        throw refused(
          "has \(described(number)), which leads back; a stage leads to the next version that schemas lists")
      }
      if to > from + 1 {
        let left = versions[(from + 1)..<to].map { $0.name }.joined(separator: ", ")
        throw refused(
          "has \(described(number)), which leaves out \(left). Write a stage to each version, or remove "
            + "\(to == from + 2 ? "that version" : "those versions") from schemas")
      }
      if let other = stages[..<number].firstIndex(where: { sameVersion($0.versions.from, stage.versions.from) }) {
        throw refused("has two stages \(stageName(from)), number \(other + 1) and number \(number + 1). Remove one")
      }
      if number > 0, try place(of: stages[number - 1].versions.from, number - 1) > from {
        throw refused(
          "has \(described(number)) behind \(described(number - 1)). List stages in the order of schemas")
      }
    }
    for place in versions.indices.dropLast()
    where !stages.contains(where: { sameVersion($0.versions.from, versions[place].type) }) {
      throw refused(
        "has no stage \(stageName(place)). Add .lightweight(fromVersion: \(versions[place].type).self, toVersion: "
          + "\(versions[place + 1].type).self) or a custom one")
    }
  }

  /// Each stage must be one that can be inferred, and each original name must name something.
  func checkMappings() throws {
    for (place, (version, next)) in zip(versions, versions.dropFirst()).enumerated() {
      do throws(EngineError) { _ = try SchemaMapping.infer(from: version.source, to: next.stored) } catch {
        var reasons = "\(error)"
        if case .notInferable(let obstacles) = error {
          let texts = obstacles.map {
            "\($0)".replacing("a renaming identifier", with: "originalName").replacing(
              "renaming identifier", with: "originalName")
          }
          reasons = texts.joined(separator: "; ")
        }
        throw refused(
          "has a stage \(stageName(place)) that cannot be made: \(reasons). Put a version between the two that has both "
            + "forms, and carry the values over in a custom stage",
          CambiumError(.migrationMissingMappingModel, reasons))
      }
      let strays = ModelStep(from: version.source, to: next.stored).strayIdentifiers.map { stray in
        let place = stray.entity + (stray.property.map { "." + $0 } ?? "")
        return "'\(stray.identifier)' of \(place), and the stage would drop \(stray.drops.joined(separator: ", "))"
      }
      if !strays.isEmpty {
        throw refused(
          "has a stage \(stageName(place)) with an originalName that names nothing: \(strays.joined(separator: "; ")). An "
            + "original name is a name in \(version.name), the version just before. Correct or remove it")
      }
    }
  }

  private func place(of version: any VersionedSchema.Type, _ number: Int) throws -> Int {
    if let place = versions.firstIndex(where: { sameVersion($0.type, version) }) { return place }
    throw refused(
      "has \(described(number)), and schemas lacks \(version.versionIdentifier) (\(version)). List the schema, or remove the stage"
    )
  }

  private func described(_ number: Int) -> String {
    let stage = stages[number]
    let (from, to) = stage.versions
    return
      "the \(stage.isLightweight ? "lightweight" : "custom") stage from \(from.versionIdentifier) (\(from)) to "
      + "\(to.versionIdentifier) (\(to))"
  }
}

private func sameVersion(_ a: any VersionedSchema.Type, _ b: any VersionedSchema.Type) -> Bool {
  ObjectIdentifier(a) == ObjectIdentifier(b)
}
