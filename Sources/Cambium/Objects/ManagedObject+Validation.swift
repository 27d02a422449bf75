import CambiumEngine

extension ManagedObject {
  /// Checks the rules of the model: of all properties, or of those that changed. Of transient attributes those that have a
  /// value: an object that was fetched, or that a child context handed over, has none.
  func validate(all: Bool) throws {
    var errors: [CambiumError] = []
    for property in info.checked {
      let name = property.name
      if property.isTransient {
        guard transients[name] != nil, let rules = property.rules, rules.type != .undefined,
          rules.type != .transformable
        else { continue }
        do { check(try transientEngineValue(property), rules, property.readRules, path: name, into: &errors) } catch {
          errors.append(
            error as? CambiumError ?? CambiumError(.managedObjectValidation, "\(error)", underlying: [error]))
        }
        continue
      }
      if property.isCheckedForNullOnly {
        if all || isChanged(property), try currentValue(at: property.place).isNull { errors.append(missing(name)) }
        continue
      }
      switch property.kind {
      case .attribute(_, let rules):
        guard all || isChanged(property) else { continue }
        check(try currentValue(property), rules, property.readRules, path: name, into: &errors)
      case .relationship(let r) where r.isToMany:
        guard all || isChanged(property) else { continue }
        guard !r.rules.isOptional || r.rules.minimumCount > 0 || r.rules.maximumCount > 0 else { continue }
        check(count: try currentToMany(r).count, r.rules, into: &errors)
      case .relationship(let r):
        guard all || isChanged(property), !r.rules.isOptional else { continue }
        if try currentToOne(r) == nil { errors.append(missing(name)) }
      }
    }
    try throwing(errors)
  }

  /// Checks whether a property may be set to a value: whether it can hold it, and the model's rules. For forms; the object stays as it
  /// is. Core Data: `validateValue:forKey:error:`, which saves call as well: here they call
  /// ``validateForInsert()`` and ``validateForUpdate()`` alone, which may be overridden.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; ``CambiumError/Code/invalidArgument`` for a value that the property cannot hold; the
  ///   validation errors that a save would throw.
  public func validateValue(_ value: Any?, forKey key: String) throws {
    let property = try settableProperty(key)
    var errors: [CambiumError] = []
    if let rules = property.rules {
      if rules.type == .undefined || property.isTransient && rules.type == .transformable { return }
      var value = value
      if property.isTransformed { value = try rules.untransformed(value, path: key, entity: entity.name) }
      check(
        try rules.accept(value, path: key, entity: entity.name), rules, property.readRules, path: key, into: &errors)
    } else if let r = property.relationship {
      let value = unwrapped(value)
      if r.isToMany {
        let objects = (value as? [ManagedObject]).map { Set($0) } ?? value as? Set<ManagedObject>
        guard let objects = value == nil ? [] : objects else {
          throw misfit(value ?? "nil", key, "a set or array of objects")
        }
        for object in objects { try checkDestination(object, r) }
        check(count: objects.count, r.rules, into: &errors)
      } else if let value {
        guard let object = value as? ManagedObject else { throw misfit(value, key, "an object") }
        try checkDestination(object, r)
      } else if !r.rules.isOptional {
        errors.append(missing(key))
      }
    }
    try throwing(errors)
  }

  /// Checks that no relationship denies the deletion.
  func validateDeletion() throws {
    var errors: [CambiumError] = []
    for property in info.relationships {
      guard let r = property.relationship, r.rules.deleteRule == .deny, !r.rules.isTransient else { continue }
      let context = try requireContext()
      var ids: [ManagedObjectID] = []
      // Of one that others have deleted as well nothing is left that could deny it.
      try unlessGone { ids = r.isToMany ? try currentToMany(r) : try currentToOne(r).map { [$0] } ?? [] }
      guard
        try ids.contains(where: {
          try $0 != objectID && context.isThere($0) && isLedTo(from: $0, r) && !context.goesAlong($0)
        })
      else { continue }
      errors.append(
        error(
          .validationRelationshipDeniedDelete, property.name,
          "cannot be deleted while its '\(property.name)' has destinations; delete or move them first"))
    }
    try throwing(errors)
  }

  /// Whether the other side of a relationship knows of this one, which is deleted. What this one has may be old: redoing a
  /// deletion leaves it as it was.
  fileprivate func isLedTo(from id: ManagedObjectID, _ r: RelationshipInfo) throws -> Bool {
    let other = try requireContext().object(with: id)
    guard let back = r.inverse(in: other.info) else { return true }
    guard back.isToMany else {
      // What others have led here counts, whatever the row says that the context has of it.
      if let newer = try other.newerToOne(back) { return newer == objectID }
      return try other.currentToOne(back) == objectID
    }
    guard let change = other.toManyChanges[back.place] else { return true }
    return change.list.map { $0.contains(objectID) } ?? change.state(of: objectID) ?? true
  }

  private func throwing(_ errors: [CambiumError]) throws {
    guard let first = errors.first else { return }
    guard errors.count > 1 else { throw first }
    var result = error(.validationMultipleErrors, nil, "has \(errors.count) validation errors")
    result.detailedErrors = errors
    throw result
  }

  private func error(_ code: CambiumError.Code, _ key: String?, _ text: String) -> CambiumError {
    CambiumError(code, "\(entity.name) \(objectID) \(text)", entityName: entity.name, key: key, objectID: objectID)
  }

