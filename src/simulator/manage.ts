import type { Fleet } from "./fleet.ts";
import { cycleNode, deallocateNode, startNode, terminateNode } from "./node-actions.ts";
import type { Roster } from "./roster.ts";
import { isObject, readAttribute } from "./json.ts";
import type { SimulatedNode } from "./node.ts";
import type { Quirks } from "./options.ts";
import type { Cluster } from "./world.ts";
import type { Invalid } from "./check-create.ts";
import type { JsonObject } from "./json.ts";

type ManagementRequest = {
  readonly requestId: string | undefined;
  readonly ids: readonly string[];
  readonly names: readonly string[];
  readonly hostnames: readonly string[];
  readonly addresses: readonly string[];
  readonly filter: Filter | undefined;
};

type CheckedManagement = { readonly kind: "valid"; readonly request: ManagementRequest } | Invalid;

export type ManagedNode = {
  readonly id: string;
  readonly name: string;
  readonly status: "OK" | "Error";
  readonly error?: string;
};

/** Checks a request to manage nodes (cyclecloud-wire.md A.7). */
export function checkManagement(body: unknown): CheckedManagement {
  if (!isObject(body)) return { kind: "invalid", message: "The request must be a JSON object" };
  const { requestId, filter } = body;
  if (requestId !== undefined && (typeof requestId !== "string" || requestId === "")) {
    return { kind: "invalid", message: "requestId must be a string" };
  }
  if (filter !== undefined && typeof filter !== "string")
    return { kind: "invalid", message: "filter must be a ClassAd expression" };
  const read = filter === undefined ? undefined : readFilter(filter);
  if (read?.kind === "malformed")
    return { kind: "invalid", message: `filter cannot be read at ${JSON.stringify(read.at)}` };
  const lists = [body["ids"], body["names"], body["hostnames"], body["ip_addresses"]];
  if (read === undefined && lists.every((list) => list === undefined)) {
    return { kind: "invalid", message: "One of filter, ids, names, hostnames, ip_addresses is required" };
  }
  const [ids, names, hostnames, addresses] = lists.map(readTexts);
  if (ids === undefined || names === undefined || hostnames === undefined || addresses === undefined) {
    return { kind: "invalid", message: "ids, names, hostnames and ip_addresses must be lists of strings" };
  }
  return { kind: "valid", request: { requestId, ids, names, hostnames, addresses, filter: read?.matches } };
}

function readTexts(list: unknown): readonly string[] | undefined {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return undefined;
  const texts = list.filter((item) => typeof item === "string");
  return texts.length === list.length ? texts : undefined;
}

/** All listed nodes that any selector matches. A selector that matches no node is no error. */
export function selectNodes(
  request: ManagementRequest,
  cluster: Cluster,
  roster: Roster,
): readonly SimulatedNode[] {
  const selected = new Set<SimulatedNode>();
  for (const id of request.ids) {
    const node = roster.find(id);
    if (node !== undefined && node.shown && node.cluster === cluster) selected.add(node);
  }
  const names = new Set(request.names);
  const hostnames = new Set(request.hostnames);
  const addresses = new Set(request.addresses);
  const { filter } = request;
  if (names.size + hostnames.size + addresses.size === 0 && filter === undefined) return [...selected];
  for (const node of roster.nodesOf(cluster)) {
    if (!node.shown) continue;
    const { address } = node;
    const named = names.has(node.name);
    const addressed =
      address !== undefined && (hostnames.has(address.hostname) || addresses.has(address.privateIp));
    if (named || addressed || filter?.(roster.recordOf(node)) === true) selected.add(node);
  }
  return [...selected];
}

/** Starts nodes. The result says for each whether it was possible (cyclecloud-wire.md A.7). */
export function startNodes(
  nodes: readonly SimulatedNode[],
  requestId: string | undefined,
  fleet: Fleet,
  now: number,
): readonly ManagedNode[] {
  return nodes.map((node) => {
    const error = startNode(fleet, node, requestId, now);
    const { id, name } = node;
    return error === undefined ? { id, name, status: "OK" } : { id, name, status: "Error", error };
  });
}

/** Restarts or reimages nodes. The result says for each whether it was possible (cyclecloud-wire.md A.2, 8.8). */
export function cycleNodes(
  nodes: readonly SimulatedNode[],
  action: "restart" | "reimage",
  fleet: Fleet,
  now: number,
): readonly ManagedNode[] {
  return nodes.map((node) => {
    const error = cycleNode(fleet, node, action === "restart" ? "Restarting" : "Reimaging", now);
    const { id, name } = node;
    return error === undefined ? { id, name, status: "OK" } : { id, name, status: "Error", error };
  });
}

type StopAction = "terminate" | "remove" | "shutdown" | "deallocate";

/** Stops all nodes except those with KeepAlive. The result says which were stopped (cyclecloud-wire.md A.7). */
export function stopNodes(
  nodes: readonly SimulatedNode[],
  action: StopAction,
  requestId: string | undefined,
  quirks: Quirks,
  fleet: Fleet,
  now: number,
): readonly ManagedNode[] {
  const results: ManagedNode[] = [];
  for (const node of nodes) {
    if (!node.keepAlive) {
      const keepsDisks =
        action === "deallocate" || (action === "shutdown" && node.array?.shutdownPolicy === "Deallocate");
      if (keepsDisks) deallocateNode(fleet, node, requestId, now);
      else terminateNode(fleet, node, requestId, now);
      results.push({ id: node.id, name: node.name, status: "OK" });
    } else if (quirks.keepAliveTerminate === "error") {
      results.push({ id: node.id, name: node.name, status: "Error", error: "This node has KeepAlive set" });
    }
  }
  return results;
}

/** Whether a record matches a filter. */
type Filter = (record: JsonObject) => boolean;

type Value = string | number | boolean | undefined;
type Expression = (record: JsonObject) => Value;

/** The `filter` of a request for nodes: a ClassAd expression, for example `State === "Started"` (cyclecloud-wire.md A.7). */
type ReadFilter =
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
