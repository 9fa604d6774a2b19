"""Graphs of the shape of two public examples of Neo4j, Northwind and Movies, with invented and well-known names.

``suffix`` ends every label, for a database in which other nodes have labels of such names.
"""

from typing import Any

from kgplatform.neo4j.store import Store

CUSTOMERS = (
    ("ALFKI", "Alfreds Futterkiste", "Berlin", "Germany"),
    ("AROUT", "Around the Horn", "London", "UK"),
    ("BERGS", "Berglunds snabbköp", "Luleå", "Sweden"),
    ("BOLID", "Bólido Comidas preparadas", "Madrid", "Spain"),
    ("CHOPS", "Chop-suey Chinese", "Bern", "Switzerland"),
    ("ERNSH", "Ernst Handel", "Graz", "Austria"),
)
SUPPLIERS = (("1", "Exotic Liquids", "London"), ("2", "Tokyo Traders", "Tokyo"), ("3", "Pavlova, Ltd.", "Melbourne"))
PRODUCTS = (
    ("1", "Chai", 18.0, "Beverages", "1"),
    ("2", "Chang", 19.0, "Beverages", "1"),
    ("3", "Aniseed Syrup", 10.0, "Condiments", "1"),
    ("10", "Ikura", 31.0, "Seafood", "2"),
    ("16", "Pavlova", 17.45, "Confections", "3"),
    ("18", "Carnarvon Tigers", 62.5, "Seafood", "3"),
)
CATEGORIES = (("Beverages", "Soft drinks, coffees, teas, beers, and ales"), ("Condiments", "Sweet and savory sauces"))
CATEGORIES += (("Seafood", "Seaweed and fish"), ("Confections", "Desserts, candies, and sweet breads"))
ORDERS = (
    ("10643", "ALFKI", "1997-08-25", (("3", 15), ("1", 21))),
    ("10355", "AROUT", "1996-11-15", (("2", 25),)),
    ("10278", "BERGS", "1996-08-12", (("10", 16), ("16", 15))),
    ("10326", "BOLID", "1996-10-10", (("18", 24),)),
    ("10254", "CHOPS", "1996-07-11", (("2", 20), ("3", 12))),
    ("10258", "ERNSH", "1996-07-17", (("1", 50), ("10", 65))),
)
EMPLOYEES = ((2, "Andrew", "Fuller", "Vice President, Sales", None), (1, "Nancy", "Davolio", "Representative", 2))
EMPLOYEES += ((3, "Janet", "Leverling", "Representative", 2), (5, "Steven", "Buchanan", "Sales Manager", 2))

FILMS = (
    ("The Matrix", 1999, "Welcome to the Real World"),
    ("Cast Away", 2000, "At the edge of the world, his journey begins."),
    ("Apollo 13", 1995, "Houston, we have a problem."),
    ("Jerry Maguire", 1996, "The rest of his life begins now."),
    ("Cloud Atlas", 2012, "Everything is connected"),
)
PEOPLE = (
    *(("Keanu Reeves", 1964), ("Carrie-Anne Moss", 1967), ("Lana Wachowski", 1965), ("Tom Hanks", 1956)),
    *(("Helen Hunt", 1963), ("Robert Zemeckis", 1951), ("Ron Howard", 1954), ("Kevin Bacon", 1958)),
    *(("Tom Cruise", 1962), ("Cameron Crowe", 1957), ("Halle Berry", 1966), ("Jessica Thompson", None)),
)
ROLES = (
    *(("Keanu Reeves", "The Matrix", "Neo"), ("Carrie-Anne Moss", "The Matrix", "Trinity")),
    *(("Tom Hanks", "Cast Away", "Chuck Noland"), ("Helen Hunt", "Cast Away", "Kelly Frears")),
    *(("Tom Hanks", "Apollo 13", "Jim Lovell"), ("Kevin Bacon", "Apollo 13", "Jack Swigert")),
    *(("Tom Cruise", "Jerry Maguire", "Jerry Maguire"), ("Halle Berry", "Cloud Atlas", "Luisa Rey")),
    ("Tom Hanks", "Cloud Atlas", "Zachry"),
)
DIRECTED = (("Lana Wachowski", "The Matrix"), ("Robert Zemeckis", "Cast Away"), ("Ron Howard", "Apollo 13"))
DIRECTED += (("Cameron Crowe", "Jerry Maguire"), ("Lana Wachowski", "Cloud Atlas"))


def run(store: Store, statement: str, **parameters: Any) -> list[Any]:
    """The rows of a statement, whatever it does."""
    return store.run_statement(statement, parameters, write=True, timeout=60, limit=10**6).rows


