import CambiumKernel

/// What a model and a catalogue come to, worked out once: all of an ``EntityStore`` that does not depend on the kernel
/// store below. Immutable, so that stores of one process with the same catalogue share it.
final class StorePlans: Sendable {
  let schema: Schema
  let catalogue: Catalogue
  /// See ``EntityStore`` for these.
  let layouts: [UInt16: EntityLayout]
  let staleLayouts: [UInt16: StaleLayout]
  let pendingLinks: [UInt16: [PendingLinks]]
  let layoutTable: LayoutTable
  let plans: [UInt32: EntityPlan]
  let planTable: [EntityPlan?]
  let sharesTrees: Bool
  /// What it was made from, if others may look for that.
  let image: CatalogueImage?

  init(_ schema: Schema, _ catalogue: Catalogue, of image: CatalogueImage? = nil) throws(EngineError) {
    self.schema = schema
    self.catalogue = catalogue
    self.image = image
    var made: [UInt16: EntityLayout] = [:]
    var currents: [UInt32: EntityLayout] = [:]
    for (id, descriptor) in catalogue.layouts where descriptor.isCurrent {
      guard let entity = schema.entity(id: descriptor.entity) else {
        throw .corrupt("a layout of an unknown entity \(descriptor.entity)")
      }
      let layout = try EntityLayout(entity: entity, id: id, descriptor: descriptor)
      made[id] = layout
      currents[entity.id] = layout
    }
    var stale: [UInt16: StaleLayout] = [:]
    var pending: [UInt16: [PendingLinks]] = [:]
    for (id, descriptor) in catalogue.layouts where !descriptor.isCurrent {
      guard let current = currents[descriptor.entity] else {
        throw .corrupt("a layout of an unknown entity \(descriptor.entity)")
      }
      let layout = try StaleLayout(id, descriptor, current: current)
      stale[id] = layout
      let links = try EntityStore.pendingLinks(layout, catalogue)
      if !links.isEmpty { pending[id] = links }
    }
    staleLayouts = stale
    pendingLinks = pending
    layouts = made
    layoutTable = LayoutTable(made)
    let sharedTrees = catalogue.sharedRows
    sharesTrees = !sharedTrees.isEmpty
    var plans: [UInt32: EntityPlan] = [:]
    for entity in schema.entities {
      guard let layoutID = catalogue.currentLayout[entity.id], let layout = made[layoutID] else {
        throw .corrupt("entity \(entity.name) has no layout")
      }
      plans[entity.id] = try EntityPlan(
        entity: entity, layout: layout, schema: schema, catalogue: catalogue, sharedTrees: sharedTrees)
    }
    self.plans = plans
    // An entity's identifier fits 16 bits: its layout has seen to that.
    var planTable = [EntityPlan?](repeating: nil, count: 1 + Int(plans.keys.max() ?? 0))
    for (id, plan) in plans { planTable[Int(id)] = plan }
    self.planTable = planTable
  }
}
