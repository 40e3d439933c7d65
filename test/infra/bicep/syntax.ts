/** What the parser makes of a Bicep file. `line` counts from 1. */
export type Expression = { readonly line: number } & (
  | { readonly kind: "string"; readonly parts: readonly (string | Expression)[] }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "null" }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "array"; readonly items: readonly Expression[] }
  | ObjectLiteral
  | { readonly kind: "member"; readonly of: Expression; readonly name: string }
  | { readonly kind: "nested"; readonly of: Expression; readonly name: string }
  | { readonly kind: "index"; readonly of: Expression; readonly index: Expression }
  | {
      readonly kind: "call";
      readonly of?: Expression;
      readonly name: string;
      readonly items: readonly Expression[];
    }
  | { readonly kind: "lambda"; readonly variables: readonly string[]; readonly body: Expression }
  | { readonly kind: "operator"; readonly operator: string; readonly items: readonly Expression[] }
  | {
      readonly kind: "loop";
      readonly variables: readonly string[];
      readonly over: Expression;
      readonly body: Expression;
    }
  | { readonly kind: "condition"; readonly test: Expression; readonly body: Expression }
);

export interface ObjectLiteral {
  readonly kind: "object";
  readonly properties: readonly Property[];
  readonly resources: readonly Declaration[];
}

export interface Property {
  /** Undefined: the key is put together from parts. */
  readonly key: string | undefined;
  readonly computed?: Expression;
  readonly value: Expression;
  readonly line: number;
}

export interface Declaration {
  readonly kind: "param" | "var" | "resource" | "module" | "output" | "metadata" | "targetScope" | "using";
  readonly name: string;
  /** Of param and output the type; of resource and module the text after the name. */
  readonly type?: string;
  readonly existing: boolean;
  readonly value?: Expression;
  readonly decorators: readonly Expression[];
  readonly line: number;
}

/** Something wrong in a file. `rule` is the check that found it. */
export interface Flaw {
  readonly file: string;
  readonly line: number;
  readonly rule: "syntax" | "name" | "module" | "type";
  readonly text: string;
}

export class SyntaxFlaw extends Error {
  readonly line: number;

  constructor(line: number, text: string) {
    super(text);
    this.line = line;
  }
}

/** The text of a string without parts that are computed. */
export function textOf(expression: Expression | undefined): string | undefined {
  if (expression?.kind !== "string") return undefined;
  const texts = expression.parts.filter((part) => typeof part === "string");
  return texts.length === expression.parts.length ? texts.join("") : undefined;
}

/** What an expression consists of, one level down; nested resources are not in it. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "string":
      return expression.parts.filter((part) => typeof part !== "string");
    case "array":
    case "operator":
      return expression.items;
    case "call":
      return expression.of === undefined ? expression.items : [expression.of, ...expression.items];
    case "object":
      return expression.properties.flatMap(({ computed, value }) =>
        computed === undefined ? [value] : [computed, value],
      );
    case "member":
    case "nested":
      return [expression.of];
    case "index":
      return [expression.of, expression.index];
    case "lambda":
      return [expression.body];
    case "loop":
      return [expression.over, expression.body];
    case "condition":
      return [expression.test, expression.body];
    default:
      return [];
  }
}

/** The object in a resource's or module's value, without its loop and condition. */
export function bodyOf(expression: Expression | undefined): (ObjectLiteral & { line: number }) | undefined {
  if (expression === undefined) return undefined;
  if (expression.kind === "loop" || expression.kind === "condition") return bodyOf(expression.body);
  return expression.kind === "object" ? expression : undefined;
}
