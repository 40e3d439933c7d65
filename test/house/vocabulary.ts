import { parseSync } from "vite";
import type { SourceFile } from "./imports.ts";

/** The names in one source file. */
export interface Names {
  readonly path: string;
  /** Interfaces, classes and type aliases that the file declares. */
  readonly types: readonly string[];
  /** All identifiers, each once. */
  readonly identifiers: readonly string[];
}

/** A word of the glossary, and the type that means exactly this. */
export interface Term {
  readonly word: string;
  readonly type: string;
}

/** The simulator is a second reading of CycleCloud, and the answers are generated from schemas. */
const HAS_OWN_WORDS = /^src\/(?:simulator\/|client\/answers\.ts$)/;

const DECLARATIONS = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration", "ClassDeclaration"]);

export function namesIn({ path, text }: SourceFile): Names {
  const types: string[] = [];
  const identifiers = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const name = "type" in value && /^(?:Private)?Identifier$/.test(String(value.type)) ? nameOf(value) : "";
    if (name !== "") identifiers.add(name);
    if ("type" in value && "id" in value && DECLARATIONS.has(String(value.type)))
      types.push(nameOf(value.id));
    for (const child of Object.values(value)) visit(child);
  };
  visit(parseSync(path, text).program);
  return { path, types, identifiers: [...identifiers] };
}

function nameOf(node: unknown): string {
  const isNamed = typeof node === "object" && node !== null && "name" in node;
  return isNamed && typeof node.name === "string" ? node.name : "";
}

/** Types that have the name of a glossary word and are not the glossary's type. */
export function otherMeanings(terms: readonly Term[], files: readonly Names[]): readonly string[] {
  const types = new Map(terms.map(({ word, type }) => [pascalCase(word), type]));
  return files
    .filter(({ path }) => !HAS_OWN_WORDS.test(path))
    .flatMap(({ path, types: declared }) =>
      declared.filter((name) => (types.get(name) ?? name) !== name).map((name) => `${path}: ${name}`),
    );
}

/** Names with one of these words in them, by file: "path: name". */
export function namesWith(word: RegExp, files: readonly Names[]): readonly string[] {
  return files.flatMap(({ path, identifiers }) =>
    identifiers
      .filter((name) => wordsOf(name).some((one) => word.test(one)))
      .map((name) => `${path}: ${name}`),
  );
}

function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split("_");
}

function pascalCase(word: string): string {
  return word.replaceAll(/(?:^| )([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
