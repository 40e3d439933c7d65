/** Longer keys are not typing errors, and comparing them would take time proportional to the square of their length. */
const LONGEST_TYPED_KEY = 64;

/**
 * The known key that `key` was probably meant to be: the one with the smallest edit distance, ignoring case, "-" and "_". At most a third
 * of the characters may differ.
 */
export function nearest(key: string, known: readonly string[]): string | undefined {
  return nearestFew(key, known, 1)[0];
}

/** Up to `count` known keys that `key` was probably meant to be, most likely first. */
export function nearestFew(key: string, known: Iterable<string>, count: number): readonly string[] {
  if (key.length > LONGEST_TYPED_KEY) return [];
  const wanted = simplified(key);
  const most = Math.max(1, Math.floor(wanted.length / 3));
  const found: { readonly name: string; readonly distance: number }[] = [];
  for (const name of known) {
    const candidate = simplified(name);
    // The distance is at least the difference in length.
    if (Math.abs(candidate.length - wanted.length) > most) continue;
    const distance = editDistance(wanted, candidate);
    if (distance > most) continue;
    // Of equals the first stays first.
    const at = found.findIndex((one) => distance < one.distance);
    found.splice(at < 0 ? found.length : at, 0, { name, distance });
    if (found.length > count) found.pop();
  }
  return found.map(({ name }) => name);
}

function simplified(key: string): string {
  return key.toLowerCase().replaceAll(/[-_]/g, "");
}

/** Levenshtein distance: the minimum number of characters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
