import Cambium

/// A class of a name that the tests have a class of, too: a model that names it without its module is refused.
public final class TwiceNamed: ManagedObject {}