def northwind(store: Store, suffix: str = "") -> None:
    """Customers with their orders, products with suppliers and categories, employees."""

    def nodes(label: str, *names: str) -> str:
        made = ", ".join(f"{name}: row[{number}]" for number, name in enumerate(names))
        return f"UNWIND $rows AS row CREATE (:{label}{suffix} {{{made}}})"

    def joined(start: str, type_: str, end: str) -> str:
        ends = f"MATCH (a:{start[0]}{suffix} {{{start[1]}: row[0]}}), (b:{end[0]}{suffix} {{{end[1]}: row[1]}})"
        return f"UNWIND $rows AS row {ends} CREATE (a)-[r:{type_}]->(b)"

    run(store, f"CREATE CONSTRAINT IF NOT EXISTS FOR (c:Customer{suffix}) REQUIRE c.customerID IS UNIQUE")
    run(store, nodes("Customer", "customerID", "companyName", "city", "country"), rows=CUSTOMERS)
    run(store, nodes("Supplier", "supplierID", "companyName", "city"), rows=SUPPLIERS)
    run(store, nodes("Category", "categoryName", "description"), rows=CATEGORIES)
    run(store, nodes("Product", "productID", "productName", "unitPrice"), rows=[each[:3] for each in PRODUCTS])
    run(store, nodes("Order", "orderID", "orderDate"), rows=[(each[0], each[2]) for each in ORDERS])
    run(store, nodes("Employee", "employeeID", "firstName", "lastName", "title"), rows=[each[:4] for each in EMPLOYEES])
    product, order, customer = ("Product", "productID"), ("Order", "orderID"), ("Customer", "customerID")
    employee = ("Employee", "employeeID")
    kinds = joined(product, "PART_OF", ("Category", "categoryName"))
    run(store, kinds, rows=[(each[0], each[3]) for each in PRODUCTS])
    supplies = joined(("Supplier", "supplierID"), "SUPPLIES", product)
    run(store, supplies, rows=[(each[4], each[0]) for each in PRODUCTS])
    run(store, joined(customer, "PURCHASED", order), rows=[(each[1], each[0]) for each in ORDERS])
    lines = [(each[0], *line) for each in ORDERS for line in each[3]]
    run(store, f"{joined(order, 'ORDERS', product)} SET r.quantity = row[2]", rows=lines)
    chiefs = [(each[0], each[4]) for each in EMPLOYEES if each[4]]
    run(store, joined(employee, "REPORTS_TO", employee), rows=chiefs)


def movies(store: Store, suffix: str = "") -> None:
    """People who act in films and direct them, review them and follow one another."""
    run(store, f"CREATE CONSTRAINT IF NOT EXISTS FOR (m:Movie{suffix}) REQUIRE m.title IS UNIQUE")
    made = f"UNWIND $rows AS row CREATE (:Movie{suffix} {{title: row[0], released: row[1], tagline: row[2]}})"
    run(store, made, rows=FILMS)
    run(store, f"UNWIND $rows AS row CREATE (:Person{suffix} {{name: row[0], born: row[1]}})", rows=PEOPLE)
    ends = f"UNWIND $rows AS row MATCH (p:Person{suffix} {{name: row[0]}}), (m:Movie{suffix} {{title: row[1]}})"
    run(store, f"{ends} CREATE (p)-[:ACTED_IN {{roles: [row[2]]}}]->(m)", rows=ROLES)
    run(store, f"{ends} CREATE (p)-[:DIRECTED]->(m)", rows=DIRECTED)
    review = ("Jessica Thompson", "Cloud Atlas", "An amazing journey", 95)
    run(store, f"{ends} CREATE (p)-[:REVIEWED {{summary: row[2], rating: row[3]}}]->(m)", rows=[review])
    two = f"MATCH (a:Person{suffix} {{name: $one}}), (b:Person{suffix} {{name: $other}}) CREATE (a)-[:FOLLOWS]->(b)"
    run(store, two, one="Jessica Thompson", other="Halle Berry")


def dumped(store: Store, suffix: str) -> list[Any]:
    """All that is theirs: nodes with all labels and properties, relationships, constraints and indexes."""
    where = f"any(label IN labels(n) WHERE label ENDS WITH '{suffix}')"
    nodes = f"MATCH (n) WHERE {where} RETURN labels(n), properties(n), elementId(n) AS id ORDER BY id"
    joins = (
        f"MATCH (n)-[r]-(m) WHERE {where} RETURN type(r), properties(r), elementId(m), elementId(r) AS id ORDER BY id"
    )
    shape = f"name, type, labelsOrTypes, properties WHERE any(each IN labelsOrTypes WHERE each ENDS WITH '{suffix}')"
    kinds = [f"SHOW {kind} YIELD {shape} RETURN * ORDER BY name" for kind in ("INDEXES", "CONSTRAINTS")]
    return [run(store, statement) for statement in (nodes, joins, *kinds)]
