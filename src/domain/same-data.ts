/**
 * Whether two pieces of plain data (values, arrays, objects of either, Maps and Sets) say the same. Maps and Sets must also have the same
 * order: in most of them it means nothing, but then the answer "no" costs only time. What is the very same object is not looked into.
 */
export function sameData(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b);
  if (a instanceof Map) return b instanceof Map && a.size === b.size && sameInTurn(a, b);
  if (a instanceof Set) return b instanceof Set && a.size === b.size && sameInTurn(a, b);
  return !Array.isArray(b) && !(b instanceof Map) && !(b instanceof Set) && sameMembers(a, b);
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => sameData(item, b[i]));
}

function sameInTurn(a: Iterable<unknown>, b: Iterable<unknown>): boolean {
  const others = b[Symbol.iterator]();
  for (const item of a) if (!sameData(item, others.next().value)) return false;
  return true;
}

/** Whether two objects say the same but for the member of this name. A member that is undefined is one all the same. */
export function sameBut<T extends object>(name: keyof T & string, a: T, b: T): boolean {
  return a === b || sameMembers(a, b, name);
}

function sameMembers(a: object, b: object, but?: string): boolean {
  let left = Object.keys(b).length;
  if (but !== undefined && Object.hasOwn(b, but)) left -= 1;
  for (const name of Object.keys(a)) {
    if (name === but) continue;
    if (!Object.hasOwn(b, name) || !sameData(Reflect.get(a, name), Reflect.get(b, name))) return false;
    left -= 1;
  }
  return left === 0;
}
