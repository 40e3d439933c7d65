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
 * not. A comparison with an attribute that a record lacks is undefined, and an undefined filter matches nothing.
 */
export function readFilter(text: string): ReadFilter {
  const reader = new FilterReader(text.match(TOKEN) ?? []);
  const whole = reader.readWhole();
  if (whole === undefined) return { kind: "malformed", at: reader.lastToken ?? text };
  return { kind: "filter", matches: (record) => whole(record) === true };
}

/** Reads tokens from left to right. Each method returns undefined if the next tokens do not form such an expression. */
class FilterReader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** The token that was read last. */
  get lastToken(): string | undefined {
    return this.#tokens[this.#at - 1];
  }

  /** One expression of all tokens. */
  readWhole(): Expression | undefined {
    const whole = this.#readAlternatives();
    return this.#at < this.#tokens.length ? undefined : whole;
  }

  #readAlternatives(): Expression | undefined {
    return this.#readJoined("||", () => this.#readJoined("&&", () => this.#readComparison()));
  }

  #readJoined(operator: "&&" | "||", read: () => Expression | undefined): Expression | undefined {
    const operands = [read()];
    while (this.#take(operator)) operands.push(read());
    return joinAll(operator, operands);
  }

  #readComparison(): Expression | undefined {
    const left = this.#readOperand();
    const compare = this.#next === undefined ? undefined : COMPARISONS.get(this.#next);
    if (left === undefined || compare === undefined) return left;
    this.#at += 1;
    const right = this.#readOperand();
    return right === undefined ? undefined : (record) => compare(left(record), right(record));
  }

  #readOperand(): Expression | undefined {
    if (this.#take("!")) {
      const inner = this.#readOperand();
      return inner && ((record) => inner(record) === false);
    }
    if (this.#take("(")) {
      const inner = this.#readAlternatives();
      return this.#take(")") ? inner : undefined;
    }
    const token = this.#next;
    this.#at += 1;
    return token === undefined ? undefined : readLiteral(token);
  }

  get #next(): string | undefined {
    return this.#tokens[this.#at];
  }

  #take(token: string): boolean {
    if (this.#next !== token) return false;
    this.#at += 1;
    return true;
  }
}

/** A single operand keeps its own value. Undefined if an operand is. */
function joinAll(
  operator: "&&" | "||",
  operands: readonly (Expression | undefined)[],
): Expression | undefined {
  const known = operands.filter((one) => one !== undefined);
  if (known.length < operands.length) return undefined;
  const [only] = known;
  if (known.length === 1) return only;
  return operator === "&&"
    ? (record) => known.every((one) => one(record) === true)
    : (record) => known.some((one) => one(record) === true);
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[A-Za-z_][\w.]*|\d+(?:\.\d+)?|=\?=|=!=|===|!==|==|!=|<=|>=|&&|\|\||\S/g;

/** A constant or an attribute. */
function readLiteral(token: string): Expression | undefined {
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

/** Undefined on either side makes a comparison undefined, except for those by identity. */
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
