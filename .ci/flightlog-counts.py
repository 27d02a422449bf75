#!/usr/bin/env python3
"""Compares `cambium count` and `cambium query` on an imported flight log with what the CSV files say.

    .ci/flightlog-counts.py --store log.store [--data DIR] [--tool .build/release/cambium]

The answers are computed here, from the files alone, by other means than the store's: plain loops over dictionaries.
DIR is the folder that was imported, by default the repository's month. Exits with 1 if any answer differs.
"""
import argparse
import csv
import datetime
import io
import json
import math
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NOTHING = "NA"


# MARK: The data, as the store should have it

def rows(folder, name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file, strict=True)


def text(value):
    return None if value in ("", NOTHING) else value


def integer(value):
    return None if value in ("", NOTHING) else int(value)


def minutes(value):
    """`hhmm` as minutes after midnight."""
    number = integer(value)
    return None if number is None else number // 100 * 60 + number % 100


def seconds(year, month, day):
    """The local day as seconds since 2001-01-01, as the store keeps it."""
    return (datetime.date(year, month, day) - datetime.date(2001, 1, 1)).days * 86400


class Data:
    """Every entity as a list of dictionaries; to-one relationships are the other dictionary or None."""

    def __init__(self, folder):
        named = {}
        for row in rows(folder, "world-airports.csv"):
            for column in ("iata", "lid"):
                if row[column]:
                    named.setdefault(row[column], set()).add(row["icao"])
        self.airlines = {r["carrier"]: {"code": r["carrier"], "name": r["name"]} for r in rows(folder, "airlines.csv")}
        self.airports = {}
        for r in rows(folder, "airports.csv"):
            codes = named.get(r["faa"], set())
            self.airports[r["faa"]] = {
                "faaIdentifier": r["faa"], "icaoIdentifier": next(iter(codes)) if len(codes) == 1 else None,
                "name": r["name"], "timeZone": text(r["tzone"]), "latitude": float(r["lat"]),
                "longitude": float(r["lon"]), "altitude": int(r["alt"])}
        self.aircraft = {}
        for r in rows(folder, "planes.csv"):
            self.aircraft[r["tailnum"]] = {
                "tailNumber": r["tailnum"], "year": integer(r["year"]), "aircraftType": text(r["type"]),
                "manufacturer": text(r["manufacturer"]), "aircraftModel": text(r["model"]),
                "engines": integer(r["engines"]), "seats": integer(r["seats"]), "engineType": text(r["engine"])}
        self.entries = []
        for r in rows(folder, "flights.csv"):
            tail = text(r["tailnum"])
            entry = {
                "date": seconds(int(r["year"]), int(r["month"]), int(r["day"])), "flightNumber": integer(r["flight"]),
                "departure.scheduled": minutes(r["sched_dep_time"]), "departure.actual": minutes(r["dep_time"]),
                "departure.delay": integer(r["dep_delay"]), "arrival.scheduled": minutes(r["sched_arr_time"]),
                "arrival.actual": minutes(r["arr_time"]), "arrival.delay": integer(r["arr_delay"]),
                "airTime": integer(r["air_time"]), "distance": integer(r["distance"]),
                "airline": self.airlines.setdefault(r["carrier"], {"code": r["carrier"], "name": None}),
                "origin": self.airport(r["origin"]), "destination": self.airport(r["dest"]),
                "aircraft": None if tail is None else self.aircraft.setdefault(tail, dict(
                    dict.fromkeys(("year", "aircraftType", "manufacturer", "aircraftModel", "engines", "seats",
                                   "engineType")), tailNumber=tail))}
            self.entries.append(entry)
        for place in list(self.airports.values()) + list(self.aircraft.values()) + list(self.airlines.values()):
            place["logEntries"], place["departures"], place["arrivals"] = [], [], []
        for entry in self.entries:
            entry["airline"]["logEntries"].append(entry)
            entry["origin"]["departures"].append(entry)
            entry["destination"]["arrivals"].append(entry)
            if entry["aircraft"]:
                entry["aircraft"]["logEntries"].append(entry)

    def airport(self, code):
        return self.airports.setdefault(code, dict(
            dict.fromkeys(("icaoIdentifier", "name", "timeZone", "latitude", "longitude", "altitude")),
            faaIdentifier=code))

    def of(self, entity):
        tables = {"Airline": self.airlines, "Airport": self.airports, "Aircraft": self.aircraft}
        return self.entries if entity == "LogEntry" else list(tables[entity].values())


