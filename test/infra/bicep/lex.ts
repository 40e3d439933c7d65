import { SyntaxFlaw } from "./syntax.ts";

export type Token = { readonly line: number } & (
  | { readonly kind: "word" | "number" | "mark"; readonly text: string }
  | { readonly kind: "newline" | "end"; readonly text: string }
  | { readonly kind: "string"; readonly text: string; readonly parts: readonly (string | readonly Token[])[] }
);

const MARKS = /^(?:=>|\?\?|&&|\|\||==|!=|=~|!~|<=|>=|::|\.\?|\[\?|[=(){}[\].,:?!<>+\-*/%@])/;
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  "'": "'",
  "\\": "\\",
  $: "$",
};

/** Cuts a Bicep text into tokens. Throws {@link SyntaxFlaw}. */
export function lex(text: string): readonly Token[] {
  const lexer = new Lexer(text);
  return lexer.all();
}

class Lexer {
  #at = 0;
  #line = 1;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  all(): readonly Token[] {
    const tokens: Token[] = [];
    for (;;) {
      const token = this.#next();
      tokens.push(token);
      if (token.kind === "end") return tokens;
    }
  }

  /** The tokens up to the } that ends an interpolation; it is taken, too. */
  #interpolation(): readonly Token[] {
    const tokens: Token[] = [];
    for (let depth = 0; ;) {
      const token = this.#next();
      if (token.kind === "end") throw new SyntaxFlaw(token.line, "${ without }");
      if (token.kind === "mark" && token.text === "{") depth += 1;
      if (token.kind === "mark" && token.text === "}") depth -= 1;
      if (depth < 0) return [...tokens, { kind: "end", text: "}", line: token.line }];
      tokens.push(token);
    }
  }

  #next(): Token {
    this.#skip();
    const line = this.#line;
    const rest = this.#text.slice(this.#at, this.#at + 200);
    if (rest === "") return { kind: "end", text: "the end of the file", line };
    if (rest.startsWith("\n")) {
      this.#at += 1;
      this.#line += 1;
      return { kind: "newline", text: "the end of the line", line };
    }
    if (rest.startsWith("'")) return this.#string();
    const word = /^[A-Za-z_][A-Za-z0-9_]*/.exec(rest)?.[0];
    if (word !== undefined) return this.#take("word", word);
    const number = /^\d+/.exec(rest)?.[0];
    if (number !== undefined) return this.#take("number", number);
    const mark = MARKS.exec(rest)?.[0];
    if (mark === undefined) throw new SyntaxFlaw(line, `${JSON.stringify(rest[0])} is no part of Bicep`);
    return this.#take("mark", mark);
  }

  #take(kind: "word" | "number" | "mark", text: string): Token {
    this.#at += text.length;
    return { kind, text, line: this.#line };
  }

  #skip(): void {
    const blank = /^(?:[ \t\r]|\/\/[^\n]*)*/.exec(this.#text.slice(this.#at))?.[0] ?? "";
    this.#at += blank.length;
  }

  #string(): Token {
    const line = this.#line;
    if (this.#text.startsWith("'''", this.#at)) return this.#longString();
    const parts: (string | readonly Token[])[] = [];
    let text = "";
    this.#at += 1;
    for (;;) {
      const letter = this.#text[this.#at];
      if (letter === undefined || letter === "\n") throw new SyntaxFlaw(line, "a text without its closing '");
      this.#at += 1;
      if (letter === "'") return { kind: "string", text: "a text", line, parts: [...parts, text] };
      if (letter === "$" && this.#text[this.#at] === "{") {
        this.#at += 1;
        parts.push(text, this.#interpolation());
        text = "";
      } else text += letter === "\\" ? this.#escape() : letter;
    }
  }

  #escape(): string {
    const escaped = ESCAPES[this.#text[this.#at] ?? ""];
    if (escaped === undefined) throw new SyntaxFlaw(this.#line, "an unknown escape after \\");
    this.#at += 1;
    return escaped;
  }

  #longString(): Token {
    const line = this.#line;
    const end = this.#text.indexOf("'''", this.#at + 3);
    if (end < 0) throw new SyntaxFlaw(line, "a text without its closing '''");
    const text = this.#text.slice(this.#at + 3, end);
    this.#at = end + 3;
    this.#line += text.split("\n").length - 1;
    return { kind: "string", text: "a text", line, parts: [text] };
  }
}
