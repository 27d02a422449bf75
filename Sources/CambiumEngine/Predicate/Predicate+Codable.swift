#if !hasFeature(Embedded)
  // Coded as the text of the format syntax with its version:
  //
  //   {"version": 1, "format": "name BEGINSWITH \"N\" AND SUBQUERY(logEntries, $e, $e.duration > 3600.0).@count > 2"}
  //
  // The text says everything that the tree does, is read by people and by Core Data, and the parser bounds its depth.
  // Only the version is new where the syntax changes its meaning; readers refuse those that they don't know.

  private enum CodingKeys: String, CodingKey {
    case version, format
  }

  private let codedVersion = 1

  extension Predicate: Codable {
    /// Reads a predicate as ``encode(to:)`` writes it.
    ///
    /// - Throws: `DecodingError` for an unknown version, or a text that is no predicate, with the ``PredicateError``
    ///   beneath.
    public init(from decoder: any Decoder) throws {
      let text = try codedFormat(decoder)
      do throws(PredicateError) { try self.init(format: text) } catch { throw corrupted(decoder, error) }
    }

    /// Writes the predicate as an object with a `version`, 1, and its `format`, the text of ``description``.
    ///
    /// - Throws: `EncodingError` for a tree that cannot be written as text: one deeper than ``depthLimit``, or with
    ///   parts that the parser refuses.
    public func encode(to encoder: any Encoder) throws {
      do throws(PredicateError) {
        // Refuses what is too deep to be printed.
        _ = try reads()
        guard try Predicate(format: description).description == description else { throw .unwritable }
      } catch { throw invalid(encoder, error) }
      try encodeFormat(description, encoder)
    }
  }

  extension Expression: Codable {
    /// Reads an expression as ``encode(to:)`` writes it.
    ///
    /// - Throws: `DecodingError`, as for a ``Predicate``.
    public init(from decoder: any Decoder) throws {
      let text = try codedFormat(decoder)
      do throws(PredicateError) { try self.init(format: text) } catch { throw corrupted(decoder, error) }
    }

    /// Writes the expression as an object with a `version`, 1, and its `format`, the text of ``description``.
    ///
    /// - Throws: `EncodingError`, as for a ``Predicate``.
    public func encode(to encoder: any Encoder) throws {
      do throws(PredicateError) {
        _ = try Predicate.compare(self, .equal, .constant(.null)).reads()
        guard try Expression(format: description).description == description else { throw .unwritable }
      } catch { throw invalid(encoder, error) }
      try encodeFormat(description, encoder)
    }
  }

  private func codedFormat(_ decoder: any Decoder) throws -> String {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let version = try container.decode(Int.self, forKey: .version)
    guard version == codedVersion else {
      throw DecodingError.dataCorruptedError(
        forKey: .version, in: container, debugDescription: "predicates of version \(version) are not known here")
    }
    return try container.decode(String.self, forKey: .format)
  }

  private func encodeFormat(_ text: String, _ encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(codedVersion, forKey: .version)
    try container.encode(text, forKey: .format)
  }

  private func corrupted(_ decoder: any Decoder, _ error: PredicateError) -> DecodingError {
    .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error))
  }

  private func invalid(_ encoder: any Encoder, _ error: PredicateError) -> EncodingError {
    .invalidValue(
      error.construct,
      .init(codingPath: encoder.codingPath, debugDescription: error.description, underlyingError: error))
  }

  extension PredicateError {
    fileprivate static var unwritable: PredicateError {
      PredicateError(.unsupported, "", "a tree is written that is read back as another; see Predicate.description")
    }
  }
#endif
