/** Longer keys are not typing errors. */
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
  const distanceTo = editDistanceFrom(wanted);
  const most = Math.max(1, Math.floor(wanted.length / 3));
  const found: { readonly name: string; readonly distance: number }[] = [];
  for (const name of known) {
    const candidate = simplified(name);
    // The distance is at least the difference in length.
    if (Math.abs(candidate.length - wanted.length) > most) continue;
    const distance = distanceTo(candidate);
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

/** Bits of a number. */
const WORD = 32;

/**
 * Levenshtein distance: the minimum number of characters to insert, delete or replace. By Myers' bit vectors: of a column of the usual table
 * only the steps from row to row are kept, as two bits of a word. A plan compares thousands of names with thousands of others, and cell by cell
 * each comparison takes tens of microseconds.
 */
function editDistanceFrom(from: string): (to: string) => number {
  if (from === "") return (to) => to.length;
  const words = Math.ceil(from.length / WORD);
  const rowsOf = new Map<number, Int32Array>();
  for (let row = 0; row < from.length; row += 1) {
    const code = from.charCodeAt(row);
    const rows = rowsOf.get(code) ?? new Int32Array(words);
    rows[Math.floor(row / WORD)] = (rows[Math.floor(row / WORD)] ?? 0) | (1 << (row % WORD));
    rowsOf.set(code, rows);
  }
  const none = new Int32Array(words);
  const last = (from.length - 1) % WORD;
  const [ups, downs] = [new Int32Array(words), new Int32Array(words)];
  return (to) => {
    ups.fill(-1);
    downs.fill(0);
    let distance = from.length;
    for (let at = 0; at < to.length; at += 1) {
      const rows = rowsOf.get(to.charCodeAt(at)) ?? none;
      // The step to the right in the row above: one more in the first row.
      let step = 1;
      for (let word = 0; word < words; word += 1) {
        const [up, down, equal] = [ups[word] ?? 0, downs[word] ?? 0, rows[word] ?? 0];
        const same = step < 0 ? equal | 1 : equal;
        const diagonal = (((same & up) + up) ^ up) | same;
        const [right, left] = [down | ~(diagonal | up), up & diagonal];
        const [above, top] = [step, word === words - 1 ? last : WORD - 1];
        step = ((right >>> top) & 1) - ((left >>> top) & 1);
        const moved = (right << 1) | (above > 0 ? 1 : 0);
        ups[word] = (left << 1) | (above < 0 ? 1 : 0) | ~(equal | down | moved);
        downs[word] = moved & (equal | down);
      }
      distance += step;
    }
    return distance;
  };
}
