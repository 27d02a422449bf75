print("FlightLog")