  private func missing(_ path: String) -> CambiumError {
    error(.validationMissingMandatoryProperty, path, "needs a value for '\(path)', which is not optional")
  }

  private func check(count: Int, _ rules: RelationshipSchema, into errors: inout [CambiumError]) {
    if count == 0, rules.isOptional { return }
    if count == 0, rules.minimumCount == 0 { return errors.append(missing(rules.name)) }
    if count < Int(clamping: rules.minimumCount) {
      errors.append(
        error(
          .validationRelationshipLacksMinimumCount, rules.name,
          "has \(count) of at least \(rules.minimumCount) '\(rules.name)'"))
    } else if rules.maximumCount > 0, count > Int(clamping: rules.maximumCount) {
      errors.append(
        error(
          .validationRelationshipExceedsMaximumCount, rules.name,
          "has \(count) of at most \(rules.maximumCount) '\(rules.name)'"))
    }
  }

  private func check(
    _ value: Value, _ rules: AttributeSchema, _ read: ReadRules, path: String,
    into errors: inout [CambiumError]
  ) {
    if value.isNull {
      if !rules.isOptional { errors.append(missing(path)) }
      return
    }
    if case .composite(let composite) = value {
      for element in rules.elements {
        check(
          composite[element.name] ?? .null, element, read, path: path + "." + element.name, into: &errors)
      }
      return check(value, rules, read.conditions[path], path: path, into: &errors)
    }
    let pattern = rules.regularExpression.flatMap { read.patterns[$0] }
    guard let violation = rules.ruleViolation(of: value, pattern: pattern) else {
      if read.conditions.isEmpty { return }
      return check(value, rules, read.conditions[path], path: path, into: &errors)
    }
    let isText: Bool
    let isDate: Bool
    switch value {
    case .string, .uri: (isText, isDate) = (true, false)
    case .date: (isText, isDate) = (false, true)
    default: (isText, isDate) = (false, false)
    }
    let text = "cannot be saved: '\(path)' \(rules.text(of: violation, by: value))"
    switch violation {
    case .tooSmall:
      let code: CambiumError.Code =
        isText ? .validationStringTooShort : isDate ? .validationDateTooSoon : .validationNumberTooSmall
      errors.append(error(code, path, text))
    case .tooLarge:
      let code: CambiumError.Code =
        isText ? .validationStringTooLong : isDate ? .validationDateTooLate : .validationNumberTooLarge
      errors.append(error(code, path, text))
    case .noMatch: errors.append(error(.validationStringPatternMatching, path, text))
    }
  }

  /// Asks the validation predicates about a value.
  private func check(
    _ value: Value, _ rules: AttributeSchema, _ conditions: [ValueCondition]?, path: String,
    into errors: inout [CambiumError]
  ) {
    guard let conditions else { return }
    for condition in conditions {
      let problem: String
      do {
        if try condition.holds(for: value) { continue }
        let warning = condition.rule.warning.isEmpty ? "" : ": \(condition.rule.warning)"
        problem = "\(rules.text(of: value, unmet: condition.rule.predicate))\(warning)"
      } catch { problem = "cannot be compared with \(condition.rule.predicate): \(error)" }
      errors.append(error(.managedObjectValidation, path, "cannot be saved: '\(path)' \(problem)"))
    }
  }
}

extension ManagedObjectContext {
  /// Whether a destination is one still. An object that was never saved and was deleted is not among what is to be deleted, and
  /// may be gone already.
  fileprivate func isThere(_ id: ManagedObjectID) -> Bool {
    if let object = registered(id) { return !object.isDeleted }
    guard id.isTemporaryID else { return true }
    guard let parent else { return false }
    return parent.lock.run { parent.isThere(id) }
  }

  /// Whether an object goes with what is to be deleted, though the delete rules have not come to it: others have put it under that
  /// since they were applied. It denies nothing; those who save follow the rules to it: the transaction, or the parent.
  fileprivate func goesAlong(_ id: ManagedObjectID) throws -> Bool {
    let known = try deletionCheck?.goingAlong ?? goingAlong()
    deletionCheck?.goingAlong = known
    guard known.contains(id) else { return false }
    // The transaction is to look, whatever commit it finds; of this save, or of one behind it: what is deleted until then does not make the
    // rules of the rest new.
    doubtRelationships(in: id.space)
    return true
  }

  /// What cascades from what is to be deleted, by what is known now, and is not deleted yet.
  private func goingAlong() throws -> Set<ManagedObjectID> {
    var result = Set<ManagedObjectID>()
    var pending = deleted.values
    while let object = pending.popLast() {
      for property in object.info.relationships where !property.isTransient {
        guard let r = property.relationship, r.rules.deleteRule == .cascade, r.inverse != nil else { continue }
        var ids: [ManagedObjectID] = []
        try unlessGone {
          ids = r.isToMany ? try object.currentToMany(r) : try object.currentToOne(r).map { [$0] } ?? []
        }
        for id in ids where !result.contains(id) && isThere(id) {
          try unlessGone {
            guard try object.isLedTo(from: id, r) else { return }
            result.insert(id)
            pending.append(self.object(with: id))
          }
        }
      }
    }
    return result
  }
}
