/** What an expression of Bicep comes to. */
export type Value = string | number | boolean | null | readonly Value[] | Fields | Reference | Closure;

export interface Fields {
  readonly [key: string]: Value;
}

/** Something that only Azure knows, such as the id of a resource. As text it stands in angle brackets. */
export class Reference {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  toString(): string {
    return `<${this.path}>`;
  }

  toJSON(): string {
    return this.toString();
  }
}

export class Closure {
  readonly call: (items: readonly Value[]) => Value;

  constructor(call: (items: readonly Value[]) => Value) {
    this.call = call;
  }
}

export function isFields(value: Value | undefined): value is Fields {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Reference) &&
    !(value instanceof Closure)
  );
}

export function listOf(value: Value | undefined): readonly Value[] {
  if (Array.isArray(value)) return value;
  throw new Error(`expected a list, found ${JSON.stringify(value)}`);
}

export function textFrom(value: Value | undefined): string {
  if (value instanceof Reference) return value.toString();
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return String(value);
  throw new Error(`expected a text, found ${JSON.stringify(value)}`);
}

/** The value at `a.b.0.c`; undefined: there is none. */
export function at(value: Value | undefined, path: string): Value | undefined {
  return path.split(".").reduce((found: Value | undefined, key) => {
    if (Array.isArray(found)) return found[Number(key)];
    return isFields(found) ? found[key] : undefined;
  }, value);
}

/** The items of a list; of anything else none. */
export function itemsIn(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? value : [];
}
