print("cambium")
