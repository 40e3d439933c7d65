import type { Answer } from "../../src/adapters/cyclecloud/transport.ts";
import { writeText } from "./edges.ts";
import { ABSENT, editAt, placesOf } from "./edit.ts";
import { memberOf } from "./judge.ts";
import type { Tamper } from "./world.ts";

/** Changes of one answer or row; `document` is a list of edits as generate.ts draws them. */
export function edited(document: unknown, body: unknown, nth: number): unknown {
  let next = body;
  for (const edit of Array.isArray(document) ? document : []) {
    if (memberOf(edit, "nth") !== nth) continue;
    const places = placesOf(next);
    const at = memberOf(edit, "at");
    const place = places[Math.floor((typeof at === "number" ? at % 1 : 0) * places.length)] ?? [];
    const value = memberOf(edit, "value");
    const key = memberOf(edit, "key");
    next = editAt(next, place, (old) => {
      if (typeof key === "string")
        return typeof old === "object" && old !== null && !Array.isArray(old)
          ? Object.fromEntries([...Object.entries(old), [key, value ?? null]])
          : old;
      return value === undefined ? (place.length === 0 ? null : ABSENT) : value;
    });
  }
  return next;
}

/** Tampers with the next answers of CycleCloud: only of its status, or of any call. */
export function tamperBy(how: string, document: unknown): Tamper {
  let nth = -1;
  return (request, answer) => {
    if (how === "status" && !request.path.endsWith("/status")) return answer;
    nth += 1;
    const body = edited(document, answer.body, nth);
    return { ...answer, status: statusFor(document, nth) ?? answer.status, body: reread(body) };
  };
}

function statusFor(document: unknown, nth: number): number | undefined {
  const all: readonly unknown[] = Array.isArray(document) ? document : [];
  const statuses = all
    .filter((edit) => memberOf(edit, "nth") === nth)
    .map((edit) => memberOf(edit, "status"));
  return statuses.find((status) => typeof status === "number");
}

/** As the transport parses it: the text of what is no JSON. */
function reread(body: unknown): Answer["body"] {
  const text = body === undefined ? "" : writeText(body, "x");
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
