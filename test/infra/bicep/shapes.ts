import type { Declaration, Expression } from "./syntax.ts";

/** What is known of a value without running anything. */
export type Shape = "string" | "integer" | "boolean" | "array" | "object" | "null" | "any";

const OF_TYPE: Readonly<Record<string, Shape>> = {
  string: "string",
  int: "integer",
  bool: "boolean",
  object: "object",
  array: "array",
};
const OF_FUNCTION: Readonly<Record<string, Shape>> = {
  cidrSubnet: "string",
  concat: "any",
  contains: "boolean",
  dateTimeToEpoch: "integer",
  empty: "boolean",
  format: "string",
  guid: "string",
  int: "integer",
  join: "string",
  length: "integer",
  loadTextContent: "string",
  newGuid: "string",
  readEnvironmentVariable: "string",
  replace: "string",
  resourceId: "string",
  split: "array",
  string: "string",
  subscriptionResourceId: "string",
  substring: "string",
  take: "any",
  toLower: "string",
  toObject: "object",
  toUpper: "string",
  union: "any",
  uniqueString: "string",
};
const TRUTH = new Set(["||", "&&", "==", "!=", "=~", "!~", "<", "<=", ">", ">=", "!"]);

/** The shape of the type that a parameter or an output is declared with. */
export function declaredShape(type: string | undefined): Shape {
  return OF_TYPE[type ?? ""] ?? "any";
}

/** The shape of an expression. "any" if it is unknown. */
export function shapeOf(expression: Expression, known: ReadonlyMap<string, Declaration>): Shape {
  switch (expression.kind) {
    case "string":
    case "boolean":
    case "object":
    case "array":
    case "null":
      return expression.kind;
    case "number":
      return "integer";
    case "loop":
      return "array";
    case "call":
      return expression.of === undefined ? (OF_FUNCTION[expression.name] ?? "any") : "any";
    case "name": {
      const found = known.get(expression.name);
      if (found?.kind === "param") return declaredShape(found.type);
      return found?.kind === "var" && found.value !== undefined ? shapeOf(found.value, known) : "any";
    }
    case "operator": {
      if (TRUTH.has(expression.operator)) return "boolean";
      if (expression.operator !== "?" && expression.operator !== "??") return "integer";
      const shapes = expression.items
        .slice(expression.operator === "?" ? 1 : 0)
        .map((item) => shapeOf(item, known));
      const told = [...new Set(shapes.filter((shape) => shape !== "null"))];
      return told.length === 1 ? (told[0] ?? "any") : "any";
    }
    default:
      return "any";
  }
}

/** Every text that an expression may be, as far as it is written there; undefined: other texts may come. */
export function textsOf(
  expression: Expression,
  known: ReadonlyMap<string, Declaration>,
): readonly string[] | undefined {
  if (expression.kind === "string")
    return expression.parts.every((part) => typeof part === "string")
      ? [expression.parts.join("")]
      : undefined;
  if (expression.kind === "name") {
    const found = known.get(expression.name);
    return found?.kind === "var" && found.value !== undefined ? textsOf(found.value, known) : undefined;
  }
  if (expression.kind !== "operator" || expression.operator !== "?") return undefined;
  const [, then, otherwise] = expression.items;
  const [a, b] = [then, otherwise].map((item) => (item === undefined ? undefined : textsOf(item, known)));
  return a === undefined || b === undefined ? undefined : [...a, ...b];
}
