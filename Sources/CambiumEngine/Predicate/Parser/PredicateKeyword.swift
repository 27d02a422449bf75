/// The reserved words of the predicate syntax. They are recognised in any case; a name that equals one is written with
/// `#` before it. The last row is reserved only before `(` (`UTI` before `-`).
enum PredicateKeyword {
  case and, or, not, anyOf, allOf, someOf, noneOf
  case between, `in`, beginsWith, contains, endsWith, like, matches
  case null, yes, no, `self`, truePredicate, falsePredicate
  case cast, subquery, function, ternary, fetch, uti

  init?(_ word: String) {
    switch asciiUppercase(word) {
    case "AND": self = .and
    case "OR": self = .or
    case "NOT": self = .not
    case "ANY": self = .anyOf
    case "ALL": self = .allOf
    case "SOME": self = .someOf
    case "NONE": self = .noneOf
    case "BETWEEN": self = .between
    case "IN": self = .in
    case "BEGINSWITH": self = .beginsWith
    case "CONTAINS": self = .contains
    case "ENDSWITH": self = .endsWith
    case "LIKE": self = .like
    case "MATCHES": self = .matches
    case "UTI": self = .uti
    case "NULL", "NIL": self = .null
    case "TRUE", "YES": self = .yes
    case "FALSE", "NO": self = .no
    case "SELF": self = .self
    case "TRUEPREDICATE": self = .truePredicate
    case "FALSEPREDICATE": self = .falsePredicate
    case "CAST": self = .cast
    case "SUBQUERY": self = .subquery
    case "FUNCTION": self = .function
    case "TERNARY": self = .ternary
    case "FETCH": self = .fetch
    default: return nil
    }
  }
}

/// ASCII letters in upper case, all else as it is.
func asciiUppercase(_ text: String) -> String {
  var bytes = Array(text.utf8)
  for index in bytes.indices where bytes[index] >= UInt8(ascii: "a") && bytes[index] <= UInt8(ascii: "z") {
    bytes[index] &-= 32
  }
  return String(decoding: bytes, as: UTF8.self)
}