# MARK: Questions

def above(value, bound):
    return value is not None and value > bound


def below(value, bound):
    return value is not None and value < bound


def of(entry, relationship, name):
    return entry[relationship][name] if entry[relationship] else None


def day(year, month, day_):
    return f'CAST({seconds(year, month, day_)}, "NSDate")'


QUESTIONS = [
    ("Airline", None, lambda a: True),
    ("Airport", None, lambda a: True),
    ("Aircraft", None, lambda a: True),
    ("LogEntry", None, lambda e: True),
    # Elements of composites, nested ones included.
    ("LogEntry", "departure.delay > 60", lambda e: above(e["departure.delay"], 60)),
    ("LogEntry", "departure.delay < 0 AND arrival.delay > 0",
     lambda e: below(e["departure.delay"], 0) and above(e["arrival.delay"], 0)),
    ("LogEntry", "arrival.delay > departure.delay",
     lambda e: None not in (e["arrival.delay"], e["departure.delay"]) and e["arrival.delay"] > e["departure.delay"]),
    ("LogEntry", "departure.scheduled BETWEEN {360, 420}", lambda e: 360 <= e["departure.scheduled"] <= 420),
    ("LogEntry", "departure.actual == 1440", lambda e: e["departure.actual"] == 1440),
    ("Airport", "place.location.latitude BETWEEN {40, 41}",
     lambda a: a["latitude"] is not None and 40 <= a["latitude"] <= 41),
    ("Airport", "place.location.altitude > 5000 OR place.location.longitude < -150",
     lambda a: above(a["altitude"], 5000) or below(a["longitude"], -150)),
    ("Airport", 'place.timeZone == "America/New_York"', lambda a: a["timeZone"] == "America/New_York"),
    # Null.
    ("LogEntry", "aircraft == nil", lambda e: e["aircraft"] is None),
    ("LogEntry", "departure.actual == nil", lambda e: e["departure.actual"] is None),
    ("LogEntry", "departure.actual != nil AND arrival.actual == nil",
     lambda e: e["departure.actual"] is not None and e["arrival.actual"] is None),
    ("LogEntry", "NOT (arrival.delay <= 15)",
     lambda e: e["arrival.delay"] is None or e["arrival.delay"] > 15),
    ("Airport", "place.location.latitude == nil", lambda a: a["latitude"] is None),
    ("Airport", "icaoIdentifier == nil", lambda a: a["icaoIdentifier"] is None),
    ("Aircraft", "manufacturer == nil", lambda a: a["manufacturer"] is None),
    ("Aircraft", "year == nil AND manufacturer != nil", lambda a: a["year"] is None and a["manufacturer"] is not None),
    # Strings.
    ("Aircraft", 'manufacturer BEGINSWITH "AIRBUS"', lambda a: (a["manufacturer"] or "").startswith("AIRBUS")),
    ("Aircraft", 'manufacturer BEGINSWITH[c] "airbus"', lambda a: (a["manufacturer"] or "").startswith("AIRBUS")),
    ("Aircraft", 'aircraftModel LIKE "737-*"', lambda a: (a["aircraftModel"] or "").startswith("737-")),
    ("Airport", 'name CONTAINS "Intl"', lambda a: "Intl" in (a["name"] or "")),
    ("Airport", 'icaoIdentifier BEGINSWITH "P" AND NOT faaIdentifier ENDSWITH "A"',
     lambda a: (a["icaoIdentifier"] or "").startswith("P") and not a["faaIdentifier"].endswith("A")),
    # Uniqueness constraints and lists.
    ("Airport", 'faaIdentifier == "JFK"', lambda a: a["faaIdentifier"] == "JFK"),
    ("Airline", 'code IN {"UA", "AA", "XX"}', lambda a: a["code"] in ("UA", "AA", "XX")),
    ("LogEntry", "distance IN {2475, 200, -1}", lambda e: e["distance"] in (2475, 200, -1)),
    ("LogEntry", "departure.delay IN {nil, 0}", lambda e: e["departure.delay"] in (None, 0)),
    # Through to-one relationships.
    ("LogEntry", 'origin.faaIdentifier == "JFK" AND destination.faaIdentifier == "LAX"',
     lambda e: e["origin"]["faaIdentifier"] == "JFK" and e["destination"]["faaIdentifier"] == "LAX"),
    ("LogEntry", 'aircraft.manufacturer == "BOEING" AND airline.code != "UA"',
     lambda e: of(e, "aircraft", "manufacturer") == "BOEING" and e["airline"]["code"] != "UA"),
    ("LogEntry", 'NOT (aircraft.manufacturer == "BOEING")',
     lambda e: of(e, "aircraft", "manufacturer") != "BOEING"),
    ("LogEntry", "aircraft.year < 1990", lambda e: below(of(e, "aircraft", "year"), 1990)),
    ("LogEntry", "aircraft != nil AND aircraft.manufacturer == nil",
     lambda e: e["aircraft"] is not None and e["aircraft"]["manufacturer"] is None),
    ("LogEntry", "destination.place.location.altitude > 5000",
     lambda e: above(of(e, "destination", "altitude"), 5000)),
    ("LogEntry", 'destination.place.timeZone IN {"Pacific/Honolulu", "America/Anchorage"}',
     lambda e: e["destination"]["timeZone"] in ("Pacific/Honolulu", "America/Anchorage")),
    # Dates, by index and with more to test.
    ("LogEntry", f"date == {day(2013, 1, 1)}", lambda e: e["date"] == seconds(2013, 1, 1)),
    ("LogEntry", f"date >= {day(2013, 1, 8)} AND date < {day(2013, 1, 15)}",
     lambda e: seconds(2013, 1, 8) <= e["date"] < seconds(2013, 1, 15)),
    ("LogEntry", f'date > {day(2013, 1, 28)} AND (origin.faaIdentifier == "LGA" OR airTime > 600)',
     lambda e: e["date"] > seconds(2013, 1, 28) and (e["origin"]["faaIdentifier"] == "LGA" or above(e["airTime"], 600))),
    # Through to-many relationships.
    ("Aircraft", "ANY logEntries.departure.delay > 300",
     lambda a: any(above(e["departure.delay"], 300) for e in a["logEntries"])),
    ("Airport", "NONE departures.distance > 0", lambda a: not any(above(e["distance"], 0) for e in a["departures"])),
    ("Airport", 'ANY arrivals.origin.faaIdentifier == "JFK"',
     lambda a: any(e["origin"]["faaIdentifier"] == "JFK" for e in a["arrivals"])),
]

