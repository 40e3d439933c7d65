import { withoutSecrets } from "../../domain/secrets.ts";
import { isObject } from "./read-fields.ts";
import type { Answer } from "./transport.ts";

/** An answer without the texts that `sent` contains at any depth: error answers quote the request, which may hold secrets. */
export function hideTexts(answer: Answer, sent: unknown): Answer {
  const hidden = textsIn(sent);
  return hidden.length === 0 ? answer : { ...answer, body: without(answer.body, hidden) };
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

function without(value: unknown, hidden: readonly string[]): unknown {
  if (typeof value === "string") return withoutSecrets(value, hidden);
  if (Array.isArray(value)) return value.map((item) => without(item, hidden));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, without(item, hidden)]));
}
