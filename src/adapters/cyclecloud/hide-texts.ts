import { isObject } from "./read-fields.ts";
import type { Answer } from "./transport.ts";

/** Shorter texts are ordinary words, which an answer may contain for any reason. */
const SHORTEST_HIDDEN = 8;

/** An answer without the texts that `sent` contains at any depth: error answers quote the request, which may hold secrets. */
export function hideTexts(answer: Answer, sent: unknown): Answer {
  // The longest first, because one may be part of another.
  const hidden = textsIn(sent)
    .filter((text) => text.length >= SHORTEST_HIDDEN)
    .toSorted((a, b) => b.length - a.length);
  return hidden.length === 0 ? answer : { ...answer, body: without(answer.body, hidden) };
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

function without(value: unknown, hidden: readonly string[]): unknown {
  if (typeof value === "string")
    return hidden.reduce((text, secret) => text.replaceAll(secret, "***"), value);
  if (Array.isArray(value)) return value.map((item) => without(item, hidden));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, without(item, hidden)]));
}
