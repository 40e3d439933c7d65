import { lex } from "./lex.ts";
import { ExpressionParser } from "./parse-expression.ts";
import type { Declaration, Expression } from "./syntax.ts";
import { textOf } from "./syntax.ts";

const SIMPLE = ["metadata", "targetScope", "using"] as const;

/** Reads a .bicep or .bicepparam file. Throws SyntaxFlaw. */
export function parseBicep(text: string): readonly Declaration[] {
  return new FileParser(lex(text)).file();
}

class FileParser extends ExpressionParser {
  file(): readonly Declaration[] {
    const declarations: Declaration[] = [];
    for (this.skipLines(); !this.isAt("end"); this.skipLines()) {
      declarations.push(this.#declaration());
      if (!this.isAt("newline") && !this.isAt("end")) throw this.flaw("an end of line");
    }
    return declarations;
  }

  #declaration(): Declaration {
    const decorators = this.#decorators();
    const { line } = this.next;
    const simple = SIMPLE.find((word) => this.accept(word));
    if (simple !== undefined) {
      const name = simple === "metadata" ? this.word() : simple;
      if (simple !== "using") this.expect("=");
      return { kind: simple, name, existing: false, value: this.expression(), decorators, line };
    }
    if (this.accept("var")) {
      const name = this.word();
      this.expect("=");
      return { kind: "var", name, existing: false, value: this.expression(), decorators, line };
    }
    if (this.accept("param")) return this.#typed("param", decorators, line);
    if (this.accept("output")) return this.#typed("output", decorators, line);
    if (this.accept("resource")) return this.#resource("resource", decorators, line);
    if (this.accept("module")) return this.#resource("module", decorators, line);
    throw this.flaw("a declaration");
  }

  #decorators(): readonly Expression[] {
    const decorators: Expression[] = [];
    for (; this.accept("@"); this.skipLines()) decorators.push(this.expression());
    return decorators;
  }

  #typed(kind: "param" | "output", decorators: readonly Expression[], line: number): Declaration {
    const name = this.word();
    const type = this.next.kind === "word" ? this.word() : undefined;
    const value = this.accept("=") ? this.expression() : undefined;
    return {
      kind,
      name,
      ...(type === undefined ? {} : { type }),
      existing: false,
      ...(value === undefined ? {} : { value }),
      decorators,
      line,
    };
  }

  #resource(kind: "resource" | "module", decorators: readonly Expression[], line: number): Declaration {
    const name = this.word();
    const type = textOf(this.expression());
    if (type === undefined) throw this.flaw("a plain text after the name");
    const existing = this.accept("existing");
    this.expect("=");
    return { kind, name, type, existing, value: this.conditional(), decorators, line };
  }

  protected override nestedResource(): Declaration | undefined {
    if (!this.isMark("@") && !this.isWord("resource")) return undefined;
    const decorators = this.#decorators();
    const { line } = this.next;
    this.expect("resource");
    return this.#resource("resource", decorators, line);
  }
}
