/// Which of the changes a run is made of.
enum RunPart {
  case all, puts, deletions
}
