import { isActing, showJson } from "../../domain/shown.ts";
import { BOUNDS } from "../json/bounds.ts";

/** A place in a configuration document: the keys that lead to it. At least one. */
export type ConfigPath = readonly string[];

/** A key that needs no quotes in the text of a path. */
const PLAIN = /^[^.[\]"=\s]+$/;

const PART = /\.?(?:\["((?:[^"\\]|\\.)*)"\]|\[([^\]"]+)\])|(\.?)([^.[\]]+)/gy;

/**
 * Reads the text of a path: `caps.users["anna.smith"].nodes`. A key with a dot stands in brackets. Its quotes may be missing, because shells
 * take them away. Undefined if the text is no path.
 */
export function readPath(text: string): ConfigPath | undefined {
  if (text.length > BOUNDS.name) return undefined;
  const keys: string[] = [];
  PART.lastIndex = 0;
  for (let at = 0; at < text.length; at = PART.lastIndex) {
    const found = PART.exec(text);
    if (found === null) return undefined;
    const [, quoted, bare, dot, plain] = found;
    // A plain key follows a dot, except the first one, which follows nothing.
    if (plain !== undefined && (dot === ".") === (at === 0)) return undefined;
    const key = quoted === undefined ? (bare ?? plain) : unquoted(quoted);
    if (key === undefined) return undefined;
    keys.push(key);
  }
  return keys.length === 0 ? undefined : keys;
}

function unquoted(text: string): string | undefined {
  try {
    const key: unknown = JSON.parse(`"${text}"`);
    return typeof key === "string" ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a path, which {@link readPath} reads. */
export function pathText(path: ConfigPath): string {
  return path.map(memberText).join("").replace(/^\./, "");
}

/** A key as a part of such a text, behind others. Characters that act on a terminal are escaped, so that the text can be copied. */
export function memberText(key: string): string {
  return PLAIN.test(key) && !isActing(key) ? `.${key}` : `[${showJson(key)}]`;
}

/** Whether one of two places lies within the other, or they are the same. */
export function overlap(one: ConfigPath, other: ConfigPath): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.every((key, index) => key === long[index]);
}
