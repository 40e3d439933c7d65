/** Long enough that a piece has little overhead, short compared with a demand of a hundred megabytes. */
const PIECE = 256 * 1024;

/** The result of JSON.stringify in pieces: the text of a large value is as large as the value itself. */
export function* jsonPieces(value: unknown): Generator<string> {
  let text = "";
  for (const part of partsOf(value)) {
    text += part;
    if (text.length < PIECE) continue;
    yield text;
    text = "";
  }
  yield text;
}

function partsOf(value: unknown): Iterable<string> {
  if (Array.isArray(value)) return itemsOf(value);
  if (typeof value === "object" && value !== null) return membersOf(value);
  return [JSON.stringify(value) ?? "null"];
}

function* membersOf(value: object): Generator<string> {
  let before = "{";
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(key)}:`;
    if (Array.isArray(member)) yield* itemsOf(member);
    else yield JSON.stringify(member);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}

/** Items that are written at once: a call for each of 100,000 jobs takes twice as long. */
const AT_ONCE = 32;

function* itemsOf(items: readonly unknown[]): Generator<string> {
  let before = "[";
  for (let at = 0; at < items.length; at += AT_ONCE) {
    yield before + JSON.stringify(items.slice(at, at + AT_ONCE)).slice(1, -1);
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
