import { createHash } from "node:crypto";
import type { Value } from "./value.ts";
import { Closure, isFields, listOf, Reference, textFrom } from "./value.ts";

/** What the platform gives: names of files, and values that differ at each deployment. */
export interface Surroundings {
  readonly fresh: () => string;
  readonly file: (path: string) => string;
  readonly environment: Readonly<Record<string, string>>;
}

type BicepFunction = (items: readonly Value[], surroundings: Surroundings) => Value;

const hash = (items: readonly Value[], length: number): string =>
  createHash("sha256").update(JSON.stringify(items)).digest("hex").slice(0, length);

const isEmpty = (value: Value | undefined): boolean =>
  value === "" ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isFields(value) && Object.keys(value).length === 0);

/** The functions that infra/ calls, as the platform computes them; ids and hashes are stand-ins. */
export const FUNCTIONS: Readonly<Record<string, BicepFunction>> = {
  cidrSubnet: ([prefix, size, index]) => `${textFrom(prefix)}/${textFrom(size)}#${textFrom(index)}`,
  concat: (items) => items.flatMap((item) => listOf(item)),
  contains: ([where, what]) => {
    if (typeof where === "string") return where.includes(textFrom(what));
    return isFields(where) ? textFrom(what) in where : listOf(where).includes(what ?? null);
  },
  dateTimeToEpoch: ([moment]) => Date.parse(textFrom(moment)) / 1000,
  empty: ([value]) => isEmpty(value),
  environment: () => ({ suffixes: { storage: "core.windows.net" } }),
  guid: (items) => `guid-${hash(items, 12)}`,
  join: ([items, between]) => listOf(items).map(textFrom).join(textFrom(between)),
  last: ([items]) => listOf(items).at(-1) ?? null,
  map: ([items, closure]) => listOf(items).map((item) => call(closure, item)),
  loadTextContent: ([path], { file }) => file(textFrom(path)),
  newGuid: (_items, { fresh }) => fresh(),
  parseCidr: ([prefix]) => ({ cidr: Number(textFrom(prefix).split("/")[1]) }),
  readEnvironmentVariable: ([name, otherwise], { environment }) =>
    environment[textFrom(name)] ?? otherwise ?? "",
  replace: ([text, what, by]) => textFrom(text).replaceAll(textFrom(what), textFrom(by)),
  resourceGroup: (items) =>
    items.length > 0
      ? items.map(textFrom).join("/")
      : { id: "/subscriptions/sub/resourceGroups/rg", name: "rg", location: "westeurope" },
  resourceId: (items) => `/${items.map(textFrom).join("/")}`,
  split: ([text, by]) => textFrom(text).split(textFrom(by)),
  string: ([value]) => (typeof value === "string" ? value : JSON.stringify(value)),
  subscription: () => ({ subscriptionId: "sub", tenantId: "tenant" }),
  subscriptionResourceId: (items) => `/${items.map(textFrom).join("/")}`,
  take: ([items, count]) => listOf(items).slice(0, Number(count)),
  toLower: ([text]) => textFrom(text).toLowerCase(),
  toObject: ([items, key, value]) =>
    Object.fromEntries(
      listOf(items).map((item) => [
        textFrom(call(key, item)),
        value === undefined ? item : call(value, item),
      ]),
    ),
  union: (items) =>
    items.every(isFields) ? items.reduce<Value>(merge, {}) : [...new Set(items.flatMap(listOf))],
  uniqueString: (items) => hash(items, 13),
};

function merge(first: Value, second: Value): Value {
  if (!isFields(first) || !isFields(second)) return second;
  const both = Object.entries(second).map(([key, value]): [string, Value] => {
    const before = first[key];
    return [key, before === undefined ? value : merge(before, value)];
  });
  return { ...first, ...Object.fromEntries(both) };
}

function call(closure: Value | undefined, item: Value): Value {
  if (closure instanceof Closure) return closure.call([item]);
  throw new Error("expected a lambda");
}

/** Members of what only Azure knows are known by Azure only, too. */
export function memberOf(of: Value, name: string): Value {
  if (of instanceof Reference) return new Reference(`${of.path}.${name}`);
  if (Array.isArray(of)) return of[Number(name)] ?? null;
  return isFields(of) ? (of[name] ?? null) : null;
}
