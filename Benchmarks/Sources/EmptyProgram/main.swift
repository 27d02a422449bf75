// What the Swift runtime alone takes, for comparison with `MinimalProgram`.
print("value")
