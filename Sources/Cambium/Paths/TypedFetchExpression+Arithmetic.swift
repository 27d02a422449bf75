import CambiumEngine

// Arithmetic on numbers of one type. Where a value is missing, so is the result.

/// The sum.
public func + <L: TypedFetchExpression>(a: L, b: L.Output) -> FetchValue<L.Output>
where L.Output: FetchComparable & Numeric {
  FetchValue<L.Output>(.arithmetic(.add, a.fetchExpression.engine, .constant(b.fetchValue)))
}

/// The sum.
public func + <R: TypedFetchExpression>(a: R.Output, b: R) -> FetchValue<R.Output>
where R.Output: FetchComparable & Numeric {
  FetchValue<R.Output>(.arithmetic(.add, .constant(a.fetchValue), b.fetchExpression.engine))
}

/// The sum.
public func + <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchValue<L.Output>
where L.Output == R.Output, L.Output: FetchComparable & Numeric {
  FetchValue<L.Output>(.arithmetic(.add, a.fetchExpression.engine, b.fetchExpression.engine))
}

/// The difference.
public func - <L: TypedFetchExpression>(a: L, b: L.Output) -> FetchValue<L.Output>
where L.Output: FetchComparable & Numeric {
  FetchValue<L.Output>(.arithmetic(.subtract, a.fetchExpression.engine, .constant(b.fetchValue)))
}

/// The difference.
public func - <R: TypedFetchExpression>(a: R.Output, b: R) -> FetchValue<R.Output>
where R.Output: FetchComparable & Numeric {
  FetchValue<R.Output>(.arithmetic(.subtract, .constant(a.fetchValue), b.fetchExpression.engine))
}

/// The difference.
public func - <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchValue<L.Output>
where L.Output == R.Output, L.Output: FetchComparable & Numeric {
  FetchValue<L.Output>(.arithmetic(.subtract, a.fetchExpression.engine, b.fetchExpression.engine))
}

/// The product.
public func * <L: TypedFetchExpression>(a: L, b: L.Output) -> FetchValue<L.Output>
where L.Output: FetchComparable & Numeric {
  FetchValue<L.Output>(.arithmetic(.multiply, a.fetchExpression.engine, .constant(b.fetchValue)))
}

/// The product.
public func * <R: TypedFetchExpression>(a: R.Output, b: R) -> FetchValue<R.Output>
where R.Output: FetchComparable & Numeric {
  FetchValue<R.Output>(.arithmetic(.multiply, .constant(a.fetchValue), b.fetchExpression.engine))
}

/// The product.
public func * <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchValue<L.Output>
where L.Output == R.Output, L.Output: FetchComparable & Numeric {
  FetchValue<L.Output>(.arithmetic(.multiply, a.fetchExpression.engine, b.fetchExpression.engine))
}

/// The quotient; of integers without its fraction, and missing if the divisor is 0.
public func / <L: TypedFetchExpression>(a: L, b: L.Output) -> FetchValue<L.Output>
where L.Output: FetchComparable & Numeric {
  FetchValue<L.Output>(.arithmetic(.divide, a.fetchExpression.engine, .constant(b.fetchValue)))
}

/// The quotient; of integers without its fraction, and missing if the divisor is 0.
public func / <R: TypedFetchExpression>(a: R.Output, b: R) -> FetchValue<R.Output>
where R.Output: FetchComparable & Numeric {
  FetchValue<R.Output>(.arithmetic(.divide, .constant(a.fetchValue), b.fetchExpression.engine))
}

/// The quotient; of integers without its fraction, and missing if the divisor is 0.
public func / <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchValue<L.Output>
where L.Output == R.Output, L.Output: FetchComparable & Numeric {
  FetchValue<L.Output>(.arithmetic(.divide, a.fetchExpression.engine, b.fetchExpression.engine))
}

/// The number with its sign changed.
public prefix func - <A: TypedFetchExpression>(a: A) -> FetchValue<A.Output>
where A.Output: FetchComparable & SignedNumeric {
  FetchValue<A.Output>(.negated(a.fetchExpression.engine))
}

/// The remainder of a division, with the sign of the dividend.
public func % <L: TypedFetchExpression>(a: L, b: L.Output) -> FetchValue<L.Output>
where L.Output: FetchComparable & BinaryInteger {
  FetchValue<L.Output>(.function("modulus:by:", [a.fetchExpression.engine, .constant(b.fetchValue)]))
}
