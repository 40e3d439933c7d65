/**
 * Slurm's host lists: "htc-[1-3,7],gpu-2" is htc-1, htc-2, htc-3, htc-7 and gpu-2. Senders may write names so, and the record keeps thousands
 * of names in a short text.
 */

/** What is wrong with a text that is no host list. */
interface NoHostList {
  readonly found: string;
  readonly expected: string;
}

/** The names of a list, in its order. More than `most` names, or a text of another form, is a problem. */
export function expandHostList(text: string, most: number): readonly string[] | NoHostList {
  const names: string[] = [];
  for (const part of partsOf(text)) {
    const found = expandPart(part, most - names.length);
    if (found === "too-many") return { found: "more names", expected: `at most ${most} names` };
    if (found === undefined)
      return { found: part, expected: "a name, or a name with numbers in brackets, as htc-[1-3,7]" };
    for (const name of found) names.push(name);
  }
  return names;
}

/** Divides at the commas outside of brackets. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  let isInside = false;
  for (let at = 0; at <= text.length; at += 1) {
    const character = text[at];
    if (character === "[") isInside = true;
    if (character === "]") isInside = false;
    if (at < text.length && (character !== "," || isInside)) continue;
    parts.push(text.slice(from, at).trim());
    from = at + 1;
  }
  return parts;
}

/** A plain beginning, then numbers in brackets, then the rest of the name, which may have brackets again. */
const BRACKETS = /^([^[\]]*)\[([^[\]]*)\](.*)$/s;

function expandPart(part: string, room: number): readonly string[] | "too-many" | undefined {
  const match = BRACKETS.exec(part);
  if (match === null) {
    if (part === "" || /[[\]]/.test(part)) return undefined;
    return room < 1 ? "too-many" : [part];
  }
  const [, before = "", ranges = "", after = ""] = match;
  const numbers = numbersOf(ranges, room);
  const rests = after === "" ? [""] : expandPart(after, room);
  if (!Array.isArray(numbers)) return numbers;
  if (rests === undefined || rests === "too-many") return rests;
  if (numbers.length * rests.length > room) return "too-many";
  return numbers.flatMap((number) => rests.map((rest) => `${before}${number}${rest}`));
}

/** A number, or a first and a last one. Leading zeros of the first give the width of all. */
const RANGE = /^(\d{1,15})(?:-(\d{1,15}))?$/;

function numbersOf(ranges: string, room: number): string[] | "too-many" | undefined {
  const numbers: string[] = [];
  for (const range of ranges.split(",")) {
    const [, first, last = first] = RANGE.exec(range.trim()) ?? [];
    if (first === undefined || last === undefined || Number(last) < Number(first)) return undefined;
    if (numbers.length + Number(last) - Number(first) + 1 > room) return "too-many";
    const width = first.startsWith("0") ? first.length : 0;
    for (let number = Number(first); number <= Number(last); number += 1)
      numbers.push(String(number).padStart(width, "0"));
  }
  return numbers;
}

/** A name with the number at its end. */
const NUMBERED = /^(.*?)(\d{1,15})$/s;

/** The shortest list that we write of these names: those that differ in the number at the end share brackets. */
export function foldHostList(names: Iterable<string>): string {
  const series = new Map<string, { readonly stem: string; readonly numbers: string[] }>();
  for (const name of names) {
    const [, stem, number] = NUMBERED.exec(name) ?? [];
    if (stem === undefined || number === undefined) series.set(name, { stem: name, numbers: [] });
    else {
      // Numbers with leading zeros share a range only with those of their width.
      const key = `${stem}[${number.startsWith("0") ? number.length : ""}`;
      const known = series.get(key);
      if (known === undefined) series.set(key, { stem, numbers: [number] });
      else known.numbers.push(number);
    }
  }
  return [...series.values()].map(({ stem, numbers }) => `${stem}${foldNumbers(numbers)}`).join(",");
}

function foldNumbers(numbers: readonly string[]): string {
  if (numbers.length < 2) return numbers[0] ?? "";
  const sorted = [...new Set(numbers)].sort((a, b) => Number(a) - Number(b));
  const ranges: { readonly first: string; last: string }[] = [];
  for (const number of sorted) {
    const range = ranges.at(-1);
    if (range !== undefined && Number(range.last) + 1 === Number(number)) range.last = number;
    else ranges.push({ first: number, last: number });
  }
  const texts = ranges.map(({ first, last }) => (first === last ? first : `${first}-${last}`));
  return `[${texts.join(",")}]`;
}
