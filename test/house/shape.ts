import { parseSync } from "vite";
import type { SourceFile } from "./imports.ts";

/** The measures of a source file. */
export interface Shape {
  readonly path: string;
  readonly lines: number;
  /** The file gives a reason for its length: a comment at its head begins with "Long: ". */
  readonly saysWhy: boolean;
  /** Names of the functions of more than {@link MOST_FUNCTION_LINES} lines. */
  readonly longFunctions: readonly string[];
  /** By kind: the lines that the type system does not check, or that have a special value. */
  readonly flaws: Readonly<Record<Flaw, readonly number[]>>;
}

/** `as` other than `as const`; `any`; `!` after an expression; -1 or "" in place of undefined. */
export type Flaw = "as" | "any" | "!" | "special";

export const FLAWS: readonly Flaw[] = ["as", "any", "!", "special"];

/** Maximum length of a file of functions/, which only reads a call, hands it on and answers. */
export const MOST_DOOR_LINES = 60;
export const MOST_FILE_LINES = 300;
/** A longer file gives a reason at its head. */
export const MOST_LINES_WITHOUT_REASON = 200;
export const MOST_FUNCTION_LINES = 45;

/** Measures one source file. */
export function measure({ path, text }: SourceFile): Shape {
  const lineOf = lineFinder(text);
  const longFunctions: string[] = [];
  const flaws: Record<Flaw, number[]> = { as: [], any: [], "!": [], special: [] };
  const visit = (node: SyntaxNode, above: readonly SyntaxNode[]): void => {
    if (FUNCTIONS.has(node.type) && lineOf(node.end - 1) - lineOf(node.start) >= MOST_FUNCTION_LINES)
      longFunctions.push(nameOf(node, above));
    const flaw = flawOf(node, above.at(-1));
    if (flaw !== undefined) flaws[flaw].push(lineOf(node.start));
    for (const child of childrenOf(node)) visit(child, [...above, node]);
  };
  const { program } = parseSync(path, text);
  if (isNode(program)) visit(program, []);
  return {
    path,
    lines: countLines(text),
    saysWhy: /^(?:\/\/|\/\*\*?\s*\n? ?\*?) ?Long: /m.test(text.slice(0, 2000)),
    longFunctions,
    flaws,
  };
}

export function countLines(text: string): number {
  return text.split("\n").length - 1;
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
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

function flawOf(node: SyntaxNode, parent: SyntaxNode | undefined): Flaw | undefined {
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
      return isSpecial(node) && parent !== undefined && standsForAbsent(node, parent) ? "special" : undefined;
  }
}

function isConst(type: unknown): boolean {
  if (!isNode(type) || type.type !== "TSTypeReference") return false;
  const name = type["typeName"];
  return isNode(name) && name["name"] === "const";
}

function isSpecial(node: SyntaxNode): boolean {
  if (node.type === "Literal") return node["value"] === "";
  if (node.type !== "UnaryExpression" || node["operator"] !== "-") return false;
  const { argument } = node;
  return isNode(argument) && argument["value"] === 1;
}

/** Whether the value is returned, replaces undefined, or is the initial value of a variable or parameter. */
function standsForAbsent(node: SyntaxNode, parent: SyntaxNode): boolean {
  switch (parent.type) {
    case "ReturnStatement":
      return true;
    case "LogicalExpression":
      return parent["operator"] === "??" && parent["right"] === node;
    case "VariableDeclarator":
      return parent["init"] === node;
    case "AssignmentPattern":
    case "PropertyDefinition":
      return true;
    case "ArrowFunctionExpression":
      return parent["body"] === node;
    default:
      return false;
  }
}