COLUMNS = ("flightNumber", "departure.scheduled", "departure.actual", "departure.delay", "arrival.scheduled",
           "arrival.actual", "arrival.delay", "airTime", "distance")


def whole_entry(entry):
    """A predicate with every value of an entry, and the same as a function."""
    def literal(value):
        return "nil" if value is None else str(value)

    parts = [f'date == CAST({entry["date"]}, "NSDate")']
    parts += [f"{name} == {literal(entry[name])}" for name in COLUMNS]
    parts += [f'airline.code == "{entry["airline"]["code"]}"']
    parts += [f'{name}.faaIdentifier == "{entry[name]["faaIdentifier"]}"' for name in ("origin", "destination")]
    tail = of(entry, "aircraft", "tailNumber")
    parts += [f'aircraft.tailNumber == "{tail}"' if tail else "aircraft == nil"]
    names = COLUMNS + ("date",)

    def holds(other):
        return (all(other[name] == entry[name] for name in names)
                and all(other[name] is entry[name] for name in ("airline", "origin", "destination", "aircraft")))
    return "LogEntry", " AND ".join(parts), holds


# MARK: Queries

def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def groups(items, key):
    result = {}
    for item in items:
        result.setdefault(key(item), []).append(item)
    return result


def iso(entry):
    return (datetime.date(2001, 1, 1) + datetime.timedelta(seconds=entry["date"])).isoformat() + "T00:00:00Z"


