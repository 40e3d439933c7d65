import { parseSync } from "vite";
import { childrenOf, isNode } from "./syntax.ts";
import type { SyntaxNode } from "./syntax.ts";

/** A replacement in the sources of the product, which finds its place wherever the function is. */
export interface Edit {
  /** The function, class or constant at the top of a file that holds it; "Class.member" for a member of a class. */
  readonly in: string;
  /** What is replaced. It is there exactly once; white space does not count. */
  readonly from: string;
  readonly to: string;
  /** An import that the new text needs, for the top of the file. */
  readonly needs?: string;
  /** Where several files have such a place. */
  readonly file?: string;
}

/** The files that these edits change, with their new text. Throws if what an edit replaces is not there exactly once. */
export function mutate(
  sources: ReadonlyMap<string, string>,
  edits: readonly Edit[],
): ReadonlyMap<string, string> {
  const changed = new Map<string, string>();
  for (const edit of edits) {
    const places = [...sources].flatMap(([file, source]) => {
      const text = changed.get(file) ?? source;
      return placesIn(file, text, edit).map((place) => ({ file, text, ...place }));
    });
    const [found] = places;
    if (found === undefined || places.length > 1)
      throw new Error(`${edit.in} has ${places.length} times what the mutant replaces: ${edit.from}`);
    const { file, text, start, end } = found;
    const top = edit.needs === undefined ? "" : `${edit.needs}\n`;
    changed.set(file, top + text.slice(0, start) + edit.to + text.slice(end));
  }
  return changed;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function placesIn(path: string, text: string, edit: Edit): readonly Place[] {
  if (edit.file !== undefined && edit.file !== path) return [];
  const [outer = ""] = edit.in.split(".");
  if (!text.includes(outer)) return [];
  return declarationsOf(path, text)
    .filter(({ name }) => name === edit.in)
    .flatMap(({ start, end }) =>
      occurrences(text.slice(start, end), edit.from).map((place) => ({
        start: start + place.start,
        end: start + place.end,
      })),
    );
}

interface Declaration extends Place {
  readonly name: string;
}

/** What is declared at the top of a file, and the members of its classes. */
export function declarationsOf(path: string, text: string): readonly Declaration[] {
  const { program } = parseSync(path, text);
  return childrenOf({ ...program }).flatMap((statement) => {
    const declared = isNode(statement["declaration"]) ? statement["declaration"] : statement;
    const { start, end } = statement;
    const all = declared.type === "VariableDeclaration" ? childrenOf(declared) : [declared];
    return all.flatMap((one) => {
      const name = nameOf(one["id"]);
      if (name === undefined) return [];
      const body = isNode(one["body"]) && one.type === "ClassDeclaration" ? childrenOf(one["body"]) : [];
      const members = body.map((member) => ({
        name: `${name}.${nameOf(member["key"]) ?? ""}`,
        start: member.start,
        end: member.end,
      }));
      return [{ name, start, end }, ...members];
    });
  });
}

function nameOf(node: unknown): string | undefined {
  const named: Partial<SyntaxNode> = isNode(node) ? node : {};
  return typeof named["name"] === "string" ? named["name"] : undefined;
}

/** Where `part` stands in a text, compared without white space. */
function occurrences(text: string, part: string): readonly Place[] {
  const kept = [...text.matchAll(/\S/g)].map(({ index }) => index);
  const bare = text.replaceAll(/\s/g, "");
  const sought = part.replaceAll(/\s/g, "");
  const found: Place[] = [];
  for (let at = bare.indexOf(sought); at !== -1; at = bare.indexOf(sought, at + 1))
    found.push({ start: kept[at] ?? 0, end: (kept[at + sought.length - 1] ?? 0) + 1 });
  return found;
}
