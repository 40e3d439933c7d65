import type { Dice } from "../simulation/dice.ts";
import { edgeText, edgeValue, repeated } from "./edges.ts";

/** Where a value stands in a document, from the top. */
export type Place = readonly (string | number)[];

/** What {@link editAt} leaves out. */
export const ABSENT = Symbol("absent");

const MOST_PLACES = 600;

/** Every place in a document, the top first; the first ones of a large document. */
export function placesOf(document: unknown): readonly Place[] {
  const places: Place[] = [[]];
  for (let at = 0; at < places.length && places.length < MOST_PLACES; at += 1) {
    const place = places[at] ?? [];
    const value = valueAt(document, place);
    if (typeof value !== "object" || value === null) continue;
    const keys = Array.isArray(value) ? value.slice(0, 20).keys() : Object.keys(value);
    for (const key of keys) places.push([...place, key]);
  }
  return places;
}

export function valueAt(document: unknown, place: Place): unknown {
  let value = document;
  for (const key of place) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** The document with another value at a place; keys such as `__proto__` are members like others. */
export function editAt(document: unknown, place: Place, change: (old: unknown) => unknown): unknown {
  const [key, ...rest] = place;
  if (key === undefined) return change(document);
  if (Array.isArray(document))
    return document
      .map((item: unknown, index): unknown => (index === key ? editAt(item, rest, change) : item))
      .filter((item) => item !== ABSENT);
  if (typeof document !== "object" || document === null) return document;
  return Object.fromEntries(
    Object.entries(document)
      .map(([name, value]): [string, unknown] => [name, name === key ? editAt(value, rest, change) : value])
      .filter(([, value]) => value !== ABSENT),
  );
}

/** The document with one to three of its places changed: still valid in most of its parts. */
export function distort(dice: Dice, document: unknown): unknown {
  let edited = document;
  for (let left = dice.pick([1, 1, 1, 2, 3]); left > 0; left -= 1) edited = editOne(dice, edited);
  return edited;
}

function editOne(dice: Dice, document: unknown): unknown {
  const places = placesOf(document);
  // The top itself is seldom worth it.
  const anyPlace = (): Place => places[dice.whole(Math.min(1, places.length - 1), places.length - 1)] ?? [];
  const place = dice.chance(0.01) ? [] : anyPlace();
  const kind = dice.fraction();
  if (kind < 0.6) return editAt(document, place, (old) => edgeValue(dice, old));
  if (kind < 0.7) return place.length === 0 ? null : editAt(document, place, () => ABSENT);
  if (kind < 0.78) {
    const other = valueAt(document, anyPlace());
    return editAt(document, place, () => other);
  }
  if (kind < 0.88) return editAt(document, place, (old) => withKey(dice, old));
  return editAt(document, place, (old) =>
    Array.isArray(old) && old.length > 0 ? repeated(dice, old[0]) : edgeValue(dice, old),
  );
}

/** With a key more, or with another name for one. */
function withKey(dice: Dice, old: unknown): unknown {
  if (typeof old !== "object" || old === null || Array.isArray(old)) return edgeValue(dice, old);
  const entries = Object.entries(old);
  const key = edgeText(dice).slice(0, 300);
  const [first] = entries;
  if (first !== undefined && dice.chance(0.4))
    return Object.fromEntries([[key, first[1]], ...entries.slice(1)]);
  return Object.fromEntries([...entries, [key, edgeValue(dice, 1)]]);
}
