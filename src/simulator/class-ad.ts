import type { JsonObject } from "./json.ts";
import { isObject, readAttribute } from "./json.ts";

/** Whether a record matches a filter. */
export type Filter = (record: JsonObject) => boolean;

type Value = string | number | boolean | undefined;
type Expression = (record: JsonObject) => Value;

/** The `filter` of a request for nodes: a ClassAd expression, for example `State === "Started"` (cyclecloud-wire.md A.7). */
export type ReadFilter =
  | { readonly kind: "filter"; readonly matches: Filter }
  | { readonly kind: "malformed"; readonly at: string };

/**
 * Reads comparisons of attributes with literals, joined by `&&`, `||`, `!` and brackets. `==` ignores the case of texts, `===` and `=?=` do
 * not; what compares with an attribute that a record lacks is undefined, and an undefined filter matches nothing.
 */
export function readFilter(text: string): ReadFilter {
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;
  const next = (): string => tokens[at] ?? "";
  const take = (token: string): boolean => {
    if (next() !== token) return false;
    at += 1;
    return true;
  };
  const joined = (operator: string, operand: () => Expression | undefined): Expression | undefined => {
    const all = [operand()];
    while (take(operator)) all.push(operand());
    const known = all.filter((one) => one !== undefined);
    if (known.length < all.length) return undefined;
    const [only] = known;
    if (known.length === 1) return only;
    return operator === "&&"
      ? (record) => known.every((one) => one(record) === true)
      : (record) => known.some((one) => one(record) === true);
  };
  const either = (): Expression | undefined => joined("||", () => joined("&&", comparison));
  const comparison = (): Expression | undefined => {
    const left = operand();
    const compare = COMPARISONS.get(next());
    if (left === undefined || compare === undefined) return left;
    at += 1;
    const right = operand();
    return right === undefined ? undefined : (record) => compare(left(record), right(record));
  };
  const operand = (): Expression | undefined => {
    if (take("!")) {
      const inner = operand();
      return inner && ((record) => inner(record) === false);
    }
    if (take("(")) {
      const inner = either();
      return take(")") ? inner : undefined;
    }
    const token = next();
    at += 1;
    return readOperand(token);
  };
  const whole = either();
  if (whole === undefined || at < tokens.length) return { kind: "malformed", at: tokens[at - 1] ?? text };
  return { kind: "filter", matches: (record) => whole(record) === true };
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[A-Za-z_][\w.]*|\d+(?:\.\d+)?|=\?=|=!=|===|!==|==|!=|<=|>=|&&|\|\||\S/g;

function readOperand(token: string): Expression | undefined {
  if (token === "true" || token === "false") return () => token === "true";
  if (token === "undefined") return () => undefined;
  if (token.startsWith('"')) return () => token.slice(1, -1).replaceAll(/\\(.)/g, "$1");
  if (/^\d/.test(token)) return () => Number(token);
  return /^[A-Za-z_]/.test(token) ? (record) => attributeOf(record, token.split(".")) : undefined;
}

function attributeOf(record: JsonObject, path: readonly string[]): Value {
  let found: unknown = record;
  for (const name of path) found = isObject(found) ? readAttribute(found, name) : undefined;
  return typeof found === "string" || typeof found === "number" || typeof found === "boolean"
    ? found
    : undefined;
}

/** Undefined on either side makes a comparison undefined, but for those that ask for the very same. */
const known =
  (compare: (a: NonNullable<Value>, b: NonNullable<Value>) => boolean) =>
  (a: Value, b: Value): Value =>
    a === undefined || b === undefined ? undefined : compare(a, b);

const fold = (value: NonNullable<Value>): NonNullable<Value> =>
  typeof value === "string" ? value.toLowerCase() : value;

const COMPARISONS: ReadonlyMap<string, (a: Value, b: Value) => Value> = new Map([
  ["===", (a: Value, b: Value) => a === b],
  ["=?=", (a: Value, b: Value) => a === b],
  ["!==", (a: Value, b: Value) => a !== b],
  ["=!=", (a: Value, b: Value) => a !== b],
  ["==", known((a, b) => fold(a) === fold(b))],
  ["!=", known((a, b) => fold(a) !== fold(b))],
  ["<", known((a, b) => a < b)],
  ["<=", known((a, b) => a <= b)],
  [">", known((a, b) => a > b)],
  [">=", known((a, b) => a >= b)],
]);
