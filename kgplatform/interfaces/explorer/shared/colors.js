// One colour for each type of node, the same as in Neo4j Browser: the rule is that of kgplatform/interfaces/neo4j_browser/style.py, the tables are shared.
// And how a type is called and shown in lists.

import palette from "./palette.json" with { type: "json" };
import { svg } from "./dom.js";
import { kindName } from "./format.js";

const { kinds: KINDS, types: PLACES } = palette;
const TYPES = Object.fromEntries(PLACES.flatMap(([color, names]) => names.map((name) => [name, color])));

/** What is drawn in which outline, in a square of 14 pixels; all else is a circle. */
const SHAPES = {
  circle: { kinds: [], outline: "M7 1.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Z" },
  square: { kinds: ["Attribute", "Chunk", "Document", "Page"], outline: "M2 2h10v10H2z" },
  diamond: { kinds: ["KeyElement", "Run"], outline: "M7 .8 13.2 7 7 13.2.8 7z" },
  triangle: { kinds: ["Fact", "Step"], outline: "M7 1.5 13 12.5H1z" },
  hexagon: { kinds: ["Keyword", "Community"], outline: "M7 .8 12.4 3.9v6.2L7 13.2 1.6 10.1V3.9z" },
};

/**
 * The colour of a schema type, or of one of the platform's own kinds, as "#rrggbb".
 *
 * All stand out from the background of both themes (3:1 or more), so a type keeps its colour when the theme changes.
 */
export function typeColor(typeOrKind) {
  // A type may be called "toString": nothing that an object inherits is an entry of a table.
  const table = [KINDS, TYPES].find((each) => Object.hasOwn(each, typeOrKind));
  return table ? table[typeOrKind] : PLACES[fnv1a(typeOrKind) % PLACES.length][0];
}

/** The outline of nodes of a kind: circle, square, diamond, triangle or hexagon. */
export const kindShape = (kind) => Object.keys(SHAPES).find((shape) => SHAPES[shape].kinds.includes(kind)) ?? "circle";

function fnv1a(text) {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}

/** What a legend goes by: the schema type of an entity, else the label of its kind. */
export const legendKey = (node) => node.type ?? node.kind;

/** The same as people read it. */
export const typeName = (node) => node.type ?? kindName(node.kind);

/** A small shape in the colour of a type; `kind`: the node's, where the type is not a kind itself. */
export const swatch = (key, kind = key) => svg("svg", { viewBox: "0 0 14 14", class: "swatch", "aria-hidden": "true" }, svg("path", { d: SHAPES[kindShape(kind)].outline, fill: typeColor(key) }));
