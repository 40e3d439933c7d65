import { readFileSync } from "node:fs";
import { z } from "zod";

const table = z.object({
  source: z.string(),
  resources: z.record(z.string(), z.record(z.string(), z.record(z.string(), z.string()))),
});

/** What a property takes, read from the short form (infra/make-resource-types.ts). */
export interface Accepted {
  readonly required: boolean;
  readonly readOnly: boolean;
  readonly type: AcceptedType;
}

export type AcceptedType =
  | { readonly kind: "string" | "integer" | "boolean" | "any" }
  | { readonly kind: "words"; readonly words: readonly string[]; readonly open: boolean }
  | { readonly kind: "list"; readonly of: AcceptedType }
  | { readonly kind: "object"; readonly object: string };

export type ObjectTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

const parsed = table.parse(JSON.parse(readFileSync(new URL("resource-types.json", import.meta.url), "utf8")));

/** The table as it is kept in the repository. */
export const KEPT: { readonly source: string; readonly resources: Readonly<Record<string, ObjectTable>> } =
  parsed;

/** The objects of a resource type; the first is its body. */
export function typeOf(name: string): ObjectTable | undefined {
  return parsed.resources[name];
}

export function readAccepted(text: string): Accepted {
  const [, marks = "", type = "any"] = /^([!-]*)(.*)$/.exec(text) ?? [];
  return { required: marks.includes("!"), readOnly: marks.includes("-"), type: readType(type) };
}

function readType(text: string): AcceptedType {
  if (text.endsWith("[]")) return { kind: "list", of: readType(text.slice(0, -2)) };
  if (text.startsWith("#")) return { kind: "object", object: text.slice(1) };
  if (text.startsWith("(")) {
    const words = text.slice(1, -1).split("|");
    return { kind: "words", words: words.filter((word) => word !== "..."), open: words.includes("...") };
  }
  return text === "string" || text === "integer" || text === "boolean" ? { kind: text } : { kind: "any" };
}
