extension ManagedObjectContext {
  func takeInMail() {}
  func tellChildren(changed: [ManagedObject], refreshed: Set<ManagedObject>) {}
}
