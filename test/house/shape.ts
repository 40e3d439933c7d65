import { parseSync } from "vite";
import type { SourceFile } from "./imports.ts";
import type { SyntaxNode } from "../support/syntax.ts";
import { childrenOf, FUNCTIONS, isNode } from "../support/syntax.ts";

/** The measures of a source file. */
export interface Shape {
  readonly path: string;
  readonly lines: number;
  /** Names of the functions of more than {@link MOST_FUNCTION_LINES} lines. */
  readonly longFunctions: readonly string[];
  /** By kind: the lines that the type system does not check. */
  readonly flaws: Readonly<Record<Flaw, readonly number[]>>;
}

/** `as` other than `as const`; `any`; `!` after an expression. */
export type Flaw = "as" | "any" | "!";

export const FLAWS: readonly Flaw[] = ["as", "any", "!"];

export const MOST_FILE_LINES = 400;
export const MOST_FUNCTION_LINES = 45;

/** Measures one source file, with Vite's parser: TypeScript 7 has none to call. */
export function measure({ path, text }: SourceFile): Shape {
  const lineOf = lineFinder(text);
  const longFunctions: string[] = [];
  const flaws: Record<Flaw, number[]> = { as: [], any: [], "!": [] };
  const visit = (node: SyntaxNode, above: readonly SyntaxNode[]): void => {
    if (FUNCTIONS.has(node.type) && lineOf(node.end - 1) - lineOf(node.start) >= MOST_FUNCTION_LINES)
      longFunctions.push(nameOf(node, above));
    const flaw = flawOf(node);
    if (flaw !== undefined) flaws[flaw].push(lineOf(node.start));
    for (const child of childrenOf(node)) visit(child, [...above, node]);
  };
  const { program } = parseSync(path, text);
  if (isNode(program)) visit(program, []);
  return {
    path,
    lines: countLines(text),
    longFunctions,
    flaws,
  };
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

function lineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const next = starts.findIndex((start) => start > offset);
    return next < 0 ? starts.length : next;
  };
}

/** The function's own name, or the name of what it is assigned to. Otherwise the name of the function around it, with "()". */
function nameOf(node: SyntaxNode, above: readonly SyntaxNode[]): string {
  const own = [node, above.at(-1)].flatMap((one) => [one?.["id"], one?.["key"]]).find(isNode);
  const name = own?.["name"];
  if (typeof name === "string") return name;
  const around = above.findLastIndex(({ type }) => FUNCTIONS.has(type));
  const outer = above[around];
  return outer === undefined ? "()" : `${nameOf(outer, above.slice(0, around))}()`;
}

function flawOf(node: SyntaxNode): Flaw | undefined {
  switch (node.type) {
    case "TSAsExpression":
      return isConst(node["typeAnnotation"]) ? undefined : "as";
    case "TSTypeAssertion":
      return "as";
    case "TSAnyKeyword":
      return "any";
    case "TSNonNullExpression":
      return "!";
    default:
      return undefined;
  }
}

function isConst(type: unknown): boolean {
  if (!isNode(type) || type.type !== "TSTypeReference") return false;
  const name = type["typeName"];
  return isNode(name) && name["name"] === "const";
}
