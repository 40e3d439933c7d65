import { parseSync } from "vite";
import type { SourceFile } from "./imports.ts";

/** Words that a technical manual does not use. Each is an example of a group (docs/developing.md, Conventions). */
const FORBIDDEN: readonly RegExp[] = [
  /\bso many\b/gi,
  /\bwhoever\b/gi,
  /\bnobody\b/gi,
  /\bsomebody\b/gi,
  /\banew\b/gi,
  /\bNOT WELL\b/g,
  /\btells\b/gi,
  // An observation, as the glossary calls it.
  /\b(?:a|the|each|last|next) look\b/gi,
];

/** How often forbidden words occur in a file's string literals, and in its comments. */
export interface Wording {
  readonly texts: number;
  readonly comments: number;
}

/** How often forbidden words occur in a text. Line breaks count as spaces, also in comments. */
export function countForbidden(text: string): number {
  const oneLine = text.replaceAll(/\s*\n\s*\*?\s*/g, " ");
  return FORBIDDEN.reduce((sum, pattern) => sum + [...oneLine.matchAll(pattern)].length, 0);
}

/** Counts forbidden words in a source file. String literals and the fixed parts of templates are texts. Names are not checked. */
export function measureWording({ path, text }: SourceFile): Wording {
  const { program } = parseSync(path, text);
  const texts: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const literal = textOf(value);
    if (literal !== undefined) texts.push(literal);
    for (const child of Object.values(value)) visit(child);
  };
  visit(program);
  return { texts: countForbidden(texts.join("\n\n")), comments: countInComments({ path, text }) };
}

/** Counts forbidden words in the comments of a source file. */
export function countInComments({ path, text }: SourceFile): number {
  const { comments } = parseSync(path, text);
  return countForbidden(comments.map(({ value }) => value.trim()).join("\n"));
}

function textOf(node: object): string | undefined {
  if (!("type" in node) || !("value" in node)) return undefined;
  const { type, value } = node;
  if (type === "Literal" && typeof value === "string") return value;
  if (type !== "TemplateElement" || typeof value !== "object" || value === null) return undefined;
  return "cooked" in value && typeof value.cooked === "string" ? value.cooked : undefined;
}
