/**
 * Whether two pieces of plain data (values, arrays, objects, Maps and Sets) are equal. Maps and Sets must also have the same order. In most
 * of them order has no meaning, but a false "no" costs only time. Identical objects are not compared further.
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

function sameMembers(a: object, b: object): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameData(Reflect.get(a, name), Reflect.get(b, name)))
  );
}