def airlines_by_delay(data):
    rows = []
    for name, entries in groups(data.entries, lambda e: e["airline"]["name"]).items():
        delays = [e["arrival.delay"] for e in entries if e["arrival.delay"] is not None]
        rows.append({"airline.name": name, "flights": len(entries), "mean": mean(delays), "worst": max(delays, default=None),
                     "miles": sum(e["distance"] for e in entries)})
    return sorted(rows, key=lambda r: (r["mean"], r["airline.name"]))


def routes(data):
    rows = [{"origin.faaIdentifier": a, "destination.faaIdentifier": b, "count": len(entries)}
            for (a, b), entries in groups(
                data.entries, lambda e: (e["origin"]["faaIdentifier"], e["destination"]["faaIdentifier"])).items()
            if len(entries) > len(data.entries) / 100]
    return sorted(rows, key=lambda r: (-r["count"], r["origin.faaIdentifier"], r["destination.faaIdentifier"]))


def latest(data):
    entries = sorted((e for e in data.entries if above(e["departure.delay"], 60)), key=lambda e: -e["departure.delay"])
    return [{"date": iso(e), "airline.code": e["airline"]["code"], "flightNumber": e["flightNumber"],
             "delay": e["departure.delay"], "seats": of(e, "aircraft", "seats")} for e in entries[2:12]]


def first_of_day(data):
    return [{"flightNumber": e["flightNumber"], "departure.scheduled": e["departure.scheduled"],
             "departure.actual": e["departure.actual"], "destination.name": e["destination"]["name"]}
            for e in data.entries if e["date"] == seconds(2013, 1, 3) and e["airline"]["code"] == "B6"][:40]


def late_aircraft(data):
    rows = [{"tailNumber": a["tailNumber"], "legs": len(a["logEntries"])} for a in data.aircraft.values()
            if sum(1 for e in a["logEntries"] if above(e["departure.delay"], 120)) > 2]
    return sorted(rows, key=lambda r: (-r["legs"], r["tailNumber"]))


def nearest(data):
    def metres(a):
        if a["latitude"] is None:
            return math.inf
        there, here = math.radians(a["latitude"]), math.radians(40.64)
        across = math.radians(a["longitude"] + 73.78)
        h = math.sin((there - here) / 2) ** 2 + math.cos(there) * math.cos(here) * math.sin(across / 2) ** 2
        return 2 * 6371008.8 * math.asin(math.sqrt(h))
    airports = sorted(data.airports.values(), key=metres)
    return [{"faaIdentifier": a["faaIdentifier"], "place.location.altitude": a["altitude"]} for a in airports[:10]]


QUERIES = [
    (["LogEntry", "--group-by", "airline.name", "--sort", "mean,airline.name", "--columns",
      "airline.name, count(SELF) AS flights, average(arrival.delay) AS mean, max(arrival.delay) AS worst, "
      "sum(distance) AS miles"], airlines_by_delay),
    (["LogEntry", "--group-by", "origin.faaIdentifier,destination.faaIdentifier", "--having", "count > {percent}",
      "--sort", "-count,origin.faaIdentifier,destination.faaIdentifier"], routes),
    # Equals stay in the order in which they were imported.
    (["LogEntry", "departure.delay > 60", "--sort", "-departure.delay", "--offset", "2", "--limit", "10", "--columns",
      "date, airline.code, flightNumber, departure.delay AS delay, aircraft.seats AS seats"], latest),
    (["LogEntry", f'date == {day(2013, 1, 3)} AND airline.code == "B6"', "--limit", "40", "--columns",
      "flightNumber,departure.scheduled,departure.actual,destination.name"], first_of_day),
    (["Aircraft", "SUBQUERY(logEntries, $e, $e.departure.delay > 120).@count > 2", "--columns",
      "tailNumber,logEntries.@count AS legs", "--sort", "-legs,tailNumber"], late_aircraft),
    (["Airport", "--sort", "place.location:near(40.64, -73.78)", "--limit", "10", "--columns",
      "faaIdentifier,place.location.altitude"], nearest),
    (["Airport", "NONE arrivals.distance > 0 AND NONE departures.distance > 0", "--columns", "count(SELF) AS n"],
     lambda data: [{"n": sum(1 for a in data.airports.values() if not a["arrivals"] and not a["departures"])}]),
]


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    return a == b


