// What the expansion of `@Model` names, so that a file which imports this module alone compiles.
@_exported import Foundation
@_exported import Observation
