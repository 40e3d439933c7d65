/**
 * Plays a query of Log Analytics on rows: the part of the language that infra/modules/events.kql uses. No query engine is among npm's
 * packages (docs/decisions.md, "Bicep and the alert query are read by readers of our own"). A word that this reader does not know is an
 * error.
 */

/** A value of a column. Missing values are null: comparisons with them are false. */
type Value = string | number | boolean | null;
/** What a word stands for: a value, a parsed JSON object, or the members of a list. */
type Found = Value | Readonly<Record<string, unknown>> | readonly Found[];
export type Row = Readonly<Record<string, Found>>;
type Table = readonly Row[];
/** Computes an expression for a row; for an aggregate, for all rows of a group. */
type Expression = (row: Row, group: Table) => Found;

const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600 };
const TOKEN = /\s*(?:\/\/.*\n)?\s*(@?'[^']*'|\d+[mh]?\b|[A-Za-z_]\w*|==|!=|=~|!in\b|[<>]=?|[|=(),;.+])/y;
const AGGREGATES = new Set(["count", "countif", "min", "max", "sum", "dcount"]);

/** The rows of the query at a moment. `tables`: the rows of each table of the workspace. Times are numbers of milliseconds. */
export function playQuery(text: string, tables: Readonly<Record<string, Table>>, now: number): Table {
  return new Reader(tokensOf(text), tables, now).query();
}

function tokensOf(text: string): readonly string[] {
  const source = text.replaceAll(/^\s*\/\/.*$/gm, "").trim();
  const pattern = new RegExp(TOKEN);
  const tokens: string[] = [];
  while (pattern.lastIndex < source.length) {
    const from = pattern.lastIndex;
    const token = pattern.exec(source)?.[1];
    if (token === undefined) throw new Error(`cannot read the query at: ${source.slice(from, from + 40)}`);
    tokens.push(token);
  }
  return tokens;
}

class Reader {
  readonly #tokens: readonly string[];
  readonly #tables: Map<string, Table>;
  readonly #now: number;
  #at = 0;

  constructor(tokens: readonly string[], tables: Readonly<Record<string, Table>>, now: number) {
    this.#tokens = tokens;
    this.#tables = new Map(Object.entries(tables));
    this.#now = now;
  }

  query(): Table {
    while (this.#accept("let")) {
      const name = this.#next();
      this.#expect("=");
      this.#tables.set(name, this.#pipe());
      this.#expect(";");
    }
    const result = this.#pipe();
    if (this.#at < this.#tokens.length)
      throw new Error(`not read: ${this.#tokens.slice(this.#at).join(" ")}`);
    return result;
  }

  #pipe(): Table {
    let rows = this.#source();
    while (this.#accept("|")) rows = this.#step(rows);
    return rows;
  }

  #source(): Table {
    if (this.#accept("union")) return this.#list(() => this.#operand()).flat();
    return this.#operand();
  }

  #operand(): Table {
    const name = this.#next();
    if (name !== "(" && name !== "materialize") {
      const table = this.#tables.get(name);
      if (table === undefined) throw new Error(`there is no table ${name}`);
      return table;
    }
    if (name === "materialize") this.#expect("(");
    const rows = this.#pipe();
    this.#expect(")");
    return rows;
  }

  #step(rows: Table): Table {
    const step = this.#next();
    if (step === "where") {
      const holds = this.#and();
      return rows.filter((row) => holds(row, []) === true);
    }
    if (step === "extend" || step === "project") {
      const columns = this.#list(() => this.#column());
      return rows.map((row) => {
        const own = Object.fromEntries(columns.map(([name, of]) => [name, of(row, [])]));
        return step === "extend" ? { ...row, ...own } : own;
      });
    }
    if (step !== "summarize") throw new Error(`there is no step ${step}`);
    const columns = this.#list(() => this.#column());
    if (!this.#accept("by")) return [Object.fromEntries(columns.map(([name, of]) => [name, of({}, rows)]))];
    const by = this.#list(() => this.#next());
    const groups = Map.groupBy(rows, (row) => JSON.stringify(by.map((name) => row[name])));
    return [...groups.values()].map((group) => ({
      ...Object.fromEntries(by.map((name) => [name, group[0]?.[name] ?? null])),
      ...Object.fromEntries(columns.map(([name, of]) => [name, of({}, group)])),
    }));
  }

  /** `name = expression`, or a column as it is. */
  #column(): readonly [string, Expression] {
    const name = this.#next();
    if (this.#accept("=")) return [name, this.#and()];
    return [name, (row) => row[name] ?? null];
  }