def as_csv(value):
    return "" if value is None else str(value)


def check_query(arguments, expected, data, tool, store):
    """What is wrong with the answers to a query, as JSON, CSV and a table; None if nothing is."""
    arguments = [part.replace("{percent}", str(len(data.entries) / 100)) for part in arguments]
    outputs = []
    for form in (["--json"], ["--csv"], []):
        result = subprocess.run([tool, "query", store] + arguments + form, capture_output=True, text=True)
        if result.returncode != 0:
            return result.stderr.strip() or result.stdout.strip()
        outputs.append(result.stdout)
    found = [json.loads(line) for line in outputs[0].splitlines()]
    if len(found) != len(expected):
        return f"{len(found)} rows instead of {len(expected)}"
    for row, wanted in zip(found, expected):
        if list(row) != list(wanted) or not all(same(row[name], wanted[name]) for name in row):
            return f"{row} instead of {wanted}"
    lines = list(csv.reader(io.StringIO(outputs[1]), strict=True))
    names = list(expected[0])
    if lines != [names] + [[as_csv(row[name]) for name in names] for row in found]:
        return "as CSV there are other values than as JSON"
    table = outputs[2].splitlines()
    if [line.split() for line in table[2:]] != [
            " ".join("nil" if value is None else str(value) for value in row.values()).split() for row in found]:
        return "a table has other values than JSON"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--store", required=True)
    parser.add_argument("--data", default=os.path.join(HERE, "..", "Sources", "FlightLog", "Data"))
    parser.add_argument("--tool", default=os.path.join(HERE, "..", ".build", "release", "cambium"))
    arguments = parser.parse_args()
    data = Data(arguments.data)
    questions = list(QUESTIONS)
    # Entries from the whole length of the file, every value of them.
    for place in range(0, 20):
        questions.append(whole_entry(data.entries[place * (len(data.entries) - 1) // 19]))
    wrong = 0
    for entity, predicate, holds in questions:
        expected = sum(1 for item in data.of(entity) if holds(item))
        command = [arguments.tool, "count", arguments.store, entity] + ([predicate] if predicate else [])
        began = time.monotonic()
        result = subprocess.run(command, capture_output=True, text=True)
        milliseconds = (time.monotonic() - began) * 1000
        answer = result.stdout.strip()
        agrees = result.returncode == 0 and answer == str(expected)
        wrong += not agrees
        shown = predicate or "(all)"
        shown = shown if len(shown) <= 78 else shown[:75] + "..."
        print(f"{'ok   ' if agrees else 'WRONG'} {expected:>8} {milliseconds:7.0f} ms  {entity}: {shown}")
        if not agrees:
            print(f"      cambium said: {answer or result.stderr.strip()}\n      to: {predicate}")
    for query, expected in QUERIES:
        answer = expected(data)
        began = time.monotonic()
        problem = check_query(query, answer, data, arguments.tool, arguments.store)
        milliseconds = (time.monotonic() - began) * 1000
        wrong += problem is not None
        shown = " ".join(query)
        shown = shown if len(shown) <= 78 else shown[:75] + "..."
        print(f"{'ok   ' if problem is None else 'WRONG'} {len(answer):>8} {milliseconds:7.0f} ms  query {shown}")
        if problem is not None:
            print(f"      {problem}")
    print(f"{len(questions)} questions and {len(QUERIES)} queries, {wrong} answered wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
