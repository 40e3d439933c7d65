import type { Token } from "./lex.ts";
import type { Declaration, Expression, Property } from "./syntax.ts";
import { SyntaxFlaw, textOf } from "./syntax.ts";

/** From the loosest to the tightest. */
const LEVELS: readonly (readonly string[])[] = [
  ["??"],
  ["||"],
  ["&&"],
  ["==", "!=", "=~", "!~"],
  ["<", "<=", ">", ">="],
  ["+", "-"],
  ["*", "/", "%"],
];

/** Reads expressions of Bicep: a part of the language that suffices for infra/. Throws {@link SyntaxFlaw}. */
export class ExpressionParser {
  #at = 0;
  readonly #tokens: readonly Token[];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get next(): Token {
    const token = this.#tokens[this.#at] ?? this.#tokens.at(-1);
    if (token === undefined) throw new SyntaxFlaw(1, "nothing to read");
    return token;
  }

  isAt(kind: Token["kind"]): boolean {
    return this.next.kind === kind;
  }

  isMark(text: string): boolean {
    return this.next.kind === "mark" && this.next.text === text;
  }

  isWord(text: string): boolean {
    return this.next.kind === "word" && this.next.text === text;
  }

  advance(): Token {
    const token = this.next;
    this.#at += 1;
    return token;
  }

  accept(text: string): boolean {
    const found = this.isMark(text) || this.isWord(text);
    if (found) this.#at += 1;
    return found;
  }

  expect(text: string): void {
    if (!this.accept(text)) throw this.flaw(text);
  }

  flaw(expected: string): SyntaxFlaw {
    return new SyntaxFlaw(this.next.line, `found ${this.next.text}, expected ${expected}`);
  }

  word(): string {
    if (this.next.kind !== "word") throw this.flaw("a name");
    return this.advance().text;
  }

  skipLines(): void {
    while (this.next.kind === "newline") this.#at += 1;
  }

  expression(): Expression {
    const { line } = this.next;
    const test = this.#level(0);
    if (!this.accept("?")) return test;
    this.skipLines();
    const then = this.expression();
    this.skipLines();
    this.expect(":");
    this.skipLines();
    return { kind: "operator", operator: "?", items: [test, then, this.expression()], line };
  }

  #level(depth: number): Expression {
    const operators = LEVELS[depth];
    if (operators === undefined) return this.#unary();
    const { line } = this.next;
    let left = this.#level(depth + 1);
    while (this.next.kind === "mark" && operators.includes(this.next.text)) {
      const operator = this.advance().text;
      this.skipLines();
      left = { kind: "operator", operator, items: [left, this.#level(depth + 1)], line };
    }
    return left;
  }

  #unary(): Expression {
    const { line } = this.next;
    for (const operator of ["!", "-"])
      if (this.accept(operator)) return { kind: "operator", operator, items: [this.#unary()], line };
    return this.#access(this.#primary());
  }

  #access(of: Expression): Expression {
    const { line } = this.next;
    if (this.accept("::")) return this.#access({ kind: "nested", of, name: this.word(), line });
    if (this.accept("[") || this.accept("[?")) {
      const index = this.expression();
      this.expect("]");
      return this.#access({ kind: "index", of, index, line });
    }
    if (!this.accept(".") && !this.accept(".?")) return of;
    const name = this.word();
    if (!this.isMark("(")) return this.#access({ kind: "member", of, name, line });
    return this.#access({ kind: "call", of, name, items: this.#arguments(), line });
  }

  #arguments(): readonly Expression[] {
    this.expect("(");
    const items: Expression[] = [];
    for (this.skipLines(); !this.accept(")"); this.skipLines()) {
      if (items.length > 0) {
        this.expect(",");
        this.skipLines();
      }
      items.push(this.expression());
    }
    return items;
  }

  #primary(): Expression {
    const token = this.next;
    const { line } = token;
    if (token.kind === "string") return this.#string();
    if (token.kind === "number") return { kind: "number", value: Number(this.advance().text), line };
    if (this.isMark("{")) return this.object();
    if (this.isMark("[")) return this.#array();
    if (this.isMark("(")) return this.#parenthesis();
    if (token.kind !== "word") throw this.flaw("a value");
    const name = this.word();
    if (name === "true" || name === "false") return { kind: "boolean", value: name === "true", line };
    if (name === "null") return { kind: "null", line };
    if (this.accept("=>")) return { kind: "lambda", variables: [name], body: this.expression(), line };
    if (this.isMark("(")) return { kind: "call", name, items: this.#arguments(), line };
    return { kind: "name", name, line };
  }

  #parenthesis(): Expression {
    this.expect("(");
    this.skipLines();
    const inner = this.expression();
    this.skipLines();
    this.expect(")");
    return inner;
  }

  #string(): Expression {
    const token = this.advance();
    if (token.kind !== "string") throw this.flaw("a text");
    const parts = token.parts.map((part): string | Expression => {
      if (typeof part === "string") return part;
      const inner = new ExpressionParser(part);
      const expression = inner.expression();
      if (inner.next.kind !== "end") throw inner.flaw("}");
      return expression;
    });
    return { kind: "string", parts, line: token.line };
  }

  #array(): Expression {
    const { line } = this.next;
    this.expect("[");
    if (this.isWord("for")) {
      const loop = this.#loop();
      this.expect("]");
      return loop;
    }
    const items: Expression[] = [];
    this.#separated("]", () => items.push(this.expression()));
    return { kind: "array", items, line };
  }

  #loop(): Expression {
    const { line } = this.next;
    this.expect("for");
    const variables: string[] = [];
    if (this.accept("(")) {
      variables.push(this.word());
      this.expect(",");
      variables.push(this.word());
      this.expect(")");
    } else variables.push(this.word());
    this.expect("in");
    const over = this.expression();
    this.expect(":");
    return { kind: "loop", variables, over, body: this.conditional(), line };
  }

  /** The value of a resource or module: an object, after a condition if there is one. */
  conditional(): Expression {
    const { line } = this.next;
    if (!this.accept("if")) return this.expression();
    const test = this.#parenthesis();
    return { kind: "condition", test, body: this.object(), line };
  }

  /** Items up to `end`, with a comma or an end of line between them. */
  #separated(end: string, read: () => void): void {
    for (this.skipLines(); !this.accept(end); this.skipLines()) {
      read();
      if (!this.accept(",") && this.next.kind !== "newline" && !this.isMark(end))
        throw this.flaw(`a comma, an end of line or ${end}`);
    }
  }

  object(): Expression {
    const { line } = this.next;
    this.expect("{");
    const properties: Property[] = [];
    const resources: Declaration[] = [];
    this.#separated("}", () => {
      const nested = this.nestedResource();
      if (nested === undefined) properties.push(this.#property());
      else resources.push(nested);
    });
    return { kind: "object", properties, resources, line };
  }

  /** Overridden by the reader of whole files. */
  protected nestedResource(): Declaration | undefined {
    return undefined;
  }

  #property(): Property {
    const { line } = this.next;
    const computed = this.next.kind === "string" ? this.#string() : undefined;
    const key = computed === undefined ? this.word() : textOf(computed);
    this.expect(":");
    this.skipLines();
    return { key, ...(computed === undefined ? {} : { computed }), value: this.expression(), line };
  }
}