  #and(): Expression {
    const first = this.#comparison();
    if (!this.#accept("and")) return first;
    const second = this.#and();
    return (row, group) => first(row, group) === true && second(row, group) === true;
  }

  #comparison(): Expression {
    const left = this.#sum();
    const operator = this.#tokens[this.#at] ?? "";
    const compare = COMPARISONS[operator];
    if (compare === undefined) return left;
    this.#at += 1;
    const right = operator.endsWith("in") ? this.#values() : this.#sum();
    return (row, group) => compare(left(row, group), right(row, group));
  }

  #values(): Expression {
    this.#expect("(");
    const items = this.#list(() => this.#sum());
    this.#expect(")");
    return (row, group) => items.map((item) => item(row, group));
  }

  #sum(): Expression {
    const first = this.#word();
    if (!this.#accept("+")) return first;
    const second = this.#sum();
    return (row, group) => Number(first(row, group)) + Number(second(row, group));
  }

  #word(): Expression {
    const word = this.#next();
    const literal = /^@?'([^']*)'$/.exec(word)?.[1];
    if (literal !== undefined) return () => literal;
    const [, digits, unit] = /^(\d+)([mh]?)$/.exec(word) ?? [];
    if (digits !== undefined) {
      const value = Number(digits) * (unit === undefined || unit === "" ? 1 : (SECONDS[unit] ?? 0) * 1000);
      return () => value;
    }
    if (this.#accept("(")) return this.#call(word);
    if (!this.#accept(".")) return (row) => row[word] ?? null;
    const member = this.#next();
    return (row) => memberOf(row[word], member);
  }

  #call(name: string): Expression {
    const items = this.#accept(")") ? [] : this.#list(() => this.#and());
    if (items.length > 0) this.#expect(")");
    if (AGGREGATES.has(name)) return (_row, group) => aggregate(name, group, items[0]);
    return (row, group) => {
      const [first = null, , third = null] = items.map((item) => item(row, group));
      if (name === "ago") return this.#now - Number(first);
      if (name === "not") return first !== true;
      if (name === "tostring") return textOf(first);
      if (name === "tolong") return first === null ? null : Number(first);
      if (name === "parse_json") return typeof first === "string" ? JSON.parse(first) : null;
      if (name === "extract") return new RegExp(textOf(first)).exec(textOf(third))?.[1] ?? null;
      throw new Error(`there is no function ${name}`);
    };
  }

  #list<T>(read: () => T): readonly T[] {
    const items = [read()];
    while (this.#accept(",")) items.push(read());
    return items;
  }

  #next(): string {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new Error("the query ends too early");
    this.#at += 1;
    return token;
  }

  #accept(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }

  #expect(token: string): void {
    if (!this.#accept(token))
      throw new Error(`expected ${token}, found ${this.#tokens[this.#at] ?? "the end"}`);
  }
}

const COMPARISONS: Readonly<Record<string, (a: Found, b: Found) => boolean>> = {
  "==": (a, b) => a !== null && a === b,
  "!=": (a, b) => a !== null && a !== b,
  "=~": (a, b) => textOf(a).toLowerCase() === textOf(b).toLowerCase(),
  "<": (a, b) => a !== null && b !== null && a < b,
  ">": (a, b) => a !== null && b !== null && a > b,
  has: (a, b) => textOf(a).toLowerCase().includes(textOf(b).toLowerCase()),
  in: (a, b) => Array.isArray(b) && b.includes(a),
  "!in": (a, b) => Array.isArray(b) && !b.includes(a),
};

/** As `tostring` gives it. */
export function textOf(found: Found): string {
  if (found === null) return "";
  return typeof found === "object" ? JSON.stringify(found) : String(found);
}

function memberOf(of: Found | undefined, name: string): Found {
  if (typeof of !== "object" || of === null || !(name in of)) return null;
  const member: unknown = Reflect.get(of, name);
  return typeof member === "string" || typeof member === "number" || typeof member === "boolean"
    ? member
    : null;
}

function aggregate(name: string, group: Table, of: Expression | undefined): Found {
  const values = group.map((row) => of?.(row, group) ?? null).filter((value) => value !== null);
  if (name === "count") return group.length;
  if (name === "countif") return values.filter((value) => value === true).length;
  if (name === "dcount") return new Set(values).size;
  const numbers = values.map(Number);
  if (name === "sum") return numbers.reduce((sum, value) => sum + value, 0);
  if (numbers.length === 0) return null;
  return numbers.reduce((a, b) => (name === "min" ? Math.min(a, b) : Math.max(a, b)));
}
